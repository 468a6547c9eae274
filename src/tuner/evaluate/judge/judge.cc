// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/judge.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/judge/beyond_gate.h"
#include "tuner/evaluate/judge/check_gates.h"
#include "tuner/evaluate/judge/judgement.h"
#include "tuner/evaluate/judge/modelled_time.h"
#include "tuner/evaluate/judge/serve.h"
#include "tuner/evaluate/judge/time_gates.h"

namespace hone {
namespace {

// Runs the gates that the request asks for, in order.
Result<Gate> AskTheGates(Judgement& judgement) {
  const EvaluationRequest& options = judgement.request.options;
  const Result<Gate> loaded = LoadPrograms(judgement);
  if (!options.check_cases) judgement.evaluation.labels.push_back("unchecked");
  HONE_RETURN_UNLESS_PASSED(loaded);
  if (judgement.request.vast_alone) return CheckVastWhole(judgement);
  if (options.check_cases) {
    HONE_RETURN_UNLESS_PASSED(CheckCases(judgement));
    HONE_RETURN_UNLESS_PASSED(CheckBeyond(judgement));
    if (judgement.facts().modelled) HONE_RETURN_UNLESS_PASSED(CheckVast(judgement));
  }
  if (options.time) {
    if (judgement.request.before_timing) judgement.request.before_timing();
    HONE_RETURN_UNLESS_PASSED(TimeCases(judgement));
  }
  return Gate::kPassed;
}

// Refuses a candidate that never ran, because its plan leaves every shape to the seed.
void RefuseWithoutALaunch(Judgement& judgement) {
  if (judgement.candidate_ran) return;
  const std::optional<Dims> timed = judgement.request.options.time ? std::nullopt : ServedWhenTimed(judgement);
  if (timed) {
    judgement.Stop(Verdict::kUnsupported,
                   fmt::format("no alternative of the plan holds for any shape that is checked without timing, so the "
                               "candidate never ran; one holds for {}: judge it with its timed cases",
                               DimsText(*timed)));
  } else {
    judgement.Stop(Verdict::kLaunchError, "no alternative of the plan holds for any case: the candidate never ran");
  }
}

}  // namespace

Result<Evaluation> Judge(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress) {
  HONE_CHECK(request.task && request.candidate && (request.oracle || request.reference),
             "Judge needs a task, a candidate, and an oracle or a reference");
  HONE_CHECK(request.options.seed != 0, "Judge needs a seed");
  Judgement judgement(session, request, progress);
  HONE_ASSIGN_OR_RETURN(const Gate gate, AskTheGates(judgement));
  if (gate == Gate::kPassed && !request.vast_alone) {
    if (request.options.check_cases) NoteUntested(judgement);
    RefuseWithoutALaunch(judgement);
  }
  Evaluation& evaluation = judgement.evaluation;
  judgement.session.AddTo(evaluation.metrics);
  if (evaluation.verdict != Verdict::kOk) {
    // Timings exist only with the verdict ok.
    std::erase_if(evaluation.cases, [](const CaseResult& c) { return c.role == CaseRole::kTime; });
  } else {
    evaluation.geomean_speedup = GeomeanSpeedup(evaluation.cases);
  }
  return std::move(evaluation);
}

}  // namespace hone
