// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes the evaluator over given backends. MakeEvaluator uses it, and so do tests, whose GPU is a fake.
#pragma once

#include <functional>
#include <memory>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/evaluate/backend.h"

namespace hone {

using BackendFactory = std::function<Result<std::unique_ptr<Backend>>()>;

// Makes the evaluator that judges on `backend`. `simulated` makes the simulated GPU that runs small cases beside a GPU
// (second_device.h); it is called when the first candidate needs it. Empty: there is no simulated GPU.
std::unique_ptr<Evaluator> MakeLocalEvaluator(std::unique_ptr<Backend> backend, BackendFactory simulated,
                                              const EvaluatorOptions& options);

}  // namespace hone
