// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a starting kernel for a task without a seed from the task's oracle.
//
// The oracle's results are doubles in `ref:NAME`; a candidate writes the tensors themselves. So each `ref:NAME` becomes
// a workspace of doubles, and one more step per output rounds that workspace into the tensor. The oracle's code is
// unchanged, so the candidate is correct by construction, and as slow as the oracle: a faster version may still be
// slow.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Converts the text. kInvalidArgument, naming the task and the remedy (a seed), for an oracle that is not a launch
// plan.
Result<std::string> ReferenceFromOracle(const Task& task);

}  // namespace hone
