// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines CUDA's keywords for the simulated GPU, where device code is ordinary C++ for the host compiler.
//
// A block runs on one OS thread, so a thread-local variable is exactly a variable of the block: `__shared__`
// covers static arrays, arrays in templates and `extern __shared__` with one definition, and its addresses form
// one range (the library's TLS segment) that the runtime can recognise.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A template that functions of these headers call deduces its return type (`auto`), because g++ then compiles it once,
// into the precompiled header. It compiles other templates that they call again for every candidate, which took a third
// of the time of a small one.

// Forces inlining into the candidate, so that the compiler's access hook is at the candidate's own line; `artificial`
// asks the debugger (and addr2line) to attribute the inlined body to the caller's line.
#define HONE_SIM_INLINE inline __attribute__((always_inline, artificial))
// Marks arithmetic whose own loads and stores do not belong to the candidate.
#define HONE_SIM_HIDDEN __attribute__((noinline, no_sanitize_thread))
// Marks functions that are called only by functions with HONE_SIM_HIDDEN.
#define HONE_SIM_HIDDEN_INLINE inline __attribute__((always_inline, no_sanitize_thread))

#if !defined(__CUDACC__)
#define __CUDACC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
// Device code often asks whether it is being compiled for the device; here it always is, for compute
// capability 9.0. Of its architecture-specific features wgmma alone is simulated (detail/wgmma.h), so their macro stays
// undefined.
#define __CUDA_ARCH__ 900
#define HONE_SIM 1

#define __global__
#define __device__
#define __host__
// Variables get sections of their own, so that the runtime recognises constant memory.
#define HONE_SIM_TEXT_OF(x) #x
#define HONE_SIM_TEXT(x) HONE_SIM_TEXT_OF(x)
#define __constant__ __attribute__((section("hone_constant." HONE_SIM_TEXT(__COUNTER__))))
// The source guard (image/source_guard.cc) recognises managed variables by this section and refuses them, as a GPU's
// judge does.
#define __managed__ __attribute__((section("hone_managed")))
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __grid_constant__
#define __nv_pure__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __builtin_assume(condition)            \
  do {                                         \
    if (!(condition)) __builtin_unreachable(); \
  } while (0)
#define __nv_assume __builtin_assume
