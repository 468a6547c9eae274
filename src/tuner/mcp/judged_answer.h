// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats an evaluation as a tool's answer: text and fields, each within the budget, and the address of the complete
// one.
#pragma once

#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/mcp/tool.h"
#include "tuner/mcp/toolbox.h"

namespace hone::mcp {

ToolAnswer JudgedAnswer(const Toolbox& toolbox, const Evaluator& evaluator, const Evaluation& evaluation);
// Returns a sentence for a model about what to do after this verdict.
std::string NextAfter(const Evaluation& evaluation);
// Returns the schema of such an answer.
Json JudgedSchema();

// Reports a call's progress from the judge's activity.
EvaluationProgress TellProgress(const CallContext& context);

}  // namespace hone::mcp
