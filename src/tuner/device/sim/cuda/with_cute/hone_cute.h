// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides CuTe for the simulated GPU: CUTLASS's own headers, compiled as host code, as without __CUDACC__. Layouts,
// tensors, partitions, and copies and products by threads are plain C++ and run as such; the hardware's operations
// (SM80_…, SM90_…), of which host code has only the names, are refused before a candidate is compiled.
//
// The order matters: the shared headers of libcu++ and the C++ library are read as host code first. CUTLASS's parts for
// host programs (the driver's types, launches) are then left out, as in NVRTC.
#pragma once

#include "cuComplex.h"
#include "cuda_fp8.h"

// Defines CUDA 13's vector types of four 8-byte elements, whose names state their alignment.
#define HONE_SIM_ALIGNED_VECTORS(bytes)                      \
  struct alignas(bytes) long4_##bytes##a {                   \
    long x, y, z, w;                                         \
  };                                                         \
  struct alignas(bytes) ulong4_##bytes##a {                  \
    unsigned long x, y, z, w;                                \
  };                                                         \
  struct alignas(bytes) longlong4_##bytes##a {               \
    long long x, y, z, w;                                    \
  };                                                         \
  struct alignas(bytes) ulonglong4_##bytes##a {              \
    unsigned long long x, y, z, w;                           \
  };                                                         \
  struct alignas(bytes) double4_##bytes##a {                 \
    double x, y, z, w;                                       \
  }
HONE_SIM_ALIGNED_VECTORS(16);
HONE_SIM_ALIGNED_VECTORS(32);
#undef HONE_SIM_ALIGNED_VECTORS

using cudaStream_t = struct CUstream_st*;  // parameters of functions that nothing calls

// libcu++ would include the toolkit's own half types.
#define CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT

#pragma push_macro("__CUDACC__")
#pragma push_macro("__CUDA_ARCH__")
#pragma push_macro("__noinline__")  // the C++ library writes it within __attribute__
#undef __CUDACC__
#undef __CUDA_ARCH__
#undef __noinline__

// Includes <iostream> without the object that initialises the streams when a program starts: an image has no such
// moment.
#include <istream>
#include <ostream>
namespace std {
extern istream cin;
extern ostream cout, cerr, clog;
}  // namespace std
#define _GLIBCXX_IOSTREAM 1

#include <cuda/std/array>
#include <cuda/std/cassert>
#include <cuda/std/complex>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include <cute/container/array.hpp>
#include <cute/container/tuple.hpp>
#include <cute/numeric/integral_constant.hpp>
#include <cutlass/complex.h>

#define __CUDACC_RTC__
#include <cute/tensor.hpp>

#include <cute/algorithm/copy.hpp>
#include <cute/algorithm/gemm.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/numeric_conversion.h>
#include <cutlass/numeric_types.h>
#undef __CUDACC_RTC__

#pragma pop_macro("__noinline__")
#pragma pop_macro("__CUDA_ARCH__")
#pragma pop_macro("__CUDACC__")
