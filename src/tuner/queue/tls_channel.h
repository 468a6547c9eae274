// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TlsChannel speaks TLS over a connected socket, and verifies the server's identity.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// A TlsChannel is one connection; one thread may use it at a time. The socket's time limits (SO_RCVTIMEO, SO_SNDTIMEO)
// hold for each read and write. No call raises SIGPIPE.
class TlsChannel {
 public:
  // Performs the handshake over `socket`, which the caller owns and which must outlive the channel. The server's
  // certificate must be valid for `host` (a name or an address) and lead to an authority in `ca_file` (PEM; empty: an
  // authority that this system trusts). Returns kInvalidArgument if it is not, or if the other side does not speak TLS,
  // and kUnavailable if the connection broke.
  static Result<std::unique_ptr<TlsChannel>> Connect(int socket, const std::string& host, const std::string& ca_file);
  virtual ~TlsChannel() = default;

  // Writes all bytes. Returns kUnavailable if the connection broke or a time limit passed.
  virtual Status Write(std::string_view bytes) = 0;
  // Returns at least one byte, or kUnavailable if the connection broke or a time limit passed.
  virtual Result<std::string> Read() = 0;
};

}  // namespace hone
