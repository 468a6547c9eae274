// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns what a run knows into a request to a model. Pure: a prompt is tested without a model or a GPU.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hone/tuner/model_provider.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Replaces {{name}} by its value; an unknown name is kInvalidArgument, so that a typo in a template shows.
Result<std::string> FillTemplate(std::string_view text, const std::map<std::string, std::string>& values);

// The embedded template of a role ("coder").
Result<std::string_view> PromptTemplate(std::string_view role);

struct PromptInputs {
  const Task* task = nullptr;
  const DeviceFacts* facts = nullptr;
  const RunView* view = nullptr;
  int64_t parent = 0;
  std::string parent_source;
};

// The request of AskAction `ask`, numbered `number`; attachments included.
Result<ModelRequest> MakeRequest(const PromptInputs& inputs, const AskAction& ask, int64_t number);

}  // namespace hone
