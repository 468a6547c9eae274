// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CheckRequest refuses requests that make no sense. The evaluator calls it, and so do both sides of a spool, so that
// the judge never sees such a request.
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns kInvalidArgument for a number out of its range, naming the field and the range, and for text that is not
// UTF-8, naming the file.
Status CheckRequest(const Task& task, const EvaluationRequest& request);

}  // namespace hone
