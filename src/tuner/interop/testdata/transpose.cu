// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel in a test program, for tests of `hone new`: sizes are numbers in main, the tile goes through shared memory.
#include <stdio.h>
#include <stdlib.h>

#define TILE 32
#define BLOCK_ROWS 8
#define DIV_UP(a, b) (((a) + (b)-1) / (b))

__global__ void transpose(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += BLOCK_ROWS)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += BLOCK_ROWS)
    if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char **argv) {
  const int width = 1024;
  const int height = 512;
  float *d_in, *d_out;
  cudaMalloc(&d_in, width * height * sizeof(float));
  cudaMalloc(&d_out, width * height * sizeof(float));
  dim3 block(TILE, BLOCK_ROWS);
  dim3 grid(DIV_UP(width, TILE), DIV_UP(height, TILE));
  transpose<<<grid, block>>>(d_out, d_in, width, height);
  cudaDeviceSynchronize();
  cudaFree(d_in);
  cudaFree(d_out);
  return 0;
}
