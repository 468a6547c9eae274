// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts the simulator's counts of one launch to the fields that a GPU's counters fill (hone/tuner/profile.h).
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/profile.h"
#include "tuner/device/sim/image/source_lines.h"
#include "tuner/device/sim/model/sim_model.h"

namespace hone::sim {

// `counters`: scaled to the whole launch. `sites`: counted on the sampled blocks; their rates apply to all blocks. Sites
// of one source line (an unrolled loop) are merged.
KernelProfile DescribeLaunch(const std::string& kernel, const GpuModel& gpu, const LaunchShape& shape,
                             const LaunchCounters& counters, const ModelledTime& time, const std::vector<SiteReport>& sites,
                             SourceLines& lines);

}  // namespace hone::sim
