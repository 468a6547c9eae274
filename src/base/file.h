// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Files, read and written so that a crash or a full disk never leaves half a file under its final name.
//
// Every error is a Status that names the path and carries the system's own words. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// Owns a file descriptor; closes it on destruction.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1);

 private:
  int fd_ = -1;
};

// "open '/x/y': No such file or directory": the message of `error` (an errno) with what was tried on what.
std::string ErrnoMessage(std::string_view action, std::string_view path, int error);

// The whole file. kNotFound when it is not there, kInvalidArgument when it is longer than `max_bytes`
// (0: no bound), else kIo.
Result<std::string> ReadFile(const std::string& path, int64_t max_bytes = 0);

// Writes `bytes` beside `path`, flushes to disk, and renames over `path`: a reader sees the old file or the
// new one. Makes missing parent directories. On failure nothing is left behind and `path` is as it was.
// A symbolic link stays one: the file it points to is replaced. A terminal, a pipe or a device such as /dev/null is
// written to and never replaced. kInvalidArgument for a folder.
// A new file gets `mode` less the umask; one that is replaced keeps its own.
Status WriteFileAtomically(const std::string& path, std::string_view bytes, int mode = 0666);

// The same without the flush to disk: atomic against a killed process, not against a lost machine. For
// caches, whose readers check what they read.
Status WriteFileAtomicallyUnflushed(const std::string& path, std::string_view bytes, int mode = 0666);

// For writers that rename into place themselves. CreateBeside makes an empty file beside `path`, named `path` plus
// ".aside-" and six random letters, of `mode` less the umask, open for reading and writing; its name goes to `aside`.
// KeepModeOf gives the open file the mode of the one at `path` that it will replace, if there is one; `path` as
// ReplaceablePath gives it.
Result<UniqueFd> CreateBeside(const std::string& path, std::string& aside, int mode = 0666);
Status KeepModeOf(const std::string& path, int fd);

// The name under which a file may be renamed into place for `path`: `path` itself, or what it points to where it is
// a symbolic link. kInvalidArgument for a folder and for what is no regular file: a rename by root would put a file
// where everybody's /dev/null was.
Result<std::string> ReplaceablePath(const std::string& path);

Status MakeDirectories(const std::string& path);
bool FileExists(const std::string& path);

// The first of `directories` that holds an executable regular file `name`; `name` itself when it contains a
// slash and is executable. kNotFound lists where it looked. (Callers pass $PATH, split by SplitSearchPath.)
Result<std::string> FindExecutable(const std::string& name, const std::vector<std::string>& directories);
std::vector<std::string> SplitSearchPath(std::string_view colon_separated);

// A directory of mode 0700 that is removed with everything in it on destruction, and after a process that did not come
// so far by the next one that makes a directory of the same prefix: see temporary_directory.cc.
class TemporaryDirectory {
 public:
  TemporaryDirectory() = default;
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), held_(std::move(other.held_)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept {
    if (this != &other) {
      Remove();
      path_ = std::exchange(other.path_, {});
      held_ = std::move(other.held_);
    }
    return *this;
  }
  ~TemporaryDirectory() { Remove(); }

  const std::string& path() const { return path_; }
  // `name` inside the directory.
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  void Remove();  // errors are ignored: there is nothing left to do about them

 private:
  friend Result<TemporaryDirectory> MakeTemporaryDirectory(const std::string&, std::string_view);
  std::string path_;
  UniqueFd held_;  // the directory, locked: its owner lives
};

// Under `parent` (empty: /tmp), named `prefix` plus a random suffix. The first of a process in `parent` with `prefix` removes
// what processes that are no more left there.
Result<TemporaryDirectory> MakeTemporaryDirectory(const std::string& parent = {}, std::string_view prefix = "hone-");

// Removes those of `prefix` in `parent` that are this user's and whose owner is no more; returns how many.
int RemoveAbandonedDirectories(const std::string& parent, std::string_view prefix);

// Ends this process by signal `number`; a child that outlives it for a moment removes the temporary directories it had.
// From a thread, not from a signal handler.
[[noreturn]] void EndBySignalWithoutTemporaries(int number);

}  // namespace hone
