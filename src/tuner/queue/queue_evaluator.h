// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An Evaluator whose candidates are judged by workers on other machines, through a queue in Redis.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"

namespace hone {

// Makes the evaluator. `address` is as for ParseRedisAddress. Evaluate waits for the answer; any number of threads may
// call it, and each uses a connection of its own. A job that the server lost is submitted again. If the server cannot
// be reached for ten minutes, Evaluate returns kUnavailable. The seed of a request is ignored: the worker draws one.
//
// Each Evaluate is a job of its own, so that asking again measures again. With `reuse=NAME` in the address, a program
// that was killed can continue without judging twice: the nth Evaluate of a request gets the answer of the nth Evaluate
// of the same request by an earlier evaluator of this user and NAME, while the server keeps it (kAnswerSeconds).
//
// `tell` is called, from any thread that waits in Evaluate, with the reason why there is no answer after some seconds:
// how many jobs are ahead, that there is no worker, that the server cannot be reached. It is called at most once a
// minute unless the reason changes. May be empty.
Result<std::unique_ptr<Evaluator>> MakeQueueEvaluator(const std::string& address,
                                                      std::function<void(const std::string&)> tell = {});

}  // namespace hone
