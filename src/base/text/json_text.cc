// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/json_text.h"

#include <fmt/format.h>

namespace hone {
namespace {

template <typename Json>
std::string Dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <typename Json>
Json Read(std::string_view text) {
  if (FindTooDeepJson(text) != std::string_view::npos) return Json(Json::value_t::discarded);
  return Json::parse(text.data(), text.data() + text.size(), nullptr, /*allow_exceptions=*/false);
}

}  // namespace

size_t FindTooDeepJson(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

std::string DumpJson(const nlohmann::json& value, int indent) { return Dump(value, indent); }
std::string DumpJson(const nlohmann::ordered_json& value, int indent) { return Dump(value, indent); }

Result<nlohmann::json> ParseJson(std::string_view text, std::string_view what) {
  if (const size_t at = FindTooDeepJson(text); at != std::string_view::npos) {
    return Status::InvalidArgument(fmt::format("{} is nested more than {} levels deep at byte {}; nothing of ours needs more "
                                               "than a dozen",
                                               what, kMaxJsonDepth, at));
  }
  try {
    return nlohmann::json::parse(text.data(), text.data() + text.size());
  } catch (const nlohmann::json::exception& error) {
    return Status::InvalidArgument(fmt::format("{} is not JSON: {}", what, error.what()));
  }
}

nlohmann::json ReadJsonText(std::string_view text) { return Read<nlohmann::json>(text); }
nlohmann::ordered_json ReadOrderedJsonText(std::string_view text) { return Read<nlohmann::ordered_json>(text); }

std::string JsonToCbor(const nlohmann::json& value) {
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  return bytes;
}

Result<nlohmann::json> JsonFromCbor(std::string_view bytes, std::string_view what) {
  try {
    return nlohmann::json::from_cbor(bytes.data(), bytes.data() + bytes.size());
  } catch (const nlohmann::json::exception& error) {
    return Status::InvalidArgument(fmt::format("{} is not CBOR: {}", what, error.what()));
  }
}

}  // namespace hone
