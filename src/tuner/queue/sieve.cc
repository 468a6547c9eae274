// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/sieve.h"

#include <utility>

#include "tuner/core/task/torch_module.h"
#include "tuner/evaluate/join_verdicts.h"

namespace hone {

Result<Sieved> SieveBundle(Evaluator& simulated, const SpoolBundle& bundle, const EvaluationProgress& progress) {
  if (!simulated.facts().modelled)
    return Status::InvalidArgument("a sieve runs candidates on the simulated GPU: --device sim");
  const Result<Candidate> candidate = ParseCandidate(bundle.request.source, bundle.request.name, bundle.task);
  // A candidate whose plan cannot be parsed goes on, so that the evaluator refuses it with its own message.
  const bool elsewhere = candidate.ok() && (candidate->plan.host_mode || !candidate->plan.machine_code.empty());
  if (!bundle.request.simulate || !bundle.request.check_cases || elsewhere || HasTorchModule(bundle.task))
    return Sieved{};
  const Task small_task = SmallCases(bundle.task);
  if (small_task.cases.empty()) return Sieved{};
  EvaluationRequest request = bundle.request;
  request.seed = 0;
  request.time = request.profile = request.sass = request.libraries = false;
  request.incumbent_source.clear();
  request.only_time_cases.clear();
  Sieved sieved;
  HONE_ASSIGN_OR_RETURN(sieved.evaluation, simulated.Evaluate(small_task, request, progress));
  sieved.refused = RefusedBeforeAGpu(*sieved.evaluation);
  if (sieved.refused && sieved.evaluation->verdict != Verdict::kParseError) {
    sieved.evaluation->detail =
        "on the simulated GPU, where small cases run before a GPU judges: " + sieved.evaluation->detail;
  }
  // The simulated GPU has another compiler, so its compile error does not mean that the GPU's compiler fails.
  if (sieved.evaluation->verdict == Verdict::kCompileError) {
    sieved.evaluation->verdict = Verdict::kUnsupported;
    sieved.evaluation->detail = "it does not compile there: " + sieved.evaluation->detail;
  }
  return sieved;
}

}  // namespace hone
