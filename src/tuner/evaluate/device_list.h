// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What can be judged on, on this machine.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/candidate.h"

namespace hone {

struct DeviceList {
  std::vector<DeviceFacts> devices;  // GPUs first, then the simulated ones, the default of those first; "auto" is the first
  std::vector<std::string> missing;  // sentences: what is not here and how to get it
};

// Empty `cuda_home` and `cutlass_home`: the usual places. `search_path`: folders of programs, as in PATH.
DeviceList ListDevices(const std::string& cuda_home, const std::string& cutlass_home, const std::string& search_path);

}  // namespace hone
