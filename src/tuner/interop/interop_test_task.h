// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides a package whose winner uses most features of plans: tunables, alternatives, a binding of its own, a
// workspace, a memset, several steps, a struct by value, occupancy, a dependent launch.
#pragma once

#include "tuner/interop/write/kernel_package.h"

namespace hone::testing {

inline constexpr char kScaleAddToml[] = R"(
name = "scale_add"
summary = "out = factor * x + bias"
class = "elementwise"
slice = "rows"
[dims]
rows = "rows of x"
d = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "d"]
[[tensor]]
name = "bias"
role = "in"
dtype = "float32"
shape = ["d"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "d"]
[[scalar]]
name = "factor"
dtype = "float32"
value = 3.0
[tolerance.out]
c_max = 1e-6
c_rms = 1e-6
[[case]]
role = "time"
dims = { rows = 64, d = 1024 }
[[case]]
role = "time"
dims = { rows = 2, d = 8 }
[[case]]
role = "check"
dims = { rows = 3, d = 5 }
)";

inline constexpr char kScaleAddWinner[] = R"cu(/*hone
[tune]
VEC = [4, 2]
BLOCK = [64, 128]

[[workspace]]
name = "scaled"
bytes = "rows * d * 4"

[[memset]]
target = "scaled"

[[launch]]
step = 1
kernel = "scale<VEC>"
grid = ["min(sm_count * occupancy(scale<VEC>), ceil_div(rows * d, VEC * BLOCK))"]
block = ["BLOCK"]
args = ["x", "scaled", "rows * d:i64", "factor:f32"]
when = "d % 4 == 0 && align(x) >= 16"

[[launch]]
step = 1
kernel = "scale<(VEC / 2)>"
grid = ["ceil_div(rows * d, BLOCK)"]
block = ["BLOCK"]
args = ["x", "scaled", "rows * d:i64", "factor:f32"]
with = { VEC = 2 }

[[launch]]
step = 2
kernel = "inner::add_bias"
grid = ["ceil_div(d, 32)", "rows"]
block = ["32"]
shared = "d > 8 ? 65536 : 0"
args = ["scaled", "bias", "out", "struct:Extents{rows:i32, d:i64}", "stride(x, 0):i64"]
pdl = true
*/
#include <cuda_fp16.h>
#include <stdint.h>
#define WIDTH(v) (v)

struct Extents {
  int rows;
  long long d;
};

template <int kVec>
__global__ void scale(const float* __restrict__ x, float* __restrict__ scaled, long long n, float factor) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x * kVec;
  for (long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * kVec; i < n; i += stride) {
    for (int v = 0; v < WIDTH(kVec); ++v) {
      if (i + v < n) scaled[i + v] += factor * x[i + v];
    }
  }
}

namespace inner {
__global__ void add_bias(const float* scaled, const float* bias, float* out, Extents extents, long long stride) {
  const long long column = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (row < extents.rows && column < extents.d) out[row * stride + column] = scaled[row * stride + column] + bias[column];
}
}  // namespace inner
)cu";

inline constexpr char kScaleAddSeed[] = R"cu(/*hone
[[launch]]
kernel = "scale_add"
grid = ["ceil_div(rows * d, 128)"]
block = ["128"]
args = ["x", "bias", "out", "rows * d:i64", "d:i64", "factor:f32"]
*/
#define WIDTH 1
extern "C" __global__ void scale_add(const float* x, const float* bias, float* out, long long n, long long d,
                                     float factor) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i] + bias[i % d] * WIDTH;
}
)cu";

// Returns the package: its winner is faster at rows = 64, d = 1024 and slower at rows = 2, d = 8, where the seed runs.
inline KernelPackage ScaleAddPackage() {
  KernelPackage package;
  package.task = ParseTask(kScaleAddToml, "task.toml").value();
  package.winner = ParseCandidate(kScaleAddWinner, "node-3.cu", package.task).value();
  package.seed = ParseCandidate(kScaleAddSeed, "seed.cu", package.task).value();
  package.winner_binding = DefaultBinding(package.winner.plan);
  package.seed_shapes = {"rows * d <= 1024"};
  package.shapes = {{{{"rows", 64}, {"d", 1024}}, 5.0, 10.0, {2.0, 1.9, 2.1}, true},
                    {{{"rows", 2}, {"d", 8}}, 5.0, 4.0, {0.8, 0.7, 0.9}, false}};
  package.run = "20260921-000000-0001";
  package.node = 3;
  package.device = "cuda:0";
  package.paired = true;
  return package;
}

}  // namespace hone::testing
