// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine's own kernel for this operation, as a candidate: the same loads and sums, in the same order. Rows are read as
// they are, and sizes come from the host. Each group of LANES lanes computes one destination, and each lane has AHEAD rows
// in flight. LANES, AHEAD and BLOCK are what the engine can choose from (`hone-gnn tune-model --apply`). Their first
// choices are the engine's own.
/*hone
[tune]
LANES = [{{own_lanes}}]
AHEAD = [4, 8]
BLOCK = [{{own_block}}]

[[launch]]
kernel = "aggregate_in_groups<LANES, AHEAD>"
grid   = ["dim > 0 ? ceil_div(num_dst, BLOCK / LANES) : 0"]
block  = ["BLOCK"]
args   = ["x", "index", "degree"{{more_args}}, "out", "num_dst:i64", "fanout:i64", "dim:i64"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "aggregate<1>"
grid   = ["ceil_div(num_dst, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "index", "degree"{{more_args}}, "out", "num_dst:i64", "fanout:i64", "dim:i64"]
*/
{{seed_head}}
template <int kLanes, int kAhead>
__global__ void __launch_bounds__(256, 3)
    aggregate_in_groups(const {{x_type}}* __restrict__ x, const int* __restrict__ index,
                        const int* __restrict__ degree{{seed_more_parameters}}, {{out_type}}* __restrict__ out,
                        long long num_dst, long long fanout, long long dim) {
  using In = Pack<{{x_type}}, 8>;
  using Out = Pack<{{out_type}}, 8>;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x % 32), part = lane % kLanes, group = lane - part;
  if ((thread - lane) / kLanes >= num_dst) return;  // the whole warp returns
  const bool exists = thread / kLanes < num_dst;
  const long long v = exists ? thread / kLanes : num_dst - 1;
  const int* neighbors = index + v * fanout;
  const int count = exists ? static_cast<int>(degree[v] < fanout ? degree[v] : fanout) : 0;
  int longest = count;  // of the warp's destinations: its lanes shuffle together
#pragma unroll
  for (int offset = kLanes; offset < 32; offset *= 2) longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, offset));
{{seed_share}}
  for (long long first = 0; first < dim / 8; first += kLanes) {
    const long long column = first + part;
    const bool mine = exists && column < dim / 8;
    float sum[8] = {};
    for (int from = 0; from < longest; from += kLanes) {
      const bool has = from + part < count;
      const int neighbor = has ? neighbors[from + part] : 0;
      const float weight = has ? {{engine_weight}} : 0.0f;
      const int here = min(kLanes, longest - from), own_here = count - from;
      for (int j = 0; j < here; j += kAhead) {
        In pack[kAhead];
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          const long long source = __shfl_sync(0xffffffffu, neighbor, group + (j + a) % kLanes);
          if (mine && j + a < own_here) pack[a] = reinterpret_cast<const In*>(x + source * dim)[column];
        }
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          const float w = __shfl_sync(0xffffffffu, weight, group + (j + a) % kLanes);
          if (!mine || j + a >= own_here) continue;
#pragma unroll
          for (int k = 0; k < 8; ++k) sum[k] += w * static_cast<float>(pack[a].v[k]);
        }
      }
    }
    if (!mine) continue;
{{seed_own}}    Out result;
#pragma unroll
    for (int k = 0; k < 8; ++k) result.v[k] = static_cast<{{out_type}}>({{seed_end}});
    reinterpret_cast<Out*>(out + v * dim)[column] = result;
  }
}

{{plain_kernel}}