// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An inclusive scan of int32 along rows: a block a row, a tile at a time, with a carry. For tests of `hone new`.
#define TILE 256

__global__ void inclusive_scan(const int* in, int* out, int rows, int n) {
  __shared__ int tile[TILE];
  __shared__ int carry;
  int row = blockIdx.x;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int base = 0; base < n; base += TILE) {
    int i = base + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[row * n + i] : 0;
    __syncthreads();
    for (int step = 1; step < TILE; step *= 2) {
      int v = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
      __syncthreads();
      tile[threadIdx.x] += v;
      __syncthreads();
    }
    if (i < n) out[row * n + i] = tile[threadIdx.x] + carry;
    __syncthreads();
    if (threadIdx.x == TILE - 1) carry += tile[TILE - 1];
    __syncthreads();
  }
}

void scan(const int* in, int* out, int rows, int n) { inclusive_scan<<<rows, TILE>>>(in, out, rows, n); }
