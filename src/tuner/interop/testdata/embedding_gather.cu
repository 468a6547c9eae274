// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table chosen by an index: the size of the table is nowhere in the code. For tests of `hone new`.
#include <cuda_fp16.h>

__global__ void embedding_gather_kernel(const __half* table, const int* ids, __half* out, int tokens, int width) {
  const int token = blockIdx.x;
  const int id = ids[token];
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    out[token * width + i] = table[(long long)id * width + i];
  }
}

// table: [vocabulary, width], ids: [tokens]
void embedding_gather(const __half* table, const int* ids, __half* out, int tokens, int width, cudaStream_t stream) {
  embedding_gather_kernel<<<tokens, 256, 0, stream>>>(table, ids, out, tokens, width);
}
