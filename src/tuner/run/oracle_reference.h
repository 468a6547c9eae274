// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a starting kernel for a task without a seed from the task's oracle.
//
// An oracle writes its results as doubles to `ref:NAME`; a candidate writes to the tensors themselves. Therefore each
// `ref:NAME` becomes a workspace of doubles, and an additional step for each output rounds the workspace into the
// tensor. The oracle's code is unchanged, so that the candidate is correct by construction. It is as slow as the
// oracle, so that a version faster than it may still be slow.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns the candidate's text. kInvalidArgument, with the task's name and the remedy (a seed), for an oracle without a
// launch plan.
Result<std::string> ReferenceFromOracle(const Task& task);

}  // namespace hone
