// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which way misses come faster on this machine (feature_storage.h, MissPath).
#pragma once

#include "hone/base/status.h"

namespace hone::gnn::cuda {

class DeviceGraph;

struct MissTimes {
  double zero_copy_ms = 0;  // of an outermost hop, median of kRepeats
  double staged_ms = 0;
};

// Runs the outermost hop of some thousand evenly spaced nodes both ways, on an otherwise idle device. The graph is left
// as it was. kInvalidArgument for one that has no staging room.
Result<MissTimes> MeasureMissPaths(DeviceGraph& graph, int fanout);

}  // namespace hone::gnn::cuda
