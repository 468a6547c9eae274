// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts RunOptions from and to JSON, the form in a run's first event.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/strategy.h"

namespace hone {

nlohmann::json RunOptionsToJson(const RunOptions& options);
// Reads options; absent fields keep their defaults, so that logs of older versions stay readable.
Result<RunOptions> RunOptionsFromJson(const nlohmann::json& json);

}  // namespace hone
