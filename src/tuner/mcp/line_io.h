// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines in and lines out, each with a bound: a client may send a line without an end, disappear, or never read.
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
  // The next line without its end. kTooLong: a line of more than `longest` bytes, read to its end and thrown away.
  // kEnd: the other side closed, nothing can be read, or Stop was called; a last line without an end counts.
  Outcome Next(std::string& line);
  // Ends the present and every further call of Next.
  void Stop();

 private:
  int descriptor_;
  size_t longest_;
  std::string buffer_;
  size_t searched_ = 0;
  bool ended_ = false;
  UniqueFd wake_read_, wake_write_;
};

// Writes lines to a descriptor that it does not own, from a thread of its own. Thread-safe.
class LineWriter {
 public:
  struct Options {
    size_t queue_bytes = 16 << 20;  // what may wait to be written
    double stall_seconds = 60;      // a full queue that nothing is taken from for so long is given up
  };
  // `failed`, which may be empty, is called once, from the writing thread, when nothing can be written any more.
  LineWriter(int descriptor, const Options& options, std::function<void()> failed);
  // Throws away what is not written yet: Finish first.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Queues a line; the line end is added. Waits while the queue is full. false: nobody reads.
  bool Write(std::string line);
  // Queues the line where there is room and nothing else would have to wait for it; drops it otherwise.
  void WriteIfRoom(std::string line);
  // Waits until everything is written; false: not within `seconds`, or nobody reads.
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
