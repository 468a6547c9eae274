// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An Evaluator whose candidates are judged by workers on other machines, through a queue in Redis.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"

namespace hone {

// `address` as ParseRedisAddress takes it. Evaluate waits for the answer, from any number of threads, each with a
// connection of its own. A job that the server lost is submitted again; where the server cannot be reached for ten
// minutes, the status is kUnavailable. The seed of a request is not heeded: the worker draws it.
Result<std::unique_ptr<Evaluator>> MakeQueueEvaluator(const std::string& address);

}  // namespace hone
