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

// Returns every metric that a field names, in the table's order.
std::vector<std::string> ProfileMetrics();

// Fills fields from counted metrics, and fields derived from several (bytes of device memory, passes over shared
// memory). NaN and infinity, which a counter reports when nothing happened, are left out. Sets the duration too.
void FillFromMetrics(const std::map<std::string, double>& metrics, KernelProfile* kernel);

}  // namespace hone
