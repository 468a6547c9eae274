// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An evaluator that judges nothing: it repeats what was judged in a recorded run. With recorded replies beside it
// (model/replay_provider.h) a run can be repeated to the letter on a machine without the device.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/evaluator.h"
#include "hone/tuner/run_store.h"

namespace hone {

// Reads all evaluations of the run at once; `store` is not kept. An evaluation is known by its candidate, its binding,
// its rival and whether it was the final one; a question that the run never asked is answered with kNotFound.
// Thread-safe.
Result<std::unique_ptr<Evaluator>> MakeRecordedEvaluator(RunStore& store, const std::string& run);

}  // namespace hone
