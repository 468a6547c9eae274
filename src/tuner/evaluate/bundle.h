// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is sent to a worker that is elsewhere, and what comes back: a bundle and its answer, as JSON texts.
//
// A bundle needs nothing beside itself: it holds the task, the sources, what is timed against, and the options.
// docs/formats/spool.md describes the fields; a spool's files and a queue's jobs hold the same.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

inline constexpr int kSpoolProtocol = 1;

struct SpoolBundle {
  Task task;
  EvaluationRequest request;
};

std::string EncodeBundle(const Task& task, const EvaluationRequest& request, int indent = -1);
// kInvalidArgument: damaged, of another protocol, or a request that makes no sense. `id` names it in the message.
Result<SpoolBundle> DecodeBundle(const std::string& text, const std::string& id);

std::string EncodeAnswer(const std::string& id, const Result<Evaluation>& evaluation, int indent = -1);
// The evaluation, or the error that the worker gave, with `remedy`: how to ask again.
Result<Evaluation> DecodeAnswer(const std::string& text, const std::string& remedy);
// Why a worker could not judge, as an answer's text says it; empty where it says none.
std::string ErrorOfAnswer(const std::string& text);

}  // namespace hone
