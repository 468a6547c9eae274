// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides candidate kernels for cuda_session_test.cc with results that are easy to know. They also compile for the
// host: the fake driver runs them without a GPU. Compiled at build time; the test loads the image as if Hone's compiler
// had made it.
#include <cstdint>

extern "C" __global__ void add_one(const float* x, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = x[i] + 1.0f;
}

struct Scale {
  int n;
  const float* x;
  float by;
};
extern "C" __global__ void scale(Scale s, float* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < s.n; i += gridDim.x * blockDim.x) out[i] = s.x[i] * s.by;
}

extern "C" __global__ void copy16(const uint4* x, uint4* out, long long words) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < words;
       i += static_cast<long long>(gridDim.x) * blockDim.x) {
    out[i] = x[i];
  }
}

// Reads the previous launch's result, so that order and memset steps show.
extern "C" __global__ void increment(float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] += 1.0f;
}

// ---- kept state ----
__device__ float kept_counter = 5.0f;
__device__ float kept_large[3 << 20];
extern "C" __global__ void count_in_global(float* out) { out[0] = kept_counter; kept_counter += 1.0f; }
__device__ float kept_first = 1.0f, kept_second = 2.0f;
extern "C" __global__ void count_in_two_globals(float* out) {
  out[0] = kept_first;
  out[1] = kept_second;
  kept_first += 1.0f;
  kept_second += 1.0f;
}
__device__ unsigned char kept_table[10001];  // not a whole number of pieces or words
extern "C" __global__ void write_ends_of_table(float* out) {
  const int ends[] = {0, 4095, 4096, 10000};
  for (int i = 0; i < 4; ++i) {
    out[i] = kept_table[ends[i]];
    kept_table[ends[i]] = static_cast<unsigned char>(i + 1);
  }
}
extern "C" __global__ void read_global(float* out) { out[0] = kept_counter; }
extern "C" __global__ void write_large_global(float* out) {
  out[0] = kept_large[12345];
  kept_large[12345] = 7.0f;
}

// ---- writes outside its buffer ----
extern "C" __global__ void write_past_end(unsigned char* out, long long offset, int bytes) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < bytes; ++i) out[offset + i] ^= 0xff;
  }
}

// ---- looks and writes anywhere ----
extern "C" __global__ void read_at(const unsigned char* x, float* out, long long offset) {
  if (threadIdx.x == 0) out[0] = x[offset];
}
extern "C" __global__ void write_at(unsigned char* x, long long offset, int value) {
  if (threadIdx.x == 0) x[offset] = static_cast<unsigned char>(value);
}
