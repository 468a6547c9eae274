// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void aggregate_backward(const {{type}}* __restrict__ grad_out{{seed_weight_parameter}},
                                   const int* __restrict__ row_offsets, const int* __restrict__ slot,
                                   {{type}}* __restrict__ grad_x, long long num_src, int fanout, long long dim) {
  using Row = Pack<{{type}}, kWidth>;
  const long long source = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (source >= num_src) return;
  const int begin = row_offsets[source], end = row_offsets[source + 1];

  for (long long column = threadIdx.x % 32; column < dim / kWidth; column += 32) {
    float sum[kWidth] = {};
    for (int t = begin; t < end; ++t) {
      const long long v = slot[t] / fanout;
      const Row pack = reinterpret_cast<const Row*>(grad_out + v * dim)[column];
{{seed_weight}}#pragma unroll
      for (int k = 0; k < kWidth; ++k) {{seed_add}};
    }
{{seed_own}}    Row result;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) result.v[k] = static_cast<{{type}}>({{seed_end}});
    reinterpret_cast<Row*>(grad_x + source * dim)[column] = result;
  }
}
