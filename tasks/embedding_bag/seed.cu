// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp has a bag: its lanes read 32 ids and weights at a time and hand them round, and each lane adds four columns of
// every row. Widths that are no multiple of four take one column to a lane.
/*hone
[tune]
WARPS = [4, 8, 2]

[[launch]]
kernel = "bag<4>"
grid   = ["ceil_div(bags, WARPS)"]
block  = ["WARPS * 32"]
args   = ["table", "ids", "weights", "out", "bags:i32", "per_bag:i32", "dim:i32"]
when   = "dim % 4 == 0"

[[launch]]
kernel = "bag<1>"
grid   = ["ceil_div(bags, WARPS)"]
block  = ["WARPS * 32"]
args   = ["table", "ids", "weights", "out", "bags:i32", "per_bag:i32", "dim:i32"]
*/

template <int kVec>
struct alignas(kVec * 4) Pack {
  float x[kVec];
};

template <int kVec>
__global__ void bag(const float* __restrict__ table, const long long* __restrict__ ids, const float* __restrict__ weights,
                    float* __restrict__ out, int bags, int per_bag, int dim) {
  const int bag = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (bag >= bags) return;
  for (int first = 0; first < dim; first += 32 * kVec) {
    const int column = first + lane * kVec;
    Pack<kVec> sum = {};
    for (int j = 0; j < per_bag; j += 32) {
      const long long at = static_cast<long long>(bag) * per_bag + j + lane;
      const long long mine = j + lane < per_bag ? ids[at] : -1;
      const float weight = j + lane < per_bag ? weights[at] : 0.0f;
      const int left = min(32, per_bag - j);
#pragma unroll 4
      for (int i = 0; i < left; ++i) {
        const long long row = __shfl_sync(0xffffffffu, mine, i);
        const float factor = __shfl_sync(0xffffffffu, weight, i);
        if (row < 0 || column >= dim) continue;
        const Pack<kVec> part = *reinterpret_cast<const Pack<kVec>*>(table + row * dim + column);
#pragma unroll
        for (int e = 0; e < kVec; ++e) sum.x[e] += factor * part.x[e];
      }
    }
    if (column < dim) *reinterpret_cast<Pack<kVec>*>(out + static_cast<long long>(bag) * dim + column) = sum;
  }
}
