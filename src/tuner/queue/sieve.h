// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A sieve is a worker without a GPU. It runs the small cases of a queue's candidates on the simulated GPU before a
// worker with a GPU judges them. Candidates that it refuses take no GPU time. For the others it passes on its simulated
// verdict, so that the worker with the GPU does not simulate again.
#pragma once

#include <optional>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/bundle.h"

namespace hone {

struct Sieved {
  bool refused = false;                  // true: `evaluation` is the candidate's final verdict
  std::optional<Evaluation> evaluation;  // the simulated verdict; nullopt: nothing was simulated, so the judge does it
};

// Simulates the bundle's candidate. `simulated` is an evaluator of a simulated GPU. The small cases are those that a
// judge with a GPU would simulate (join_verdicts.h). Nothing is simulated if the request turned that off, if the
// candidate is in host mode or of machine code, if the task's reference is a PyTorch module, or if no case is small
// enough. A Status means that this machine failed.
Result<Sieved> SieveBundle(Evaluator& simulated, const SpoolBundle& bundle, const EvaluationProgress& progress = {});

}  // namespace hone
