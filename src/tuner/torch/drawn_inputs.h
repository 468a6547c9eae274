// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes in JSON how a case's inputs are drawn, for a Python process that draws them with PyTorch.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns {tensor: {"shape", "dtype", "distribution", "low", "high", "scale", "offset", "order", "padding", and for
// indices "bound"}} for each tensor of role in or inout, at the sizes `dims`.
Result<nlohmann::json> DrawnInputsJson(const Task& task, const Dims& dims);

}  // namespace hone
