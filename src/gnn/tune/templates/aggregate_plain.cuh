// dim is a multiple of kWidth, the block size of 32.
template <int kWidth>
__global__ void aggregate(const {{x_type}}* __restrict__ x, const int* __restrict__ index,
                          const int* __restrict__ degree{{seed_more_parameters}}, {{out_type}}* __restrict__ out, long long num_dst,
                          long long fanout, long long dim) {
  using In = Pack<{{x_type}}, kWidth>;
  using Out = Pack<{{out_type}}, kWidth>;
  const long long v = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (v >= num_dst) return;
  const int* neighbors = index + v * fanout;
  const int count = static_cast<int>(degree[v] < fanout ? degree[v] : fanout);
{{seed_share}}
  for (long long column = threadIdx.x % 32; column < dim / kWidth; column += 32) {
    float sum[kWidth];
#pragma unroll
    for (int k = 0; k < kWidth; ++k) sum[k] = {{seed_begin}};
    for (int j = 0; j < count; ++j) {
      const long long neighbor = neighbors[j];
{{seed_weight}}      const In pack = reinterpret_cast<const In*>(x + neighbor * dim)[column];
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {{seed_add}};
    }
{{seed_own}}    Out result;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) result.v[k] = static_cast<{{out_type}}>({{seed_end}});
    reinterpret_cast<Out*>(out + v * dim)[column] = result;
  }
}
