// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/compare_candidates.h"

namespace hone {

Result<ContestOutcome> CompareCandidates(Evaluator& evaluator, const Task& task, const Contest& contest,
                                         const EvaluationProgress& progress) {
  EvaluationRequest check;
  check.source = contest.incumbent_source;
  check.name = contest.incumbent_name;
  check.seed = contest.seed;
  check.time = false;
  ContestOutcome outcome;
  HONE_ASSIGN_OR_RETURN(outcome.evaluation, evaluator.Evaluate(task, check, progress));
  outcome.incumbent_right = outcome.evaluation.verdict == Verdict::kOk;
  if (!outcome.incumbent_right) return outcome;
  EvaluationRequest request;
  request.source = contest.challenger_source;
  request.name = contest.challenger_name;
  request.incumbent_source = contest.incumbent_source;
  request.incumbent_name = contest.incumbent_name;
  request.seed = contest.seed;
  request.libraries = contest.libraries;
  HONE_ASSIGN_OR_RETURN(outcome.evaluation, evaluator.Evaluate(task, request, progress));
  return outcome;
}

}  // namespace hone
