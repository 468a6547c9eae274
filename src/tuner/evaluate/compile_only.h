// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An Evaluator for machines without a GPU that compiles candidates for one and runs nothing. It finds what a simulated
// GPU cannot: whether a kernel with a GPU's own instructions (wgmma, TMA, clusters) still compiles for it.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"

namespace hone {

// `architecture` is "sm_90a", "sm_80", …; of `options` the places and the compiler's limits count. An evaluation is
// `ok` if the plan can be read and every module compiles, and has the label "compiled_only": nothing was checked or
// timed. Candidates in host mode and of machine code are `unsupported`. kInvalidArgument: not the name of an
// architecture, or one that NVRTC does not know; kUnavailable: no NVRTC, or a build without CUDA.
Result<std::unique_ptr<Evaluator>> MakeCompileOnlyEvaluator(const EvaluatorOptions& options,
                                                            const std::string& architecture);

}  // namespace hone
