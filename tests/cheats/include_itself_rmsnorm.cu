// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The file includes its own preprocessed copy by the name the simulator's compiler gives it (written.cc), so that the guard
// takes the text for a header's and lets an attribute through: the loads of the first pass are not instrumented and cost nothing.
//
// task: rmsnorm
// expect: rule_violation,unsupported
// where: sim
/*hone
[[launch]]
kernel = "rms_rows"
grid   = ["features > 0 ? min(batch, 2147483647) : 0"]
block  = ["256"]
args   = ["x", "out", "batch:i64", "features:i64", "inner:i64", "eps:f32"]
*/
#if defined(HONE_RED_INNER)
// Read as part of a "header": no guard looks at it.
__device__ __attribute__((no_sanitize_thread, noinline)) float Peek(const float* p) { return *p; }
#else
#if __has_include("written.cc")
#define HONE_RED_INNER
#include "written.cc"
#undef HONE_RED_INNER
#else
__device__ __forceinline__ float Peek(const float* p) { return *p; }
#endif

__global__ void rms_rows(const float* __restrict__ x, float* __restrict__ out, long long batch, long long features,
                         long long inner, float eps) {
  __shared__ float lanes[8];
  for (long long row = blockIdx.x; row < batch; row += gridDim.x) {
    const float* from = x + row * features * inner;
    float* to = out + row * features * inner;
    if (inner == 1) {
      float squares = 0.0f;
      for (long long i = threadIdx.x; i < features; i += 256) {
        const float v = Peek(from + i);
        squares += v * v;
      }
      for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
      if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = squares;
      __syncthreads();
      float all = 0.0f;
      for (int i = 0; i < 8; ++i) all += lanes[i];
      __syncthreads();
      const float scale = rsqrtf(all / static_cast<float>(features) + eps);
      for (long long i = threadIdx.x; i < features; i += 256) to[i] = from[i] * scale;
    } else {
      for (long long p = threadIdx.x; p < inner; p += 256) {
        float squares = 0.0f;
        for (long long f = 0; f < features; ++f) {
          const float v = Peek(from + f * inner + p);
          squares += v * v;
        }
        const float scale = rsqrtf(squares / static_cast<float>(features) + eps);
        for (long long f = 0; f < features; ++f) to[f * inner + p] = from[f * inner + p] * scale;
      }
    }
  }
}
#endif
