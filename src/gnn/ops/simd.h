// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a loop twice, for AVX2 and for the baseline, and chooses once by the CPU's features.
//
// Both versions give the same bits. They have no fused multiply-add (these files are compiled with -ffp-contract=off),
// and where the order of adding matters, sums over columns are written with a fixed number of lanes.
#pragma once

#include "base/cpu_features.h"

namespace hone::gnn {

// Returns the flag that makes only the baseline version run. Tests set it to compare the two, while no other thread
// computes.
inline bool& BaselineOnly() {
  static bool baseline_only = false;
  return baseline_only;
}

inline bool CpuHasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") > 0 && CpuHasF16c();
  return has && !BaselineOnly();
}

}  // namespace hone::gnn

// HONE_VECTORISE(Name, (int a, float* b), (a, b)) defines the function Name, which calls one of two compiled versions
// of the always-inlined NameBody.
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
