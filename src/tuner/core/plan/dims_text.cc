// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/plan/dims_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace hone {

std::string DimsText(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

Result<Dims> ParseDims(std::string_view option, std::string_view text, int64_t least) {
  const auto trimmed = [](std::string_view part) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    return part;
  };
  Dims dims;
  for (size_t begin = 0; begin <= text.size();) {
    const std::string_view part = text.substr(begin, text.find(',', begin) - begin);
    const size_t equals = std::min(part.find('='), part.size());
    begin += part.size() + 1;
    const std::string_view name = trimmed(part.substr(0, equals));
    const std::string_view digits = trimmed(part.substr(std::min(equals + 1, part.size())));
    bool is_valid = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
    for (const char c : name) is_valid = is_valid && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
    int64_t size = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    is_valid =
        is_valid && !digits.empty() && error == std::errc() && end == digits.data() + digits.size() && size >= least;
    if (!is_valid) {
      return Status::InvalidArgument(fmt::format(
          "{} {}: '{}' is no NAME=SIZE with a size of {} or more; expected sizes by name, as in rows=128,d=4096",
          option, text, trimmed(part), least));
    }
    if (!dims.emplace(name, size).second)
      return Status::InvalidArgument(fmt::format("{} {}: {} is given twice", option, text, name));
  }
  return dims;
}

}  // namespace hone
