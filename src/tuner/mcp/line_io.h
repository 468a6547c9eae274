// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes lines for a client that may send a line without an end, disappear, or never read.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/files/file.h"

namespace hone::mcp {

// A LineReader reads lines from a descriptor that it does not own. One thread reads; any thread may call Stop.
class LineReader {
 public:
  enum class Outcome { kLine, kTooLong, kEnd };

  LineReader(int descriptor, size_t longest_line);
  // Reads the next line, without the line end, into `line`. kTooLong: the line had more than `longest` bytes; it was
  // read to its end and dropped. kEnd: the other side closed, reading failed, or Stop was called. A last line without a
  // line end is returned too.
  Outcome Next(std::string& line);
  // Ends the current and every further call of Next.
  void Stop();

 private:
  int descriptor_;
  size_t longest_;
  std::string buffer_;
  size_t searched_ = 0;  // bytes of buffer_ that are known to have no line end
  bool ended_ = false;  // the input has ended
  UniqueFd wake_read_, wake_write_;
};

// A LineWriter writes lines to a descriptor that it does not own, from a thread of its own. Thread-safe.
class LineWriter {
 public:
  struct Options {
    size_t queue_bytes = 16 << 20;  // limit on the bytes that wait to be written
    double stall_seconds = 60;      // writing fails if a full queue makes no progress for this long
  };
  // `failed`, which may be empty, is called once, on the writing thread, when writing has become impossible.
  LineWriter(int descriptor, const Options& options, std::function<void()> failed);
  // Drops the lines that are not written yet; call Finish first to write them.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Queues a line, to which it adds the line end. Waits while the queue is full. Returns false if writing has failed.
  bool Write(std::string line);
  // Queues the line only if the queue has enough room that no other line has to wait for it; drops it otherwise.
  void WriteIfRoom(std::string line);
  // Waits until everything is written. Returns false if that takes longer than `seconds`, or writing has failed.
  bool Finish(double seconds);
  bool failed() const;

 private:
  void WriteQueuedLines();  // body of thread_
  // Drops the queue, and calls on_failure_ without the lock.
  void EndInFailure(std::unique_lock<std::mutex>& lock);

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
