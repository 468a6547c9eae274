// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A sieve is a worker without a GPU: it runs the small cases of a queue's candidates on the simulated GPU before a
// worker with a GPU judges them. Candidates that it refuses take no GPU time; for the others it passes its simulated
// verdict on, so that the GPU's worker does not simulate again.
#pragma once

#include <optional>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/bundle.h"

namespace hone {

struct Sieved {
  bool refused = false;                  // the evaluation is the candidate's final verdict
  std::optional<Evaluation> evaluation;  // nullopt: nothing was simulated, and the judge simulates
};

// `simulated`: an evaluator of a simulated GPU. The small cases are those that a judge with a GPU would simulate
// (join_verdicts.h). Nothing is simulated if the request turned that off, if the candidate is more than a source with
// device code, if the task's reference is a PyTorch module, or if no case is small enough. A Status: this machine
// failed.
Result<Sieved> SieveBundle(Evaluator& simulated, const SpoolBundle& bundle, const EvaluationProgress& progress = {});

}  // namespace hone
