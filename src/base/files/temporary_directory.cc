// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes temporary directories, and removes those whose owner died before removing them.
//
// An owner holds a lock (flock) on the directory itself, which the system releases however the owner ends. A directory
// named `prefix`held-XXXXXX that can be locked has no owner any more, and the next process that makes one of the same
// prefix removes it. Names without "held-" are used on file systems that cannot lock a directory (some network ones);
// their owner is unknown, so such directories are never removed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"

namespace hone {
namespace {

constexpr std::string_view kHeldPrefix = "held-";  // in the name of a directory whose owner holds a lock on it

// The directories of this process. The object is never destroyed: a thread may use it while the process ends.
struct OwnedPaths {
  std::mutex mutex;
  std::set<std::string> paths;
  std::set<std::pair<std::string, std::string>> swept;  // parents and prefixes whose abandoned directories were removed
};
OwnedPaths& OwnedDirectories() {
  static OwnedPaths* const owned = new OwnedPaths;
  return *owned;
}

UniqueFd OpenDirectory(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Tries to lock a directory, which shows that its owner is alive.
LockOutcome LockDirectory(const UniqueFd& directory, const std::string& path) {
  if (!directory.valid()) return errno == ENOENT ? LockOutcome::kAnothers : LockOutcome::kImpossible;
  const LockOutcome lock_outcome = TryLock(directory.get());
  // The former owner of the lock may have removed the directory.
  return lock_outcome == LockOutcome::kOurs && !IsFileAt(directory.get(), path) ? LockOutcome::kAnothers : lock_outcome;
}

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

void TemporaryDirectory::Remove() {
  if (path_.empty()) return;
  RemoveAll(path_);
  OwnedPaths& owned = OwnedDirectories();
  std::lock_guard lock(owned.mutex);
  owned.paths.erase(path_);
  path_.clear();
  held_.Reset();
}

int RemoveAbandonedDirectories(const std::string& parent, std::string_view prefix) {
  const std::string name_begin = fmt::format("{}{}", prefix, kHeldPrefix);
  int removed = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry(parent, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(name_begin)) continue;
    const std::string path = entry->path().string();
    const UniqueFd directory = OpenDirectory(path);
    struct stat info {};
    // Root may open every user's directories.
    if (!directory.valid() || fstat(directory.get(), &info) != 0 || info.st_uid != geteuid()) continue;
    if (LockDirectory(directory, path) != LockOutcome::kOurs) continue;
    RemoveAll(path);
    ++removed;
  }
  return removed;
}

Result<TemporaryDirectory> MakeTemporaryDirectory(const std::string& parent, std::string_view prefix) {
  const std::string base = parent.empty() ? "/tmp" : parent;
  HONE_RETURN_IF_ERROR(MakeDirectories(base));
  OwnedPaths& owned = OwnedDirectories();
  bool first_here = false;
  {
    std::lock_guard lock(owned.mutex);
    first_here = owned.swept.emplace(base, prefix).second;
  }
  if (first_here) RemoveAbandonedDirectories(base, prefix);
  bool can_hold = true;
  for (int attempt = 0;; ++attempt) {
    std::string path = fmt::format("{}/{}{}XXXXXX", base, prefix, can_hold ? kHeldPrefix : "");
    // The lock is held from making to recording: a process that ends by a signal in between leaves nothing behind.
    std::lock_guard lock(owned.mutex);
    if (mkdtemp(path.data()) == nullptr) return Status::Io(ErrnoMessage("make temporary directory", path, errno));
    TemporaryDirectory directory;
    if (can_hold) {
      directory.held_ = OpenDirectory(path);
      const LockOutcome lock_outcome = LockDirectory(directory.held_, path);
      if (lock_outcome != LockOutcome::kOurs) {
        // Another process tried the lock before this one held it, and removes the directory; or locks do not work here.
        RemoveAll(path);
        can_hold = lock_outcome == LockOutcome::kAnothers && attempt < 100;
        continue;
      }
    }
    owned.paths.insert(path);
    directory.path_ = std::move(path);
    return directory;
  }
}

void EndBySignalWithoutTemporaries(int number) {
  OwnedPaths& owned = OwnedDirectories();
  // No directory is made or recorded from here on: the mutex is never unlocked.
  owned.mutex.lock();
  const pid_t self = getpid();
  // A child removes the directories after this process ends: threads that still run here must not see their files
  // vanish and report that as a result. The child has none of its parent's threads, so it disturbs nothing; its copies
  // of the locks keep other processes away.
  const pid_t child = owned.paths.empty() ? -1 : fork();
  if (child == 0) {
    // The child leaves the process group, to which a shell or other parent may send further signals.
    (void)setpgid(0, 0);
    for (const int ignored : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(ignored, SIG_IGN);
    // Waits until the parent has ended, at most 5 s.
    for (int polls = 0; getppid() == self && polls < 500; ++polls)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // Compilers that outlive the parent for a moment may still write into the directories.
    for (int polls = 0; polls < 20; ++polls) {
      bool any_left = false;
      for (const std::string& path : owned.paths) {
        RemoveAll(path);
        any_left = any_left || FileExists(path);
      }
      if (!any_left) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    _exit(0);
  }
  std::signal(number, SIG_DFL);
  sigset_t ending_signal;
  sigemptyset(&ending_signal);
  sigaddset(&ending_signal, number);
  pthread_sigmask(SIG_UNBLOCK, &ending_signal, nullptr);
  raise(number);
  _exit(128 + number);
}

}  // namespace hone
