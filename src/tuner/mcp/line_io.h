// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes bounded lines: a client may send a line without an end, disappear, or never read.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/file.h"

namespace hone::mcp {

// Reads lines from a descriptor that it does not own. One thread reads; Stop may be called from any.
class LineReader {
 public:
  enum class Outcome { kLine, kTooLong, kEnd };

  LineReader(int descriptor, size_t longest);
  // Reads the next line without its end. kTooLong: a line of more than `longest` bytes, read to its end and discarded.
  // kEnd: the other side closed, reading failed, or Stop was called; a last line without an end counts.
  Outcome Next(std::string& line);
  // Ends the current and every further call of Next.
  void Stop();

 private:
  int descriptor_;
  size_t longest_;
  std::string buffer_;
  size_t searched_ = 0;
  bool ended_ = false;
  UniqueFd wake_read_, wake_write_;
};

// Writes lines to a descriptor that it does not own, from a separate thread. Thread-safe.
class LineWriter {
 public:
  struct Options {
    size_t queue_bytes = 16 << 20;  // most bytes that may wait
    double stall_seconds = 60;      // a full queue without progress for so long is abandoned
  };
  // `failed`, which may be empty, is called once, on the writing thread, when writing has become impossible.
  LineWriter(int descriptor, const Options& options, std::function<void()> failed);
  // Discards what is not written yet: call Finish first.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Queues a line and adds the line end. Waits while the queue is full. Returns false if the other side does not read.
  bool Write(std::string line);
  // Queues the line only if the queue has enough room that no other line has to wait for it; drops it otherwise.
  void WriteIfRoom(std::string line);
  // Waits until everything is written; returns false if that takes over `seconds` or the other side does not read.
  bool Finish(double seconds);
  bool failed() const;

 private:
  void Loop();
  void Fail(std::unique_lock<std::mutex>& lock);

  const int descriptor_;
  const Options options_;
  std::function<void()> on_failure_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  size_t queued_bytes_ = 0;
  bool failed_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace hone::mcp
