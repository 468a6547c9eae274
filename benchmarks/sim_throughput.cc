// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how many accesses per second and core the simulated GPU observes with every check and counter on, for
// kernels with different access patterns, and how long the compiler takes. Prints JSON.
//
// Seconds are processor time of the child process during the launch, of all its threads together. The minimum of
// several launches is taken, because other programs can only add to it. A figure is the number of accesses that hooks
// reported, private stacks excluded, per second of everything: fibers, barriers, arithmetic.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tuner/device/sim/sim_child.h"
#include "tuner/device/sim/sim_test_bench.h"

namespace hone {
namespace {

using nlohmann::json;

struct Subject {
  const char* name;
  const char* source;
  std::vector<int64_t> grid, block;
  int64_t shared;
  int elements;  // number of elements of each float tensor
};

const Subject kSubjects[] = {
    {"copy_float", R"(
__global__ void k(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
})", {64}, {256}, 0, 1 << 22},
    {"silu_float4", R"(
__device__ float silu(float v) { return v / (1.0f + __expf(-v)); }
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = reinterpret_cast<const float4*>(x)[i];
  v.x = silu(v.x); v.y = silu(v.y); v.z = silu(v.z); v.w = silu(v.w);
  reinterpret_cast<float4*>(y)[i] = v;
})", {(1 << 22) / 1024}, {256}, 0, 1 << 22},
    {"row_softmax", R"(
__global__ void k(const float* x, float* y, int n) {
  __shared__ float part[32];
  const float* row = x + blockIdx.x * 4096;
  float* out = y + blockIdx.x * 4096;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float m = -1e30f;
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) m = fmaxf(m, row[i]);
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (lane == 0) part[warp] = m;
  __syncthreads();
  m = part[lane & 7];
  for (int d = 4; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) sum += __expf(row[i] - m);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  __syncthreads();
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = part[lane & 7];
  for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) out[i] = __expf(row[i] - m) / sum;
})", {512}, {256}, 0, 1 << 21},
    {"tiled_matmul", R"(
__global__ void k(const float* a, float* c, int n) {
  __shared__ float sa[16][16], sb[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k0 = 0; k0 < 512; k0 += 16) {
    sa[ty][tx] = a[row * 512 + k0 + tx];
    sb[ty][tx] = a[(k0 + ty) * 512 + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += sa[ty][k] * sb[k][tx];
    __syncthreads();
  }
  c[row * 512 + col] = sum;
})", {16, 16}, {16, 16}, 0, 512 * 512},
    {"half_tile_transpose", R"(
__global__ void k(const __half* x, __half* y, int n) {
  __shared__ __half tile[32][33];
  for (int r = threadIdx.y; r < 32; r += 8) tile[r][threadIdx.x] = x[(blockIdx.y * 32 + r) * 2048 + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) y[(blockIdx.x * 32 + r) * 2048 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][r];
})", {64, 64}, {32, 8}, 0, 1 << 21},
    {"shared_histogram", R"(
__global__ void k(const float* x, float* y, int n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[__float_as_int(x[i]) & 63], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&reinterpret_cast<int*>(y)[threadIdx.x], bins[threadIdx.x]);
})", {64}, {256}, 0, 1 << 21},
};

json Measure(const Subject& subject, int workers) {
  SimBench bench("", workers);
  bench.Load(subject.source, {"k"});
  std::vector<float> values(static_cast<size_t>(subject.elements));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761u % 1000) * 0.01f;
  bench.Input("x", values);
  bench.Input("y", std::vector<float>(values.size()), false);
  double best = 1e30;
  double accesses = 0;
  for (int i = 0; i < 5; ++i) {
    const LaunchOutcome outcome = bench.RunSteps({SimBench::Step("k", subject.grid, subject.block,
        {SimBench::T("x"), SimBench::T("y"), SimBench::I(subject.elements)}, subject.shared)});
    HONE_CHECK(outcome.status == LaunchStatus::kOk, outcome.detail);
    best = std::min(best, outcome.cost->host_seconds);
    accesses = outcome.cost->accesses;
  }
  return {{"kernel", subject.name}, {"workers", workers}, {"accesses", accesses}, {"cpu_seconds", best},
          {"million_accesses_per_cpu_second", accesses / best / 1e6}, {"compile_seconds", bench.module().seconds}};
}

std::string ProcessorName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

int Main() {
  json result{{"benchmark", "sim_throughput"}, {"processor", ProcessorName()},
              {"cores", std::thread::hardware_concurrency()}, {"compiler", SimBench::SharedCompiler().Fingerprint()}};
  for (const Subject& subject : kSubjects) {
    result["kernels"].push_back(Measure(subject, 1));
  }
  result["kernels"].push_back(Measure(kSubjects[3], 2));
  std::puts(result.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "__sim-child") == 0) return hone::SimChildMain(std::atoi(argv[3]));
  return hone::Main();
}
