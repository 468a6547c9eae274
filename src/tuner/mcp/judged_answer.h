// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An evaluation as a tool answers it: text and fields, each within the budget, and the address of the whole.
#pragma once

#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/mcp/tool.h"
#include "tuner/mcp/toolbox.h"

namespace hone::mcp {

ToolAnswer JudgedAnswer(const Toolbox& toolbox, const Evaluator& evaluator, const Evaluation& evaluation);
// What to make of a verdict: a sentence for a model.
std::string NextAfter(const Evaluation& evaluation);
// The schema of such an answer.
Json JudgedSchema();

// Tells a call's progress by what the judge is at.
EvaluationProgress TellProgress(const CallContext& context);

}  // namespace hone::mcp
