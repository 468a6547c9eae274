// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes waiting OpenMP threads sleep, unless the user's environment says otherwise.
//
// OpenMP's runtime lets them spin for milliseconds. Here they share the cores with the threads that prepare batches,
// which would then wait for a core that only spins. The runtime reads its environment in a constructor, before main;
// the constructor here has a priority and so runs earlier. (Linked into every program that uses OpenMP: see
// cmake/Dependencies.cmake.)
#include <cstdlib>

namespace {

[[gnu::constructor(101)]] void LetWaitingThreadsSleep() { setenv("OMP_WAIT_POLICY", "passive", 0); }

}  // namespace
