// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Returns the evaluations of a recorded run instead of judging. Together with recorded replies
// (model/replay_provider.h) a run can be repeated exactly on a machine without the device.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/evaluator.h"
#include "hone/tuner/run_store.h"

namespace hone {

// Makes an evaluator from a recorded run. It is thread-safe. All evaluations of the run are read now; `store` is not kept. A request is
// matched by its candidate, its binding, the version it is timed against, and whether it is the final one; kNotFound:
// no such evaluation was recorded.
Result<std::unique_ptr<Evaluator>> MakeRecordedEvaluator(RunStore& store, const std::string& run);

}  // namespace hone
