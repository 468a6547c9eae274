// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rotary position embedding of queries and keys, in place, with tables of cosines and sines that positions choose from;
// fewer key heads than query heads. For tests of `hone new`.
#include <cuda_fp16.h>

// q: [tokens, num_heads, head_dim], k: [tokens, num_kv_heads, head_dim]
// cos_table, sin_table: [max_position, head_dim / 2]
__global__ void rope_kernel(__half* q, __half* k, const float* cos_table, const float* sin_table, const int* positions,
                            int tokens, int num_heads, int num_kv_heads, int head_dim) {
  const int half_dim = head_dim / 2;
  const int token = blockIdx.x;
  const int head = blockIdx.y * blockDim.y + threadIdx.y;
  const int group = num_heads / num_kv_heads;
  if (head >= num_heads) return;
  const int position = positions[token];
  for (int i = threadIdx.x; i < half_dim; i += blockDim.x) {
    const float c = cos_table[position * half_dim + i], s = sin_table[position * half_dim + i];
    __half* row = q + (token * num_heads + head) * head_dim;
    const float a = __half2float(row[i]), b = __half2float(row[i + half_dim]);
    row[i] = __float2half(a * c - b * s);
    row[i + half_dim] = __float2half(b * c + a * s);
    if (head % group == 0) {
      __half* key = k + (token * num_kv_heads + head / group) * head_dim;
      const float x = __half2float(key[i]), y = __half2float(key[i + half_dim]);
      key[i] = __float2half(x * c - y * s);
      key[i + half_dim] = __float2half(y * c + x * s);
    }
  }
}

void rope(__half* q, __half* k, const float* cos_table, const float* sin_table, const int* positions, int tokens,
          int num_heads, int num_kv_heads, int head_dim, cudaStream_t stream) {
  dim3 block(32, 8);
  dim3 grid(tokens, (num_heads + block.y - 1) / block.y);
  rope_kernel<<<grid, block, 0, stream>>>(q, k, cos_table, sin_table, positions, tokens, num_heads, num_kv_heads,
                                          head_dim);
}
