// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks before a run that all ranks have the same settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

// A setting that must be equal on all ranks, such as "--lr" and "0.003".
struct Setting {
  std::string name, value;
};

// Compares settings over all ranks. kInvalidArgument names the first setting that differs, its rank, both values, and a
// remedy. All ranks get the same answer. Collective.
Status AgreeOnSettings(Communicator& ranks, const std::vector<Setting>& own_settings);

// Returns OK if every rank's status is OK; otherwise the same error on all ranks: the error of the lowest rank that
// failed, preceded by its name unless all failed alike. Collective.
Status AgreeOnStatus(Communicator& ranks, std::string_view what, const Status& own_status);

}  // namespace hone::gnn
