// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times the oracle of fp8_block_matmul as it is and with a and b in float16, which is all that changes, at the task's
// timed shapes: what 8-bit floats cost a verdict. Prints one JSON object with medians of five launches in milliseconds.
//
//   nvcc -std=c++17 -O3 -arch=native benchmarks/any_compiler/oracle_cost.cu -o oracle_cost && ./oracle_cost
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace fp8 {
#include "../../tasks/fp8_block_matmul/oracle.cu"
}
// In the oracle's second copy __half stands for the 8-bit type.
#define __nv_fp8_e4m3 __half
namespace fp16 {
#include "../../tasks/fp8_block_matmul/oracle.cu"
}
#undef __nv_fp8_e4m3

namespace {

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "oracle_cost: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <typename T>
__global__ void Fill(T* to, long long count) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL)
    to[i] = static_cast<T>(static_cast<float>(i * 2654435761u % 255) / 16 - 8);
}

template <typename T, typename Kernel>
double MedianMs(Kernel kernel, long long m, long long n, long long k) {
  const long long steps = (k + 127) / 128;
  T *a = nullptr, *b = nullptr;
  float *a_scale = nullptr, *b_scale = nullptr;
  double* c = nullptr;
  Check(cudaMalloc(&a, m * k * sizeof(T)), "a");
  Check(cudaMalloc(&b, n * k * sizeof(T)), "b");
  Check(cudaMalloc(&a_scale, m * steps * 4), "a_scale");
  Check(cudaMalloc(&b_scale, (n + 127) / 128 * steps * 4), "b_scale");
  Check(cudaMalloc(&c, m * n * sizeof(double)), "c");
  Fill<<<1024, 256>>>(a, m * k);
  Fill<<<1024, 256>>>(b, n * k);
  Fill<<<1024, 256>>>(a_scale, m * steps);
  Fill<<<1024, 256>>>(b_scale, (n + 127) / 128 * steps);
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "event");
  Check(cudaEventCreate(&end), "event");
  double ms[5];
  for (int run = -1; run < 5; ++run) {  // the first is not counted
    Check(cudaEventRecord(begin), "event");
    kernel<<<(m + 3) / 4 * ((n + 127) / 128), 128>>>(a, a_scale, b, b_scale, c, m, n, k);
    Check(cudaEventRecord(end), "event");
    Check(cudaEventSynchronize(end), "oracle");
    float took = 0;
    Check(cudaEventElapsedTime(&took, begin, end), "time");
    if (run >= 0) ms[run] = took;
  }
  for (void* one : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(a_scale),
                    static_cast<void*>(b_scale), static_cast<void*>(c)})
    Check(cudaFree(one), "free");
  std::sort(ms, ms + 5);
  return ms[2];
}

}  // namespace

int main() {
  const long long shapes[][3] = {{64, 24576, 1536}, {128, 32768, 512}, {4096, 4096, 7168}, {4096, 7168, 2048}};
  std::printf("{\"cases\": [");
  for (const auto& [m, n, k] : shapes) {
    const double eight = MedianMs<__nv_fp8_e4m3>(fp8::fp8_block_matmul_oracle, m, n, k);
    const double sixteen = MedianMs<__half>(fp16::fp8_block_matmul_oracle, m, n, k);
    std::printf("%s{\"m\": %lld, \"n\": %lld, \"k\": %lld, \"fp8_ms\": %.4f, \"fp16_ms\": %.4f}", m == 64 ? "" : ", ",
                m, n, k, eight, sixteen);
  }
  std::printf("]}\n");
}
