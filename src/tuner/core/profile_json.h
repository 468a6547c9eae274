// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiles in an evaluation's JSON.
#pragma once

#include "base/json_fields.h"
#include "hone/tuner/profile.h"

namespace hone {

nlohmann::ordered_json ProfileToJson(const Profile& profile);
void ReadProfile(JsonFields& fields, Profile& profile);

}  // namespace hone
