// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that make sure, before they begin, that they mean the same run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

// Something that must be equal on all ranks: "--lr" and "0.003".
struct Setting {
  std::string name, value;
};

// Collective. kInvalidArgument names the first setting that differs, the rank that has it, both values, and what to do.
// All ranks get the same answer.
Status AgreeOnSettings(Communicator& ranks, const std::vector<Setting>& mine);

// Collective. Ok when every rank's status is; otherwise the same error on all ranks: that of the lowest rank that
// failed, with its name before it unless all failed alike.
Status AgreeOnStatus(Communicator& ranks, std::string_view what, const Status& mine);

}  // namespace hone::gnn
