// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The compile-only evaluator compiles candidates for a GPU on a machine that has no GPU, and runs nothing. It finds what a
// simulated GPU cannot: whether a kernel with instructions of one GPU generation (wgmma, TMA, clusters) still compiles.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"

namespace hone {

// Makes the evaluator for `architecture`, such as "sm_90a" or "sm_80". Of `options`, only the folders and the
// compiler's limits are used. An evaluation is `ok` if the plan can be read and every module compiles, and has the
// label "compiled_only": nothing was checked or timed. Candidates in host mode and of machine code are `unsupported`.
// Returns kInvalidArgument if `architecture` is no name of one or NVRTC does not know it, and kUnavailable without
// NVRTC or in a build without CUDA.
Result<std::unique_ptr<Evaluator>> MakeCompileOnlyEvaluator(const EvaluatorOptions& options,
                                                            const std::string& architecture);

}  // namespace hone
