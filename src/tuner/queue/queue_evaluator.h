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

// `address` as for ParseRedisAddress. Evaluate waits for the answer; any number of threads may call it, each with its
// own connection. A job that the server lost is submitted again; if the server cannot be reached for ten minutes, the
// status is kUnavailable. The seed of a request is ignored: the worker draws it.
//
// Each Evaluate is a job of its own, so that asking again measures again. With `reuse=NAME` in the address, the nth
// time that this evaluator is asked something has the answer that the nth time had in an earlier evaluator of the same
// user and name, while the server keeps it (kAnswerSeconds): a program that was killed continues without judging twice.
//
// `tell` hears, from any of the calling threads, why an answer is not there after some seconds: what waits before it,
// that no worker is there, that the server is away. It is called at most once a minute unless the reason changes. May
// be empty.
Result<std::unique_ptr<Evaluator>> MakeQueueEvaluator(const std::string& address,
                                                      std::function<void(const std::string&)> tell = {});

}  // namespace hone
