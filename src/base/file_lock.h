// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Locks that say whose a file or a folder is (flock): the system drops one however its holder ends.
#pragma once

#include <string>

namespace hone {

enum class LockOutcome { kOurs, kAnothers, kImpossible };

// Takes the exclusive lock of an open file or folder, without waiting; it is held until every copy of the descriptor is
// closed. kImpossible: the file system has no locks, or what errno says. Any thread.
LockOutcome TryLock(int fd);

// Whether `path` still names what is open: whoever had the lock before may have removed or renamed it.
bool IsFileAt(int fd, const std::string& path);

}  // namespace hone
