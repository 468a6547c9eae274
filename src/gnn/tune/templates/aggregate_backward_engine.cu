// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine's own kernel for this operation, cut out: the same loads and sums, in the same order, over rows that are read
// as they are and with sizes from the host. A group of LANES lanes has AHEAD neighboring sources, whose first rows it loads together. LANES, AHEAD and
// BLOCK are what the engine can choose from (`hone-gnn tune-model --apply`), and their first choices are its own.
/*hone
[tune]
LANES = [{{own_lanes}}]
AHEAD = [4, 8]
BLOCK = [{{own_block}}]

[[launch]]
kernel = "aggregate_backward_in_groups<LANES, AHEAD>"
grid   = ["dim > 0 ? ceil_div(num_src, AHEAD * (BLOCK / LANES)) : 0"]
block  = ["BLOCK"]
args   = ["grad_out"{{weight_arg}}, "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
when   = "dim % 8 == 0"

[[launch]]
kernel = "aggregate_backward<1>"
grid   = ["ceil_div(num_src, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["grad_out"{{weight_arg}}, "row_offsets", "slot", "grad_x", "num_src:i64", "fanout:i32", "dim:i64"]
*/
{{seed_head}}
template <int kLanes, int kEach>
__global__ void __launch_bounds__(256, 3)
    aggregate_backward_in_groups(const {{type}}* __restrict__ grad_out{{seed_weight_parameter}},
                                 const int* __restrict__ row_offsets, const int* __restrict__ slot,
                                 {{type}}* __restrict__ grad_x, long long num_src, int fanout, long long dim) {
  using Row = Pack<{{type}}, 8>;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x % 32), part = lane % kLanes, group = lane - part;
  if ((thread - lane) / kLanes * kEach >= num_src) return;  // the whole warp returns
  const long long base = thread / kLanes * kEach;
  const auto weight_of = [&](long long v) -> float {
{{engine_weight_of}}  };

  // Lane i of a group holds values of source base + i.
  const bool exists = part < kEach && base + part < num_src;
  const int own_begin = exists ? row_offsets[base + part] : 0, own_end = exists ? row_offsets[base + part + 1] : 0;
  const int own_row = own_begin < own_end ? slot[own_begin] / fanout : 0;
  const float own_weight = own_begin < own_end ? weight_of(own_row) : 0.0f;
  for (long long strip = 0; strip < dim / 8; strip += kLanes) {
    const long long column = strip + part;
    const bool mine = column < dim / 8;
    Row pack[kEach];
#pragma unroll
    for (int a = 0; a < kEach; ++a) {
      const bool drawn = __shfl_sync(0xffffffffu, own_end - own_begin, group + a) > 0;
      const long long row = __shfl_sync(0xffffffffu, own_row, group + a);
      if (mine && drawn) pack[a] = reinterpret_cast<const Row*>(grad_out + row * dim)[column];
    }
#pragma unroll
    for (int a = 0; a < kEach; ++a) {
      const long long source = base + a;
      const int begin = __shfl_sync(0xffffffffu, own_begin, group + a);
      const int end = __shfl_sync(0xffffffffu, own_end, group + a);
      const float weight = __shfl_sync(0xffffffffu, own_weight, group + a);
      float sum[8] = {};
      if (mine && begin < end) {
#pragma unroll
        for (int k = 0; k < 8; ++k) sum[k] += weight * static_cast<float>(pack[a].v[k]);
      }
      int longest = end - begin - 1;  // of the warp's sources: its lanes shuffle together
#pragma unroll
      for (int offset = kLanes; offset < 32; offset *= 2) {
        longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, offset));
      }
      for (int done = 0; done < longest; done += kLanes) {
        const int from = begin + 1 + done;
        const int row = from + part < end ? slot[from + part] / fanout : 0;
        const float share = from + part < end ? weight_of(row) : 0.0f;
        const int here = min(kLanes, longest - done);
        for (int j = 0; j < here; ++j) {
          const long long other = __shfl_sync(0xffffffffu, row, group + j);
          const float w = __shfl_sync(0xffffffffu, share, group + j);
          if (!mine || from + j >= end) continue;
          const Row one = reinterpret_cast<const Row*>(grad_out + other * dim)[column];
#pragma unroll
          for (int k = 0; k < 8; ++k) sum[k] += w * static_cast<float>(one.v[k]);
        }
      }
      if (!mine || source >= num_src) continue;
{{seed_own}}      Row result;
#pragma unroll
      for (int k = 0; k < 8; ++k) result.v[k] = static_cast<{{type}}>({{seed_end}});
      reinterpret_cast<Row*>(grad_x + source * dim)[column] = result;
    }
  }
}

{{plain_kernel}}