// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses a different model for each role: a planner that reasons and a coder that writes need not be the same model.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"

namespace hone {

// Makes the provider. `fallback` answers for the roles that `by_role` does not name; null: there are no such roles.
std::unique_ptr<ModelProvider> MakeRoleProvider(std::map<std::string, std::unique_ptr<ModelProvider>> by_role,
                                                std::unique_ptr<ModelProvider> fallback);

}  // namespace hone
