// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code of sums over the rows of a batch, column by column, in an order that neither timing nor the envelope
// changes. Each piece of kPieceRows or kLongPieceRows rows is summed by a block of kSumBlock threads that has a strip
// of kStrip columns. The pieces are then joined by blocks with kJoinColumns columns and kJoinLanes threads per column.
#pragma once

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/kernels/norm_kernels.h"

namespace hone::gnn::cuda {

inline constexpr int kSumBlock = 256;
inline constexpr int kSumWarps = kSumBlock / 32;
inline constexpr int kStrip = 256;          // columns of a strip: one vector of 8 per lane
inline constexpr int kPieceRows = 64;       // rows of a piece
inline constexpr int kLongPieceRows = 128;  // rows of a piece of a first layer, which has many rows
inline constexpr int kJoinColumns = 8;      // 32 adjacent bytes of fp32
inline constexpr int kJoinLanes = kSumBlock / kJoinColumns;

// Returns the number of pieces of a matrix, and the grid of blocks that sum them: [pieces, strips].
inline int PieceCount(int32_t padded_rows, int piece_rows = kPieceRows) {
  return (padded_rows + piece_rows - 1) / piece_rows;
}
inline dim3 SumGrid(int32_t padded_rows, int32_t width, int piece_rows = kPieceRows) {
  return dim3(static_cast<unsigned>(PieceCount(padded_rows, piece_rows)),
              static_cast<unsigned>((width + kStrip - 1) / kStrip));
}
// Returns the number of blocks that add up the pieces' sums, kJoinColumns columns each.
inline int JoinBlockCount(int32_t width) { return (width + kJoinColumns - 1) / kJoinColumns; }

// Makes two sums for each column of a strip from the warps' sums, in warp order; thread t gets those of column t. Every
// thread of the block must call it, with a barrier between two calls on the same memory.
struct StripSums {
  float values[2][kSumWarps][kStrip];
};
__device__ inline void JoinWarps(StripSums& shared, const Float8& a, const Float8& b, float& sum_a, float& sum_b) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    shared.values[0][warp][lane * 8 + static_cast<unsigned>(i)] = a.v[i];
    shared.values[1][warp][lane * 8 + static_cast<unsigned>(i)] = b.v[i];
  }
  __syncthreads();
  sum_a = sum_b = 0;
  for (int w = 0; w < kSumWarps; ++w) {
    sum_a += shared.values[0][w][threadIdx.x];
    sum_b += shared.values[1][w][threadIdx.x];
  }
}

// Return the column and the lane of this thread among the kJoinLanes that add up one column.
__device__ inline int32_t JoinColumn() {
  return static_cast<int32_t>(blockIdx.x * kJoinColumns + threadIdx.x % kJoinColumns);
}
__device__ inline int32_t JoinLane() { return static_cast<int32_t>(threadIdx.x / kJoinColumns); }
// Returns the sum over the lanes of a column, in order. Every thread of the block must call it; `shared` has kSumBlock
// values.
__device__ inline double JoinLanes(double value, double* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  double sum = 0;
  for (unsigned l = 0; l < kJoinLanes; ++l) sum += shared[l * kJoinColumns + threadIdx.x % kJoinColumns];
  __syncthreads();
  return sum;
}

}  // namespace hone::gnn::cuda
