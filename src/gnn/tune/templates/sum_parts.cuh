
// out[i] = the sum of partial[p, i] over the parts, in their order.
__global__ void sum_parts(const float* __restrict__ partial, float* __restrict__ out, long long elements, long long parts) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  float sum = 0;
  for (long long p = 0; p < parts; ++p) sum += partial[p * elements + i];
  out[i] = sum;
}
