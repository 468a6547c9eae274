// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/answer_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/json_text.h"
#include "base/text/utf8.h"

namespace hone::mcp {
namespace {

constexpr size_t kShortText = 400;  // bytes; a shorter text is not cut
constexpr size_t kShortList = 2;    // items; a shorter list is not cut

size_t JsonBytes(const Json& value) { return DumpJson(value, -1).size(); }

// Returns the longest text or list within `value`, and its size and place in `bytes` and `largest_place`; null if all
// are short.
Json* LargestValue(Json& value, const std::string& place, size_t& bytes, std::string& largest_place) {
  Json* largest_value = nullptr;
  const auto consider = [&](Json& one, const std::string& at, size_t size) {
    if (size <= bytes) return;
    bytes = size;
    largest_place = at;
    largest_value = &one;
  };
  if (value.is_string()) {
    const size_t size = value.get_ref<const std::string&>().size();
    if (size > kShortText) consider(value, place, size);
  } else if (value.is_array() && value.size() > kShortList) {
    consider(value, place, JsonBytes(value));
  }
  if (value.is_object()) {
    for (const auto& [name, field] : value.items()) {
      if (Json* inner = LargestValue(field, place.empty() ? name : place + "." + name, bytes, largest_place))
        largest_value = inner;
    }
  } else if (value.is_array() && value.size() <= kShortList) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (Json* inner = LargestValue(value[i], fmt::format("{}[{}]", place, i), bytes, largest_place))
        largest_value = inner;
    }
  }
  return largest_value;
}

// Returns the field at a place such as "profile.sass"; null if there is none.
Json* FieldAt(Json& value, const std::string& place) {
  Json* current = &value;
  for (size_t start = 0; start <= place.size();) {
    const size_t end = std::min(place.find('.', start), place.size());
    if (!current->is_object()) return nullptr;
    const auto field = current->find(place.substr(start, end - start));
    if (field == current->end()) return nullptr;
    current = &*field;
    start = end + 1;
  }
  return current;
}

void NoteLeftOut(std::vector<std::string>& left_out, const std::string& place) {
  if (std::find(left_out.begin(), left_out.end(), place) == left_out.end()) left_out.push_back(place);
}

}  // namespace

std::string FitText(std::string text, std::string_view rest_lies_in, size_t most) {
  text = RepairUtf8(text);
  if (text.size() <= most) return text;
  size_t end = text.rfind('\n', most);
  if (end == std::string::npos || end < most / 2) {
    end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  }
  const size_t bytes_left = text.size() - end;
  text.resize(end);
  return text + fmt::format("\n[{} bytes more{}]\n", bytes_left,
                            rest_lies_in.empty() ? "" : fmt::format(": read {}", rest_lies_in));
}

Json FitJson(Json value, const std::vector<std::string>& first, std::vector<std::string>& left_out, size_t most) {
  for (const std::string& place : first) {
    if (JsonBytes(value) <= most) return value;
    Json* part = FieldAt(value, place);
    if (part == nullptr || part->empty()) continue;
    *part = part->is_string() ? Json("") : part->is_array() ? Json::array() : *part;
    NoteLeftOut(left_out, place);
  }
  while (JsonBytes(value) > most) {
    size_t bytes = 0;
    std::string place;
    Json* largest_value = LargestValue(value, "", bytes, place);
    if (largest_value == nullptr) break;
    if (largest_value->is_string()) {
      std::string text = largest_value->get<std::string>();
      text.resize(text.size() / 2);
      *largest_value = RepairUtf8(text);
    } else {
      largest_value->erase(largest_value->begin() + static_cast<std::ptrdiff_t>((largest_value->size() + 1) / 2),
                           largest_value->end());
    }
    NoteLeftOut(left_out, place);
  }
  return value;
}

}  // namespace hone::mcp
