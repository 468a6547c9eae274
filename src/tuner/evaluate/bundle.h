// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file encodes what is sent to a worker on another machine, and what comes back: a bundle and its answer, as JSON
// texts.
//
// A bundle is complete in itself: it holds the task, the sources, the incumbent to time against, and the options.
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
// Returns kInvalidArgument for a bundle that is damaged, of another protocol, or whose request makes no sense. The
// message calls the bundle by `id`.
Result<SpoolBundle> DecodeBundle(const std::string& text, const std::string& id);

std::string EncodeAnswer(const std::string& id, const Result<Evaluation>& evaluation, int indent = -1);
// Returns the evaluation, or the error that the worker gave, followed by `remedy`, which says how to ask again.
Result<Evaluation> DecodeAnswer(const std::string& text, const std::string& remedy);
// Returns the reason why a worker could not judge, from an answer's text; empty where the answer has none.
std::string ErrorOfAnswer(const std::string& text);

}  // namespace hone
