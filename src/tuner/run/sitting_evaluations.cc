// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a sitting's evaluations: of candidates, for profiles, of proposed cases, and the final one.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/run/case_vetting.h"
#include "tuner/run/sitting.h"

namespace hone {
namespace {

constexpr int kProfileQuads = 20;  // measurements (quads) of a version that is only profiled: no decision depends on its time

// Returns an error if the verdict shows that the environment failed and not the candidate.
Result<Evaluation> ErrorIfDeviceLost(Result<Evaluation> evaluation) {
  if (evaluation.ok() && evaluation->verdict == Verdict::kDeviceLost) {
    return Status::Unavailable("the device was lost: " + evaluation->detail);
  }
  if (evaluation.ok() && evaluation->verdict == Verdict::kInvalidTask) {
    return Status::InvalidArgument("the task cannot be judged: " + evaluation->detail);
  }
  return evaluation;
}

}  // namespace

// Returns the task, with the tester's accepted cases once all cases are vetted.
const Task& Sitting::FrozenTask() {
  if (!extended_ && view().cases_read && view().CasesFrozen()) {
    extended_ = true;
    std::vector<ProposedCase> accepted;
    for (const ProposedCase& c : view().cases) {
      if (c.state == "accepted") accepted.push_back(c);
    }
    // This cannot fail: each case was accepted in a task of its own.
    if (Result<Task> task = WithCheckCases(*d_.task, accepted); task.ok()) frozen_ = std::move(*task);
  }
  return frozen_;
}

// Evaluates on a background thread. `done` is called on the loop's thread with the evaluation, unless the environment
// failed or the evaluation is pending. Does nothing if `key` already runs or waits.
void Sitting::Judge(const std::string& key, EvaluationRequest request, const Task& task,
                    std::function<Status(const Evaluation&)> done) {
  if (work_.IsRunning(key) || pending_evaluations_.contains(key)) return;
  work_.Start(key, [this, key, request = std::move(request), task, done = std::move(done)]() -> BackgroundWork::Step {
    Result<Evaluation> evaluation = ErrorIfDeviceLost(
        d_.evaluator->Evaluate(task, request, [this, &request](const std::string& phase, const std::string& detail) {
          // The detail may begin with the phase's name ("check" is a case's role too), which is not repeated.
          ReportActivity(request.name + ": " + (detail.starts_with(phase + " ") ? detail : phase + " " + detail));
        }));
    return [this, key, evaluation = std::move(evaluation), done] {
      if (evaluation.status().code() == StatusCode::kPending) {
        pending_evaluations_.insert(key);
        ++waiting_evaluations_;
        waiting_text_ = evaluation.status().message();
        return Status::Ok();
      }
      HONE_RETURN_IF_ERROR(evaluation.status());
      return done(*evaluation);
    };
  });
}

// Returns the request to judge `node` against `incumbent` (-1: the seed). Attempts get fewer input sets and no warm times;
// the final evaluation gets the evaluator's defaults.
Result<EvaluationRequest> Sitting::RequestFor(int64_t node, int64_t incumbent, bool is_final) {
  EvaluationRequest request;
  HONE_ASSIGN_OR_RETURN(request.source, SourceOf(node));
  request.name = NodeFileName(view(), node);
  HONE_ASSIGN_OR_RETURN(request.incumbent_source, SourceOf(std::max<int64_t>(incumbent, 0)));
  request.incumbent_name = NodeFileName(view(), std::max<int64_t>(incumbent, 0));
  if (!is_final) {
    request.correctness_trials = view().options.correctness_trials;
    request.warm = false;
  }
  return request;
}

// Judges node `id`, unless that is in progress.
Status Sitting::StartEvaluation(int64_t id) {
  const int64_t incumbent = id == 0 ? -1 : view().node(id).incumbent;
  const std::string key = fmt::format("evaluation {}", id);
  if (work_.IsRunning(key) || pending_evaluations_.contains(key)) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(id, incumbent, /*final=*/false));
  // On a spool, where each submission to the device is expensive, it is cheaper to profile now than later. On the simulator a profile is cheap, and its counts explain why a version is faster or slower.
  request.profile = view().options.profile && (view().options.device.starts_with("spool:") ||
                                               (view().version >= 5 && d_.evaluator->facts().modelled));
  Judge(key, std::move(request), id == 0 ? *d_.task : FrozenTask(), [this, id, incumbent](const Evaluation& e) {
    return Append(NodeJudged{id, incumbent, e});
  });
  return Status::Ok();
}

// Profiles a version whose profile prompts will show. Several attempts that need it share one evaluation. The version
// is timed against itself, because only floors and counts are used.
Status Sitting::StartProfile(int64_t id) {
  const std::string key = fmt::format("profile {}", id);
  if (work_.IsRunning(key) || pending_evaluations_.contains(key)) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(id, id, /*final=*/false));
  request.profile = true;
  request.check_cases = false;
  request.correctness_trials = 1;
  request.max_quads = kProfileQuads;
  Judge(key, std::move(request), *d_.task, [this, id](const Evaluation& e) { return Append(NodeProfiled{id, e}); });
  return Status::Ok();
}

// Judges the seed on each proposed case. A case on which the seed is correct is accepted, and every candidate must be
// correct on it.
Status Sitting::VetCases() {
  if (!view().cases_read || view().CasesFrozen()) return Status::Ok();
  for (size_t i = 0; i < view().cases.size(); ++i) {
    const ProposedCase& proposed = view().cases[i];
    if (proposed.state != "proposed") continue;
    const std::string key = fmt::format("case {}", i);
    if (work_.IsRunning(key) || pending_evaluations_.contains(key)) continue;
    const auto decide = [this, i](bool accepted, const std::string& detail, std::optional<Evaluation> evaluation) {
      return Append(CaseVetted{i, accepted, detail, std::move(evaluation)});
    };
    Result<Task> task = VettingTask(*d_.task, proposed);
    if (!task.ok()) {
      HONE_RETURN_IF_ERROR(decide(/*accepted=*/false, task.status().message(), std::nullopt));
      continue;
    }
    HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(0, -1, /*final=*/false));
    request.time = false;
    request.correctness_trials = 1;
    Judge(key, std::move(request), *task, [this, decide](const Evaluation& e) {
      const bool right = e.verdict == Verdict::kOk;
      return decide(right,
                    right ? ""
                          : fmt::format("{} is not right there: {}", view().from_oracle ? "the oracle" : "the seed",
                                        VerdictName(e.verdict)),
                    e);
    });
  }
  return Status::Ok();
}

// Judges the best node once more, against the seed.
Status Sitting::StartFinal(int64_t id) {
  HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(id, 0, /*final=*/true));
  request.libraries = view().options.libraries;
  Judge("final", std::move(request), FrozenTask(), [this, id](const Evaluation& e) {
    return Append(FinalJudged{id, e});
  });
  return Status::Ok();
}

}  // namespace hone
