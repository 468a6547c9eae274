// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the gathering half of GraphSAGE's outermost hop: the mean of the drawn rows next to each node's own row.
//
// Two kernels use this code: that of sample_mean.h draws too, and for that of staged_mean.h the rows' places were
// recorded before. Sums run in the same order in both, so that both give the same bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/row_loads.cuh"

namespace hone::gnn::cuda {

// Gathers the 32 / kLanes rows from `base` on, of `rows` rows, by a whole warp. The warp gathers several rows side by
// side, each lane a part of a row, with all of a row's neighbors in flight before the first is added.
//   own       in lane l: the place of row base + l / kLanes
//   count     in lane l: the number of neighbors of that row
//   neighbor  in lane l: the place of that row's neighbor l % kLanes, if it is below count
//   out       [rows, 2 * 8 * vectors] = [mean | own row]
template <int kLanes, typename Rows, typename Own, typename Place, typename Out>
__device__ inline void MeansOfDrawn(const Rows& features, int vectors, int fanout, int32_t base, int32_t rows, Own own,
                                    int32_t count, Place neighbor, Out* out) {
  using In = std::remove_cv_t<std::remove_pointer_t<decltype(features.At(0))>>;
  constexpr int kRows = 32 / kLanes;
  constexpr int kAhead = kLanes == 8 ? 5 : 4;
  const int lane = static_cast<int>(threadIdx.x % 32);
  int parts = 1;  // lanes per feature row
  while (parts < vectors && parts < 32) parts *= 2;
  const int lane_groups = 32 / parts, lane_group = lane / parts, part = lane % parts;
  const int rows_at_once =
      lane_groups < kRows
          ? lane_groups
          : kRows;  // rows that the warp reads side by side; several lane groups divide the neighbors of one row
  const int groups_a_row = lane_groups / rows_at_once;
  const int group_of_row = lane_group % groups_a_row;

  for (int r = 0; r < kRows; r += rows_at_once) {
    const int row_in_warp = r + lane_group / groups_a_row;
    const int32_t row = base + row_in_warp;
    const int32_t neighbors = __shfl_sync(kFullWarp, count, row_in_warp * kLanes);
    const auto row_place = __shfl_sync(kFullWarp, own, row_in_warp * kLanes);
    for (int first = 0; first < vectors; first += parts) {
      const int vector = first + part;
      const bool reads = row < rows && vector < vectors;
      RawOf<In> own_raw;
      if (reads && group_of_row == 0) own_raw = LoadRaw(features.At(row_place) + vector * 8);
      Float8 sum = {};
      for (int j = 0; j < fanout; j += kAhead * groups_a_row) {
        RawOf<In> raw[kAhead];
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          const int at = j + a * groups_a_row + group_of_row;
          const auto place = __shfl_sync(kFullWarp, neighbor, row_in_warp * kLanes + at % kLanes);
          if (reads && at < neighbors) raw[a] = LoadRaw(features.At(place) + vector * 8);
        }
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          if (!reads || j + a * groups_a_row + group_of_row >= neighbors) continue;
          const Float8 x = Widen(raw[a]);
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] += x.v[i];
        }
      }
      for (int offset = parts; offset < parts * groups_a_row; offset *= 2) {
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
      }
      if (!reads || group_of_row != 0) continue;
      const float scale = neighbors > 0 ? 1.0f / static_cast<float>(neighbors) : 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) sum.v[i] *= scale;
      Out* to = out + static_cast<int64_t>(row) * vectors * 16 + vector * 8;
      Store8(to, sum);
      Store8(to + vectors * 8, Widen(own_raw));
    }
  }
}

}  // namespace hone::gnn::cuda
