// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Speaks TLS over a connected socket, and verifies the server's identity.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// One connection, used by one thread at a time. The socket's own time limits (SO_RCVTIMEO, SO_SNDTIMEO) hold for each
// read and write. No call raises SIGPIPE.
class TlsChannel {
 public:
  // Performs the handshake over `socket`, which stays the caller's and must outlive the channel. The server's
  // certificate must be valid for `host` (a name or an address) and lead to an authority in `ca_file` (PEM), or, if
  // that is empty, to one that this system trusts. kInvalidArgument: it does not, or the other side does not speak TLS;
  // kUnavailable: the connection broke.
  static Result<std::unique_ptr<TlsChannel>> Connect(int socket, const std::string& host, const std::string& ca_file);
  virtual ~TlsChannel() = default;

  // Both return kUnavailable when the connection broke or a time limit passed.
  virtual Status Write(std::string_view bytes) = 0;
  // Returns at least one byte.
  virtual Result<std::string> Read() = 0;
};

}  // namespace hone
