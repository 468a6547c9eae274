// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Returns an evaluation as a tool's answer: text and JSON, each within the budget (answer_budget.h), and a link to the
// complete evaluation.
#pragma once

#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/mcp/tool.h"
#include "tuner/mcp/toolbox.h"

namespace hone::mcp {

ToolAnswer JudgedAnswer(const Toolbox& toolbox, const Evaluator& evaluator, const Evaluation& evaluation);
// Returns a sentence for a model about what to do after this verdict.
std::string NextAfter(const Evaluation& evaluation);
// Returns the JSON schema of JudgedAnswer's JSON.
Json JudgedSchema();

// Returns a callback for an evaluator that reports its phases as the progress of a call.
EvaluationProgress TellProgress(const CallContext& context);

}  // namespace hone::mcp
