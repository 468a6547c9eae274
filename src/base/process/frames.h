// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sends messages between Hone's own processes over a stream socket: a JSON text and any number of byte strings,
// length-prefixed, with file descriptors alongside where a Unix socket carries them.
//
// Bytes on the wire (little-endian): magic "HNF1"; u32 header bytes; u32 number of blobs; u32 number of descriptors;
// u64 length of each blob; header; blobs. The peer may run untrusted code. A receiver therefore states how many bytes
// it accepts, and the lengths are checked before memory is allocated.
//
// Not thread-safe per descriptor: one sender and one receiver at a time. Descriptors may be blocking or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"

namespace hone {

struct Frame {
  std::string header;  // JSON text; not parsed here, and as untrusted as the peer
  std::vector<std::string> blobs;
  std::vector<UniqueFd> fds;        // received descriptors, close-on-exec
};

inline constexpr int64_t kDefaultMaxFrameBytes = int64_t{1} << 30;
inline constexpr size_t kMaxFrameFds = 16;

// Sends one frame; the caller keeps `fds` (at most kMaxFrameFds). `timeout_seconds` < 0 waits for ever. Errors:
// kTimedOut; kUnavailable when the peer has closed the connection (SIGPIPE is never raised); kIo.
Status SendFrame(int fd, const std::string& header, const std::vector<std::string>& blobs = {},
                 const std::vector<int>& fds = {}, double timeout_seconds = -1);

// Receives one frame of at most `max_bytes`. kTimedOut when it is not complete in time; kUnavailable when the peer has
// closed the connection, with a message that says whether between frames or inside one; kInternal when the bytes are
// not a frame.
Result<Frame> ReceiveFrame(int fd, double timeout_seconds = -1, int64_t max_bytes = kDefaultMaxFrameBytes);

// Waits until `fd` can be read or its peer has closed the connection. Returns false if `timeout_seconds` pass first.
Result<bool> WaitReadable(int fd, double timeout_seconds);

// A connected pair of stream sockets, both close-on-exec.
struct SocketPair {
  UniqueFd ours, theirs;
};
// Makes a connected pair. kIo with the system's text.
Result<SocketPair> MakeSocketPair();

}  // namespace hone
