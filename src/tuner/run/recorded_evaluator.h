// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeats the evaluations of a recorded run instead of judging. Together with recorded replies
// (model/replay_provider.h) a run can be repeated exactly on a machine without the device.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/evaluator.h"
#include "hone/tuner/run_store.h"

namespace hone {

// Reads all evaluations of the run at once; `store` is not kept. An evaluation is identified by its candidate, its
// binding, its rival and whether it was the final one; an unrecorded evaluation gives kNotFound. Thread-safe.
Result<std::unique_ptr<Evaluator>> MakeRecordedEvaluator(RunStore& store, const std::string& run);

}  // namespace hone
