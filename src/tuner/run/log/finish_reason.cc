// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names the reasons for a reply's end, as stored events contain them.
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "hone/tuner/model_provider.h"

namespace hone {
namespace {

constexpr std::array<std::pair<FinishReason, std::string_view>, 4> kReasons{{{FinishReason::kStop, "stop"},
                                                                             {FinishReason::kLength, "length"},
                                                                             {FinishReason::kRefused, "refused"},
                                                                             {FinishReason::kExhausted, "exhausted"}}};

}  // namespace

std::string_view FinishReasonName(FinishReason reason) {
  for (const auto& [value, name] : kReasons) {
    if (value == reason) return name;
  }
  return "stop";
}

std::optional<FinishReason> FinishReasonFromName(std::string_view name) {
  for (const auto& [value, text] : kReasons) {
    if (text == name) return value;
  }
  return std::nullopt;
}

}  // namespace hone
