// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps answers short enough for a model: clients cut an answer at 25,000 tokens, at any place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/mcp/message.h"

namespace hone::mcp {

// JSON and tables of figures have two bytes per token, or a little more: either form stays below 25,000 tokens.
inline constexpr size_t kAnswerBytes = 40000;

// Returns `text` unchanged, or its lines up to `most` bytes and a line that says how much was omitted and where the
// rest is.
std::string FitText(std::string text, std::string_view rest_lies_in, size_t most = kAnswerBytes);

// Cuts long texts and lists until `value` takes at most `most` bytes, and lists their places in `left_out`:
// "profile.sass". Places in `first` are removed first, completely. Objects keep all their fields.
Json FitJson(Json value, const std::vector<std::string>& first, std::vector<std::string>& left_out,
             size_t most = kAnswerBytes);

}  // namespace hone::mcp
