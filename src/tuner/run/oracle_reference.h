// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel to start from for a task without a seed: the task's oracle, made into a candidate.
//
// The oracle's results are doubles in `ref:NAME`; a candidate has the tensors themselves. So each `ref:NAME` becomes
// a workspace of doubles, and one more step per output rounds that workspace into the tensor. Nothing of the oracle's
// code changes, which makes the candidate right by construction, and as slow as the oracle: what is faster than it
// may still be slow.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Pure text. kInvalidArgument, naming the task and the remedy (a seed), for an oracle that is no launch plan.
Result<std::string> ReferenceFromOracle(const Task& task);

}  // namespace hone
