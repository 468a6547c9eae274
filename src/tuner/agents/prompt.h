// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns what a run knows into a request to a model. Pure: a prompt is tested without a model or a GPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/tuner/model_provider.h"
#include "hone/tuner/strategy.h"
#include "tuner/agents/prompt_library.h"

namespace hone {

// Holds what a request is made from. The caller owns everything that it points to.
struct PromptInputs {
  const Task* task = nullptr;
  const DeviceFacts* facts = nullptr;
  const RunView* view = nullptr;
  const PromptLibrary* library = nullptr;
  std::function<Result<std::string>(int64_t node)> source;  // returns the source of a node that has one
};

// Makes the request of turn `turn` of node `node` (0: the tester's). It shows what the decision to open the node knew,
// and nothing later: a late request equals an immediate one.
// `given` receives the hint that the prompt gives; nullopt: it gives none.
Result<ModelRequest> MakeRequest(const PromptInputs& inputs, int64_t node, int turn,
                                 std::optional<GivenHint>* given = nullptr);

// Returns the node that must be profiled before this turn: its parent, if the template shows a profile, the turn may
// see it, and it is not known yet. -1: none.
Result<int64_t> ProfileDue(const PromptInputs& inputs, int64_t node, int turn);

// Makes the repair turn: the first request, the unusable reply, and what was wrong with it.
Result<ModelRequest> MakeRepairRequest(const PromptInputs& inputs, int64_t node, int turn, const std::string& reply);

}  // namespace hone
