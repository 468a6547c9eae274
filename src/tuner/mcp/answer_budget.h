// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file keeps answers short enough for a model, because clients cut an answer at 25,000 tokens, anywhere in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/mcp/message.h"

namespace hone::mcp {

// Limit on the bytes of an answer, in text and in JSON each. JSON and tables of figures have two bytes per token or a
// little more, so that an answer stays below 25,000 tokens.
inline constexpr size_t kAnswerBytes = 40000;

// Returns `text` unchanged if it has at most `most` bytes. Otherwise returns its first lines and a line that says how
// much was omitted and that the rest lies in `rest_lies_in`.
std::string FitText(std::string text, std::string_view rest_lies_in, size_t most = kAnswerBytes);

// Returns `value` with long texts and lists cut until it takes at most `most` bytes. Adds the place of each cut to
// `left_out`, such as "profile.sass". Places in `first` are removed first, and whole. Objects keep all their other
// fields.
Json FitJson(Json value, const std::vector<std::string>& first, std::vector<std::string>& left_out,
             size_t most = kAnswerBytes);

}  // namespace hone::mcp
