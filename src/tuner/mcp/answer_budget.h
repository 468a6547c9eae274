// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps answers short enough for a model: clients cut an answer at 25,000 tokens, in the middle of wherever that is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/mcp/message.h"

namespace hone::mcp {

// JSON and tables of figures take two bytes a token, or a little more: either form stays below 25,000 tokens.
inline constexpr size_t kAnswerBytes = 40000;

// `text` as it is, or its lines up to `most` bytes and a line that says how much was left out and where the rest is.
std::string FitText(std::string text, std::string_view rest_lies_in, size_t most = kAnswerBytes);

// `value`, with long texts and lists cut until it takes at most `most` bytes, and their places in `left_out`:
// "profile.sass". Places in `first` go first, wholly. Objects keep all their fields.
Json FitJson(Json value, const std::vector<std::string>& first, std::vector<std::string>& left_out,
             size_t most = kAnswerBytes);

}  // namespace hone::mcp
