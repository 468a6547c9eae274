// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// TCP between ranks: listening, connecting with a deadline, and short messages that never block a thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "hone/base/status.h"

namespace hone::gnn {

// This machine's name, as it calls itself.
std::string HostName();
// Numeric addresses of this machine's interfaces that are up, without loopback.
std::vector<std::string> InterfaceAddresses();

// A listening socket on `address` (numeric; empty: every interface) and `port` (0: any that is free). kUnavailable
// names both and says when the port is taken.
Result<UniqueFd> ListenOn(const std::string& address, int port);
// The port that a socket is bound to, and the numeric address of its own end and of its peer's.
int BoundPort(int fd);
std::string OwnAddress(int fd);

// A connected socket, not blocking, without Nagle's delay. Tries every address that `host` stands for. kUnavailable
// (refused, unreachable, an unknown name) or kTimedOut.
Result<UniqueFd> ConnectTo(const std::string& host, int port, double timeout_seconds);
// Makes an accepted socket like one from ConnectTo.
void PrepareSocket(int fd);

// All of `size` bytes, over a socket that does not block, until `deadline` (of SteadySeconds). kTimedOut, kUnavailable.
Status SendAll(int fd, const void* bytes, size_t size, double deadline);
Status ReceiveAll(int fd, void* bytes, size_t size, double deadline);

// A message is a few strings, the first of which is its verb.
using Message = std::vector<std::string>;

// Messages over a socket that does not block. On the wire (little-endian): u32 bytes that follow; then for each string
// u32 length, bytes. The peer may be anything that found the port: lengths are checked before memory is taken.
class MessageStream {
 public:
  explicit MessageStream(UniqueFd fd) : fd_(std::move(fd)) {}
  int fd() const { return fd_.get(); }
  // Reads what has arrived. False: the peer has closed the connection, or it is broken, or sent what is no message.
  bool Receive();
  // The next whole message, if one is there.
  std::optional<Message> Pop();
  void Queue(const Message& message);
  // Writes as much as the socket takes. False: the connection is broken.
  bool Flush();
  bool wants_to_write() const { return !outgoing_.empty(); }
  // The peer takes nothing and has let too much pile up.
  bool overflows() const { return outgoing_.size() > (size_t{1} << 20); }

 private:
  UniqueFd fd_;
  std::string incoming_, outgoing_;
  bool broken_ = false;
};

}  // namespace hone::gnn
