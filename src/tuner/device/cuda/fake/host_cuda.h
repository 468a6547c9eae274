// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the part of CUDA C++ that the harness kernels use, for the host compiler: the fake driver runs them on the
// CPU, so that the whole CUDA session is tested without a GPU. It runs one block at a time, one warp per block, with
// lanes as fibers that synchronize at shuffles and barriers (fake_driver.cc). -include puts this header before
// everything else.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct FakeIndex { unsigned x, y, z; };
extern FakeIndex threadIdx, blockIdx, blockDim, gridDim;

struct uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; };
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }

struct __half { uint16_t bits; };
struct __nv_bfloat16 { uint16_t bits; };
__half __float2half_rn(float value);
float __half2float(__half value);
__nv_bfloat16 __float2bfloat16_rn(float value);
float __bfloat162float(__nv_bfloat16 value);
inline float __uint_as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t __float_as_uint(float value) { return std::bit_cast<uint32_t>(value); }

// Synchronizes the lanes. Every lane must make the same number of calls.
void FakeMeet();
uint64_t FakeShuffleDown(uint64_t bits, int delta);
template <typename T>
T __shfl_down_sync(unsigned, T value, int delta) {
  static_assert(sizeof(T) == 8, "the harness shuffles eight-byte values");
  return std::bit_cast<T>(FakeShuffleDown(std::bit_cast<uint64_t>(value), delta));
}
inline void __syncthreads() { FakeMeet(); }
inline void __nanosleep(unsigned) {}

// Lanes take turns, so plain arithmetic is atomic here.
template <typename T> T atomicAdd(T* at, T value) { const T old = *at; *at += value; return old; }
template <typename T> T atomicMin(T* at, T value) { const T old = *at; *at = std::min(old, value); return old; }
template <typename T> T atomicMax(T* at, T value) { const T old = *at; *at = std::max(old, value); return old; }
template <typename T> T atomicOr(T* at, T value) { const T old = *at; *at |= value; return old; }
