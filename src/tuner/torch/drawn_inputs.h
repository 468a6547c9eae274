// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a case's inputs are drawn, as JSON for a Python process that draws them with PyTorch.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns {tensor: {"shape", "dtype", "distribution", "low", "high", "scale", "offset", "order", "padding", "bound" of
// indices}} for each in and inout tensor.
Result<nlohmann::json> DrawnInputsJson(const Task& task, const Dims& dims);

}  // namespace hone
