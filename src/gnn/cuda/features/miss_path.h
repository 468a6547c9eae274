// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures which way of reading misses is faster on this machine (feature_storage.h, MissPath).
#pragma once

#include "hone/base/status.h"

namespace hone::gnn::cuda {

class DeviceGraph;

struct MissTimes {
  // Medians over repeated runs, for the same rows: zero_copy_ms of the whole outermost hop that reads the rows itself,
  // staged_ms of the copies alone, because the rest of a hop with staged rows overlaps with the next batch's copies.
  double zero_copy_ms = 0;
  double staged_ms = 0;
  int64_t rows = 0;  // number of rows that staging copied
};

// Runs the outermost hop of some thousand arbitrary nodes both ways, on an otherwise idle device. The graph is left
// unchanged. kInvalidArgument for a graph without staging rows.
Result<MissTimes> MeasureMissPaths(DeviceGraph& graph, int fanout);

}  // namespace hone::gnn::cuda
