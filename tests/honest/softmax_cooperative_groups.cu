// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduced by the tiles of cooperative groups.
//
// task: softmax
// expect: ok
// where: sim gpu
/*hone
[[launch]]
kernel = "softmax"
grid   = ["rows"]
block  = ["64"]
args   = ["x", "out", "d:i64"]
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void softmax(const float* x, float* out, long long d) {
  const float* row = x + blockIdx.x * d;
  float* result = out + blockIdx.x * d;
  __shared__ float parts[2];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  float top = -1e38f, sum = 0.0f;
  for (long long i = block.thread_rank(); i < d; i += block.size()) top = fmaxf(top, row[i]);
  top = cg::reduce(warp, top, cg::greater<float>());
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = top;
  block.sync();
  top = fmaxf(parts[0], parts[1]);
  block.sync();
  for (long long i = block.thread_rank(); i < d; i += block.size()) sum += expf(row[i] - top);
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sum;
  block.sync();
  sum = parts[0] + parts[1];
  for (long long i = block.thread_rank(); i < d; i += block.size()) result[i] = expf(row[i] - top) / sum;
}
