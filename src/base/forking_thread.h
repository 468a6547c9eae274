// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Child processes that end with this one, however it ends: by SIGKILL, too, which leaves nobody to end them.
//
// The kernel does that (PR_SET_PDEATHSIG), but takes for the parent the *thread* that forked: what a pool's thread has
// started would be killed with the pool. So one thread forks them all, and lives as long as the process.
#pragma once

#include <sys/types.h>

#include <functional>

#include "hone/base/status.h"

namespace hone {

// Forks; the child calls `become`, which does not return. It is single-threaded, has every signal blocked, and may call
// async-signal-safe functions only. It is killed when this process ends, and keeps to that across exec, but for programs
// with rights of their own (set-user-ID); its own children are not. kUnavailable: no room for a process or a thread.
// Any thread.
Result<pid_t> ForkTiedToThisProcess(const std::function<void()>& become);

}  // namespace hone
