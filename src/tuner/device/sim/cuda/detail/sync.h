// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements barriers, fences, traps, clocks, assert and printf.
#pragma once

// These headers come before the macros below, since they undefine what they declare.
#include <cstdio>
#include <ctime>

#include "qualifiers.h"
#include "sim_abi.h"

HONE_SIM_INLINE void __syncthreads() { hone_sim_syncthreads(); }
HONE_SIM_INLINE int __syncthreads_count(int predicate) {
  return hone_sim_syncthreads_reduce(HONE_SIM_COUNT, predicate);
}
HONE_SIM_INLINE int __syncthreads_and(int predicate) { return hone_sim_syncthreads_reduce(HONE_SIM_AND, predicate); }
HONE_SIM_INLINE int __syncthreads_or(int predicate) { return hone_sim_syncthreads_reduce(HONE_SIM_OR, predicate); }
HONE_SIM_INLINE void __barrier_sync(unsigned id) { hone_sim_named_barrier(id, 0, 1); }
HONE_SIM_INLINE void __barrier_sync_count(unsigned id, unsigned threads) { hone_sim_named_barrier(id, threads, 1); }
HONE_SIM_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { hone_sim_syncwarp(mask); }

HONE_SIM_INLINE void __threadfence_block() { hone_sim_fence(HONE_SIM_SCOPE_BLOCK); }
HONE_SIM_INLINE void __threadfence() { hone_sim_fence(HONE_SIM_SCOPE_DEVICE); }
HONE_SIM_INLINE void __threadfence_system() { hone_sim_fence(HONE_SIM_SCOPE_SYSTEM); }

HONE_SIM_INLINE void __trap() { hone_sim_trap(); }
HONE_SIM_INLINE void __brkpt() { hone_sim_trap(); }
HONE_SIM_INLINE long long clock64() { return static_cast<long long>(hone_sim_clock()); }
#define clock() (static_cast<int>(hone_sim_clock()))
HONE_SIM_INLINE unsigned long long __globaltimer() { return hone_sim_globaltimer(); }
HONE_SIM_INLINE void __nanosleep(unsigned nanoseconds) { hone_sim_nanosleep(nanoseconds); }
HONE_SIM_INLINE void __prof_trigger(int) {}

// Launches run one after another. Before a dependent one, its blocks run up to here without the results of the one before.
HONE_SIM_INLINE void cudaGridDependencySynchronize() { hone_sim_grid_dependency_wait(); }
HONE_SIM_INLINE void cudaTriggerProgrammaticLaunchCompletion() {}

namespace hone_sim {
template <typename... Arguments>
HONE_SIM_INLINE int Discard(const Arguments&...) {
  return 0;
}
}  // namespace hone_sim
// Arguments are evaluated, but nothing is written: a judged kernel has no terminal.
#define printf(...) hone_sim::Discard(__VA_ARGS__)

#include "../assert.h"
