// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Locks files and folders for one owner (flock): the system releases a lock however its holder ends.
#pragma once

#include <string>

namespace hone {

enum class LockOutcome { kOurs, kAnothers, kImpossible };

// Takes the exclusive lock of an open file or folder, without waiting. The lock is held until every copy of the
// descriptor is closed. kImpossible: the file system has no locks, or another error happened, which errno names. Any
// thread.
LockOutcome TryLock(int fd);

// Returns whether `path` still names the open file `fd`: a former owner of the lock may have removed or renamed it.
bool IsFileAt(int fd, const std::string& path);

}  // namespace hone
