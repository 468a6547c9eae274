// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Between the names of NVIDIA's counters and Hone's fields.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/tuner/profile.h"

namespace hone {

// Every metric that a field names, in the table's order.
std::vector<std::string> ProfileMetrics();

// Fields from counted metrics, and what follows from several (bytes of device memory, passes over shared memory). NaN
// and infinity, a counter's way to say that nothing happened, are left out. Sets the duration too.
void FillFromMetrics(const std::map<std::string, double>& metrics, KernelProfile* kernel);

}  // namespace hone
