// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates the names of NVIDIA's counters into Hone's fields.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/tuner/profile.h"

namespace hone {

// Returns the names of all metrics that the fields need, in the order of the table in profile_fields.cc.
std::vector<std::string> ProfileMetrics();

// Fills the duration and the fields of `kernel` from counted metrics. Some fields are derived from several metrics
// (bytes of device memory, passes over shared memory). NaN and infinity, which a counter gives when nothing happened,
// are left out.
void FillFromMetrics(const std::map<std::string, double>& metrics, KernelProfile* kernel);

}  // namespace hone
