// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which way misses come faster on this machine (feature_storage.h, MissPath).
#pragma once

#include "hone/base/status.h"

namespace hone::gnn::cuda {

class DeviceGraph;

struct MissTimes {
  // Medians, of the same rows: the outermost hop that reads them itself; and their copies alone, for the rest of a hop
  // whose rows are staged runs beside the next batch's copies.
  double zero_copy_ms = 0;
  double staged_ms = 0;
  int64_t rows = 0;  // that were copied
};

// Runs the outermost hop of some thousand nodes, drawn from all, both ways, on an otherwise idle device. The graph is left
// as it was. kInvalidArgument for one that has no staging room.
Result<MissTimes> MeasureMissPaths(DeviceGraph& graph, int fanout);

}  // namespace hone::gnn::cuda
