// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes files so that a crash or a full disk never leaves half a file under its final name.
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

// Returns "open '/x/y': No such file or directory": the message of `error` (an errno) with the action and the path.
std::string ErrnoMessage(std::string_view action, std::string_view path, int error);

// Reads the whole file. kNotFound when it does not exist, kInvalidArgument when it is longer than `max_bytes` (0: no
// bound), else kIo.
Result<std::string> ReadFile(const std::string& path, int64_t max_bytes = 0);

// Reads the first `most` bytes of a file, or all of a shorter one. Errors as ReadFile's.
Result<std::string> ReadHead(const std::string& path, size_t most);

// Writes all bytes to an open file, where its offset or O_APPEND says; `path` names the file in errors. kIo.
Status WriteAll(int fd, std::string_view bytes, const std::string& path);

// Writes `bytes` to a new file in the same folder, flushes it to disk, and renames it over `path`: a reader sees the
// old file or the new one. Makes missing parent directories. On failure nothing is left behind and `path` is as it was.
// A symbolic link stays one: the file it points to is replaced. A terminal, a pipe or a device such as /dev/null is
// written to and never replaced. kInvalidArgument for a folder.
// A new file gets `mode` less the umask; a replaced file keeps its mode.
Status WriteFileAtomically(const std::string& path, std::string_view bytes, int mode = 0666);

// Writes a file like WriteFileAtomically, but without the flush to disk. The write is atomic if the process is killed,
// but not if the machine fails. It serves caches, whose readers check what they read.
Status WriteFileAtomicallyUnflushed(const std::string& path, std::string_view bytes, int mode = 0666);

// For writers that rename files into place themselves. CreateBeside makes an empty file in the folder of `path`, open
// for reading and writing, with `mode` less the umask. Its name, `path` plus ".aside-" and six random letters, is
// stored in `temporary`.
Result<UniqueFd> CreateBeside(const std::string& path, std::string& temporary, int mode = 0666);
// Gives the open file the mode of the file at `path`, which it will replace; does nothing if there is none. `path` is
// as ReplaceablePath returns it.
Status KeepModeOf(const std::string& path, int fd);

// Returns the name under which a file may be renamed into place for `path`: `path` itself, or the target of a symbolic
// link. kInvalidArgument for a folder and for anything but a regular file: a rename by root could replace the machine's
// /dev/null by a file.
Result<std::string> ReplaceablePath(const std::string& path);

// Makes a folder and all missing parents; a folder that exists already is no error. kIo.
Status MakeDirectories(const std::string& path);
bool FileExists(const std::string& path);

// Returns the first of `directories` that holds an executable regular file `name`; `name` itself when it contains a
// slash and is executable. kNotFound lists the places searched. (Callers pass $PATH, split by SplitSearchPath.)
Result<std::string> FindExecutable(const std::string& name, const std::vector<std::string>& directories);
std::vector<std::string> SplitSearchPath(std::string_view colon_separated);

// A directory of mode 0700 that is removed with its contents on destruction. If the process dies before that, the next
// process that makes a directory with the same prefix removes it: see temporary_directory.cc.
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
  // Returns the path of `name` inside the directory.
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  void Remove();  // ignores errors, because nothing more can be done about them

 private:
  friend Result<TemporaryDirectory> MakeTemporaryDirectory(const std::string&, std::string_view);
  std::string path_;
  UniqueFd held_;  // the directory, locked: the lock shows other processes that the owner is alive
};

// Makes a directory under `parent` (empty: /tmp), named `prefix` plus a random suffix. The first call of a process for
// a `parent` and `prefix` removes the directories that ended processes left there.
Result<TemporaryDirectory> MakeTemporaryDirectory(const std::string& parent = {}, std::string_view prefix = "hone-");

// Removes the directories of `prefix` in `parent` that belong to this user and whose owner has ended; returns how many.
int RemoveAbandonedDirectories(const std::string& parent, std::string_view prefix);

// Ends this process by signal `number`; a child that outlives it for a moment removes its temporary directories. Call
// from a thread, not from a signal handler.
[[noreturn]] void EndBySignalWithoutTemporaries(int number);

}  // namespace hone
