// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// ListDevices lists the devices of this machine on which candidates can be judged.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/candidate.h"

namespace hone {

struct DeviceList {
  std::vector<DeviceFacts> devices;  // GPUs first, then the simulated ones, the default of those first; "auto" is the first
  std::vector<std::string> missing;  // sentences that say what is missing and how to get it
};

// `cuda_home` and `cutlass_home` may be empty for the usual places. `search_path` lists folders of programs, as in
// PATH.
DeviceList ListDevices(const std::string& cuda_home, const std::string& cutlass_home, const std::string& search_path);

}  // namespace hone
