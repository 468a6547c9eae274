// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// transpose as one would write it first: 32 x 32 tiles through shared memory, so that both the reads and the
// writes of a warp lie side by side; a column of padding keeps the tile's columns in different banks.
/*hone
[tune]
ROWS = [8, 4, 16, 32]      # rows of a tile that a block handles at once

[[launch]]
kernel = "transpose"
grid   = ["ceil_div(rows, 32) * ceil_div(columns, 32)"]
block  = ["32", "ROWS"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/

constexpr int kTile = 32;

__global__ void transpose(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns) {
  __shared__ float tile[kTile][kTile + 1];
  // One grid dimension, because the others hold only 65535 tiles.
  const long long tiles_across = (columns + kTile - 1) / kTile;
  const long long first_row = blockIdx.x / tiles_across * kTile;
  const long long first_column = blockIdx.x % tiles_across * kTile;

  const long long column = first_column + threadIdx.x;
  for (int i = threadIdx.y; i < kTile; i += blockDim.y) {
    const long long row = first_row + i;
    if (row < rows && column < columns) tile[i][threadIdx.x] = x[row * columns + column];
  }
  __syncthreads();
  const long long out_column = first_row + threadIdx.x;
  for (int i = threadIdx.y; i < kTile; i += blockDim.y) {
    const long long out_row = first_column + i;
    if (out_row < columns && out_column < rows) out[out_row * rows + out_column] = tile[threadIdx.x][i];
  }
}
