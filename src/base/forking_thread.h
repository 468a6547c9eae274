// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts child processes that end with this process, however it ends, even by SIGKILL.
//
// The kernel ends them (PR_SET_PDEATHSIG), but when the *thread* that forked ends: children of a pool's thread would be
// killed with the pool. So one thread, which lives as long as the process, forks them all.
#pragma once

#include <sys/types.h>

#include <functional>

#include "hone/base/status.h"

namespace hone {

// Forks; the child calls `become`, which does not return. The child is single-threaded, has every signal blocked, and
// may call async-signal-safe functions only. It is killed when this process ends, also after exec, except for programs
// with rights of their own (set-user-ID); its own children are not killed. kUnavailable: no resources for a process or
// a thread. Any thread.
Result<pid_t> ForkTiedToThisProcess(const std::function<void()>& become);

}  // namespace hone
