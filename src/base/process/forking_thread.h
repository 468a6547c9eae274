// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts child processes that end with this process, however it ends, even by SIGKILL.
//
// The kernel kills such a child (PR_SET_PDEATHSIG) when the *thread* that forked it ends, not the process. A child that
// a pool's thread forked would be killed with the pool. One thread, which lives as long as the process, therefore forks
// all of them.
#pragma once

#include <sys/types.h>

#include <functional>

#include "hone/base/status.h"

namespace hone {

// Forks; the child calls `become`, which does not return. The child is single-threaded, has every signal blocked, and
// may call async-signal-safe functions only. It is killed when this process ends, also after exec, except if it
// executes a set-user-ID program. The child's own children are not killed. kUnavailable: no resources for a process or
// a thread. Any thread.
Result<pid_t> ForkTiedToThisProcess(const std::function<void()>& become);

}  // namespace hone
