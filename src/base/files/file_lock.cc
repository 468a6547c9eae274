// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/files/file_lock.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace hone {

LockOutcome TryLock(int fd) {
  int result;
  do {
    result = flock(fd, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return LockOutcome::kOurs;
  return errno == EWOULDBLOCK ? LockOutcome::kAnothers : LockOutcome::kImpossible;
}

bool IsFileAt(int fd, const std::string& path) {
  struct stat open_file {}, there {};
  return fstat(fd, &open_file) == 0 && lstat(path.c_str(), &there) == 0 && open_file.st_ino == there.st_ino &&
         open_file.st_dev == there.st_dev;
}

}  // namespace hone
