// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes the evaluator over given backends: MakeEvaluator uses it, and so do tests, whose GPU is made of
// lambdas.
#pragma once

#include <functional>
#include <memory>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/backend.h"

namespace hone {

using BackendFactory = std::function<Result<std::unique_ptr<Backend>>()>;

// `simulated` makes the simulated GPU beside a measured `backend` when the first candidate needs it (second_device.h);
// empty: there is none.
std::unique_ptr<Evaluator> MakeLocalEvaluator(std::unique_ptr<Backend> backend, BackendFactory simulated,
                                              const EvaluatorOptions& options);

}  // namespace hone
