// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// DeviceFacts as JSON: how a run remembers what it ran on, and how programs among the providers are told.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hone/tuner/candidate.h"

namespace hone {

nlohmann::json DeviceFactsToJson(const DeviceFacts& facts);
// Fields that are absent or of another type keep the value they have in `defaults`.
DeviceFacts DeviceFactsFromJson(const nlohmann::json& json, const DeviceFacts& defaults);

}  // namespace hone
