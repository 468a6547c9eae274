// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an evaluation can be meant as it was asked for. Every door by which a request comes in asks this (the
// evaluator, the spool on both sides), so that the judge need not be prepared for what makes no sense.
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

// kInvalidArgument for numbers that cannot be meant, which names the field and what it may be; and for text that is no
// UTF-8, which names the file.
Status CheckRequest(const Task& task, const EvaluationRequest& request);

}  // namespace hone
