// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// As much of CUDA C++ as the harness kernels use, for the host compiler: the fake driver runs them on the CPU, so
// that the whole CUDA session is tested where there is no GPU. One block at a time, one warp a block, its lanes as
// fibers that meet at shuffles and barriers (fake_driver.cc). Included before everything else by -include.
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

// Every lane calls these equally often.
void FakeMeet();
uint64_t FakeShuffleDown(uint64_t bits, int delta);
template <typename T>
T __shfl_down_sync(unsigned, T value, int delta) {
  static_assert(sizeof(T) == 8, "the harness shuffles eight-byte values");
  return std::bit_cast<T>(FakeShuffleDown(std::bit_cast<uint64_t>(value), delta));
}
inline void __syncthreads() { FakeMeet(); }
inline void __nanosleep(unsigned) {}

// Lanes take turns, so plain arithmetic is atomic.
template <typename T> T atomicAdd(T* at, T value) { const T old = *at; *at += value; return old; }
template <typename T> T atomicMin(T* at, T value) { const T old = *at; *at = std::min(old, value); return old; }
template <typename T> T atomicMax(T* at, T value) { const T old = *at; *at = std::max(old, value); return old; }
template <typename T> T atomicOr(T* at, T value) { const T old = *at; *at |= value; return old; }
