// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the simulator counted in one launch, as the fields that a GPU's counters fill (hone/tuner/profile.h).
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/profile.h"
#include "tuner/device/sim/image/source_lines.h"
#include "tuner/device/sim/model/sim_model.h"

namespace hone::sim {

// `counters`: scaled to the whole launch. `sites`: of the sampled blocks; their rates hold for all. Sites of one source
// line (an unrolled loop) are told as one.
KernelProfile DescribeLaunch(const std::string& kernel, const GpuModel& gpu, const LaunchShape& shape,
                             const LaunchCounters& counters, const ModelledTime& time, const std::vector<SiteReport>& sites,
                             SourceLines& lines);

}  // namespace hone::sim
