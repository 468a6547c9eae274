// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// OpenMP threads that wait sleep, unless the user's environment says otherwise.
//
// Its runtime lets them spin for milliseconds. Here they share the cores with the threads that prepare batches, which
// then wait for a core that does nothing. The runtime reads its environment in a constructor, before main; this one
// has a priority and so comes before it. (Linked into every program that uses OpenMP: see cmake/Dependencies.cmake.)
#include <cstdlib>

namespace {

[[gnu::constructor(101)]] void LetWaitingThreadsSleep() { setenv("OMP_WAIT_POLICY", "passive", 0); }

}  // namespace
