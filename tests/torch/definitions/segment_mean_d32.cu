// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "segment_mean"
grid   = ["batch_size"]
block  = ["32"]
args   = ["values", "ids", "indptr", "mean"]
*/
__global__ void segment_mean(const __half* values, const int* ids, const int* indptr, __half* mean) {
  const int begin = indptr[blockIdx.x], end = indptr[blockIdx.x + 1];
  float sum = 0.0f;
  for (int i = begin; i < end; ++i) sum += __half2float(values[static_cast<long long>(ids[i]) * 32 + threadIdx.x]);
  mean[static_cast<long long>(blockIdx.x) * 32 + threadIdx.x] = __float2half(sum / static_cast<float>(max(end - begin, 1)));
}
