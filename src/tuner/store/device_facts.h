// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts DeviceFacts to and from JSON, for run stores and for providers that are programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hone/tuner/candidate.h"

namespace hone {

nlohmann::json DeviceFactsToJson(const DeviceFacts& facts);
// Returns the facts in `json`. Fields that are absent or of another type keep their value in `defaults`.
DeviceFacts DeviceFactsFromJson(const nlohmann::json& json, const DeviceFacts& defaults);

}  // namespace hone
