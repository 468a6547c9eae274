// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// TCP between ranks: listens, connects with a deadline, and exchanges short messages that never block a thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"

namespace hone::gnn {

// Returns this machine's host name.
std::string HostName();
// Returns the numeric addresses of this machine's active interfaces, without loopback.
std::vector<std::string> InterfaceAddresses();

// Opens a listening socket on `address` (numeric; empty: every interface) and `port` (0: any free one). kUnavailable
// names both and says when the port is taken.
Result<UniqueFd> ListenOn(const std::string& address, int port);
// Return the port that a socket is bound to, and the numeric addresses of its own end and of its peer's end.
int BoundPort(int fd);
std::string OwnAddress(int fd);

// Returns a connected, non-blocking socket without Nagle's delay. Tries every address of `host`. kUnavailable (refused,
// unreachable, an unknown name) or kTimedOut.
Result<UniqueFd> ConnectTo(const std::string& host, int port, double timeout_seconds);
// Sets the options that ConnectTo sets (non-blocking, no Nagle's delay) on an accepted socket.
void PrepareSocket(int fd);

// Transfer all of `size` bytes over a non-blocking socket, until `deadline` (in SteadySeconds). Errors: kTimedOut,
// kUnavailable.
Status SendAll(int fd, const void* bytes, size_t size, double deadline);
Status ReceiveAll(int fd, void* bytes, size_t size, double deadline);

// A message: a list of strings, of which the first is the verb.
using Message = std::vector<std::string>;

// Messages over a non-blocking socket. On the wire (little-endian): u32 bytes that follow; then for each string u32
// length, bytes. The peer may be any program that found the port: lengths are checked before memory is allocated.
class MessageStream {
 public:
  explicit MessageStream(UniqueFd fd) : fd_(std::move(fd)) {}
  int fd() const { return fd_.get(); }
  // Reads what has arrived. Returns false if the peer has closed the connection, it is broken, or the data is no
  // message.
  bool Receive();
  // Returns the next complete message, if there is one.
  std::optional<Message> Pop();
  void Queue(const Message& message);
  // Writes as much as the socket takes. Returns false if the connection is broken.
  bool Flush();
  bool wants_to_write() const { return !outgoing_.empty(); }
  // Returns whether too much has piled up because the peer does not read.
  bool overflows() const { return outgoing_.size() > (size_t{1} << 20); }

 private:
  UniqueFd fd_;
  std::string incoming_, outgoing_;
  bool broken_ = false;
};

}  // namespace hone::gnn
