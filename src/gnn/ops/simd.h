// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a loop twice, for AVX2 and for the baseline, and chooses once by the CPU's features.
//
// Both give the same bits: no fused multiply-add (these files are compiled with -ffp-contract=off), and sums over
// columns are written with a fixed number of lanes where the order of adding matters.
#pragma once

#include "base/cpu_features.h"

namespace hone::gnn {

// Set by tests to compare the two; not while other threads compute.
inline bool& BaselineOnly() {
  static bool baseline_only = false;
  return baseline_only;
}

inline bool CpuHasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") > 0 && CpuHasF16c();
  return has && !BaselineOnly();
}

}  // namespace hone::gnn

// HONE_VECTORISE(Name, (int a, float* b), (a, b)) defines Name over an always-inlined NameBody.
#define HONE_VECTORISE(name, parameters, arguments)                                        \
  [[gnu::target("avx2,f16c")]] static void name##Avx2 parameters { name##Body arguments; } \
  static void name##Baseline parameters { name##Body arguments; }                          \
  static inline void name parameters {                                                     \
    if (CpuHasAvx2()) {                                                                    \
      name##Avx2 arguments;                                                                \
    } else {                                                                               \
      name##Baseline arguments;                                                            \
    }                                                                                      \
  }
#define HONE_INLINE_BODY [[gnu::always_inline]] static inline
