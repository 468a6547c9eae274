// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A sieve: a worker without a GPU that runs the small cases of a queue's candidates on the simulated GPU, before a
// worker with a GPU judges them. What it can refuse takes no GPU's time; what it lets through takes its simulated
// verdict along, so that the GPU's worker does not simulate again.
#pragma once

#include <optional>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/bundle.h"

namespace hone {

struct Sieved {
  bool refused = false;                  // the evaluation is the candidate's final verdict
  std::optional<Evaluation> evaluation;  // nullopt: nothing was simulated, and the judge does it as without a sieve
};

// `simulated`: an evaluator of a simulated GPU. The small cases are those that a judge with a GPU would simulate
// (join_verdicts.h). Nothing is simulated where the request turned that off, where the candidate is no source with
// device code alone, where the task's reference is a PyTorch module, and where no case is small enough. A Status: this
// machine failed.
Result<Sieved> SieveBundle(Evaluator& simulated, const SpoolBundle& bundle, const EvaluationProgress& progress = {});

}  // namespace hone
