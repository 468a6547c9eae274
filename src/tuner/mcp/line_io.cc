// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/line_io.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>

#include "base/clock.h"

namespace hone::mcp {

LineReader::LineReader(int descriptor, size_t longest_line) : descriptor_(descriptor), longest_(longest_line) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;  // without a pipe, Stop has no effect
  wake_read_.Reset(ends[0]);
  wake_write_.Reset(ends[1]);
}

void LineReader::Stop() {
  const char byte = 0;
  if (wake_write_.valid()) (void)!write(wake_write_.get(), &byte, 1);
}

LineReader::Outcome LineReader::Next(std::string& line) {
  bool too_long = false;
  while (true) {
    const size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos || (ended_ && !buffer_.empty())) {
      const size_t length = std::min(end, buffer_.size());
      line.assign(buffer_, 0, length);
      buffer_.erase(0, end == std::string::npos ? length : length + 1);
      searched_ = 0;
      if (too_long || line.size() > longest_) return Outcome::kTooLong;
      if (line.ends_with('\r')) line.pop_back();
      return Outcome::kLine;
    }
    if (ended_) return too_long ? Outcome::kTooLong : Outcome::kEnd;
    searched_ = buffer_.size();
    if (buffer_.size() > longest_) {
      too_long = true;
      buffer_.clear();
      searched_ = 0;
    }
    pollfd sources[2] = {{descriptor_, POLLIN, 0}, {wake_read_.get(), POLLIN, 0}};
    if (poll(sources, wake_read_.valid() ? 2 : 1, -1) < 0) {
      if (errno == EINTR) continue;
      return Outcome::kEnd;
    }
    if (sources[1].revents != 0) return Outcome::kEnd;
    char block[1 << 16];
    const ssize_t got = read(descriptor_, block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) {
      ended_ = true;
    } else {
      buffer_.append(block, static_cast<size_t>(got));
    }
  }
}

LineWriter::LineWriter(int descriptor, const Options& options, std::function<void()> failed)
    : descriptor_(descriptor),
      options_(options),
      on_failure_(std::move(failed)),
      thread_([this] { WriteQueuedLines(); }) {}

LineWriter::~LineWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool LineWriter::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

bool LineWriter::Write(std::string line) {
  line += '\n';
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return failed_ || closing_ || queue_.empty() || queued_bytes_ + line.size() <= options_.queue_bytes;
  });
  if (failed_ || closing_) return false;
  queued_bytes_ += line.size();
  queue_.push_back(std::move(line));
  changed_.notify_all();
  return true;
}

void LineWriter::WriteIfRoom(std::string line) {
  line += '\n';
  const std::lock_guard lock(mutex_);
  // Half of the queue is reserved for lines that must be written.
  if (failed_ || closing_ || queued_bytes_ + line.size() > options_.queue_bytes / 2) return;
  queued_bytes_ += line.size();
  queue_.push_back(std::move(line));
  changed_.notify_all();
}

bool LineWriter::Finish(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return failed_ || queue_.empty(); });
  return !failed_ && queue_.empty();
}

void LineWriter::EndInFailure(std::unique_lock<std::mutex>& lock) {
  failed_ = true;
  queue_.clear();
  queued_bytes_ = 0;
  changed_.notify_all();
  lock.unlock();
  if (on_failure_) on_failure_();
}

// Writes queued lines until the writer is closed. Runs on the writer's own thread.
void LineWriter::WriteQueuedLines() {
  // Block SIGPIPE in the writing thread: write() reports a closed reader by EPIPE.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);

  size_t written_bytes = 0;  // bytes of the first line that are written
  double last_progress = SteadySeconds();
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (queue_.empty()) {
      lock.unlock();
      // Find out whether the reader has closed its end while there is nothing to write.
      pollfd gone{descriptor_, 0, 0};
      const bool lost = poll(&gone, 1, 0) == 1 && (gone.revents & (POLLERR | POLLNVAL)) != 0;
      lock.lock();
      if (lost && queue_.empty()) return EndInFailure(lock);
      changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return closing_ || !queue_.empty(); });
      last_progress = SteadySeconds();
      continue;
    }
    // The reference stays valid without the lock: other threads only append, which does not move a deque's front.
    const std::string& line = queue_.front();
    const bool full = queued_bytes_ > options_.queue_bytes / 2;
    lock.unlock();
    pollfd sink{descriptor_, POLLOUT, 0};
    const int ready = poll(&sink, 1, 200);
    bool lost = ready < 0 && errno != EINTR;
    if (ready > 0 && (sink.revents & (POLLERR | POLLNVAL)) != 0) lost = true;
    if (ready > 0 && !lost) {
      // A pipe that poll() reports as writable takes PIPE_BUF bytes without blocking. More might block forever.
      const size_t size = std::min<size_t>(PIPE_BUF, line.size() - written_bytes);
      const ssize_t put = write(descriptor_, line.data() + written_bytes, size);
      if (put > 0) {
        written_bytes += static_cast<size_t>(put);
        last_progress = SteadySeconds();
      } else if (put < 0 && errno != EINTR && errno != EAGAIN) {
        lost = true;
      }
    }
    if (full && SteadySeconds() - last_progress > options_.stall_seconds) lost = true;
    lock.lock();
    if (lost) return EndInFailure(lock);
    if (written_bytes == line.size()) {
      queued_bytes_ -= written_bytes;
      queue_.pop_front();
      written_bytes = 0;
      changed_.notify_all();
    }
  }
}

}  // namespace hone::mcp
