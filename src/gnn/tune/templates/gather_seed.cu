// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// {{name}} as one would write it first: a warp for each row, 16 bytes a load where rows start on 16-byte boundaries, else one
// element.
/*hone
[tune]
BLOCK = [256, 128, 512]

[[launch]]
kernel = "gather<{{width}}>"
grid   = ["dim > 0 ? ceil_div(rows, BLOCK / 32) : 0"]
block  = ["BLOCK"]
args   = ["x", "index", "out", "rows:i64", "dim:i64"]
when   = "dim % {{width}} == 0"

[[launch]]
kernel = "gather<1>"
grid   = ["ceil_div(rows, BLOCK / 32)"]
block  = ["BLOCK"]
args   = ["x", "index", "out", "rows:i64", "dim:i64"]
*/
{{seed_head}}
// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void gather(const {{x_type}}* __restrict__ x, const int* __restrict__ index, {{out_type}}* __restrict__ out,
                       long long rows, long long dim) {
  using In = Pack<{{x_type}}, kWidth>;
  using Out = Pack<{{out_type}}, kWidth>;
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const long long from = index[row];
  for (long long column = threadIdx.x % 32; column < dim / kWidth; column += 32) {
    const In pack = reinterpret_cast<const In*>(x + from * dim)[column];
    Out result;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) result.v[k] = static_cast<{{out_type}}>(static_cast<float>(pack.v[k]));
    reinterpret_cast<Out*>(out + row * dim)[column] = result;
  }
}
