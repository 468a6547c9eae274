// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// ListDevices lists the devices of this machine on which candidates can be judged, ListGpus only its GPUs, and GpuOrdinal reads their IDs.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "hone/tuner/candidate.h"

namespace hone {

struct DeviceList {
  std::vector<DeviceFacts> devices;  // GPUs, then simulated GPUs, whose default comes first; "auto" is the first of all
  std::vector<std::string> missing;  // sentences that say what is missing and how to get it
};

// Returns the devices. `cuda_home` and `cutlass_home` may be empty for the usual places. `search_path` lists folders of
// programs, as PATH does.
DeviceList ListDevices(const std::string& cuda_home, const std::string& cutlass_home, const std::string& search_path);

// Returns the GPUs of this machine; empty: there is none, or this build cannot use one. Unlike ListDevices, does not look
// for tools, which takes tenths of a second.
std::vector<DeviceFacts> ListGpus();

// Returns the ordinal in the ID of a device, such as "cuda:1"; -1 where the ID is not a GPU's.
inline int GpuOrdinal(const std::string& id) { return id.starts_with("cuda:") ? std::atoi(id.c_str() + 5) : -1; }

}  // namespace hone
