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

constexpr std::string_view kHeld = "held-";

// The directories of this process. The object is never destroyed: a thread may use it while the process ends.
struct Owned {
  std::mutex mutex;
  std::set<std::string> paths;
  std::set<std::pair<std::string, std::string>> swept;  // parent and prefix
};
Owned& OwnedDirectories() {
  static Owned* const owned = new Owned;
  return *owned;
}

UniqueFd OpenDirectory(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Tries to lock a directory, which shows that its owner is alive.
LockOutcome LockDirectory(const UniqueFd& directory, const std::string& path) {
  if (!directory.valid()) return errno == ENOENT ? LockOutcome::kAnothers : LockOutcome::kImpossible;
  const LockOutcome got = TryLock(directory.get());
  // The former owner of the lock may have removed the directory.
  return got == LockOutcome::kOurs && !IsFileAt(directory.get(), path) ? LockOutcome::kAnothers : got;
}

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

void TemporaryDirectory::Remove() {
  if (path_.empty()) return;
  RemoveAll(path_);
  Owned& owned = OwnedDirectories();
  std::lock_guard lock(owned.mutex);
  owned.paths.erase(path_);
  path_.clear();
  held_.Reset();
}

int RemoveAbandonedDirectories(const std::string& parent, std::string_view prefix) {
  const std::string begin = fmt::format("{}{}", prefix, kHeld);
  int removed = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry(parent, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(begin)) continue;
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
  Owned& owned = OwnedDirectories();
  bool first = false;
  {
    std::lock_guard lock(owned.mutex);
    first = owned.swept.emplace(base, prefix).second;
  }
  if (first) RemoveAbandonedDirectories(base, prefix);
  bool can_hold = true;
  for (int attempt = 0;; ++attempt) {
    std::string path = fmt::format("{}/{}{}XXXXXX", base, prefix, can_hold ? kHeld : "");
    // The lock is held from making to recording: a process that ends by a signal in between leaves nothing behind.
    std::lock_guard lock(owned.mutex);
    if (mkdtemp(path.data()) == nullptr) return Status::Io(ErrnoMessage("make temporary directory", path, errno));
    TemporaryDirectory directory;
    if (can_hold) {
      directory.held_ = OpenDirectory(path);
      const LockOutcome got = LockDirectory(directory.held_, path);
      if (got != LockOutcome::kOurs) {
        // Another process tried the lock before this one held it, and removes the directory; or locks do not work here.
        RemoveAll(path);
        can_hold = got == LockOutcome::kAnothers && attempt < 100;
        continue;
      }
    }
    owned.paths.insert(path);
    directory.path_ = std::move(path);
    return directory;
  }
}

void EndBySignalWithoutTemporaries(int number) {
  Owned& owned = OwnedDirectories();
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
    for (int look = 0; getppid() == self && look < 500; ++look) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // Compilers that outlive the parent for a moment may still write into the directories.
    for (int look = 0; look < 20; ++look) {
      bool left = false;
      for (const std::string& path : owned.paths) {
        RemoveAll(path);
        left = left || FileExists(path);
      }
      if (!left) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    _exit(0);
  }
  std::signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  _exit(128 + number);
}

}  // namespace hone
