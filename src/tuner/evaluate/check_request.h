// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CheckRequest refuses requests that make no sense. Every way in which a request arrives calls it (the evaluator, and
// the spool on both sides), so that the judge need not be prepared for such requests.
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns kInvalidArgument for a number out of its range, with the field and its range, and for text that is not UTF-8,
// with the name of the file.
Status CheckRequest(const Task& task, const EvaluationRequest& request);

}  // namespace hone
