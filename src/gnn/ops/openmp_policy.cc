// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes waiting OpenMP threads sleep, unless the user's environment says otherwise.
//
// By default OpenMP's runtime lets waiting threads spin for milliseconds. Here they share the cores with the threads
// that prepare batches, which would wait for a core that only spins. The runtime reads its environment in a
// constructor, before main; the constructor here has a priority and so runs earlier. (Every program that uses OpenMP
// links this file: see cmake/Dependencies.cmake.)
#include <cstdlib>

namespace {

[[gnu::constructor(101)]] void LetWaitingThreadsSleep() { setenv("OMP_WAIT_POLICY", "passive", 0); }

}  // namespace
