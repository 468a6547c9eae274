// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the wire formats: errors, messages, careful JSON.
#include "tuner/model/chat_wire.h"

#include <algorithm>
#include <cstdlib>

#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "tuner/model/wire_json.h"

namespace hone {

using Json = nlohmann::json;

Json ParseWireJson(std::string_view text) {
  Json json = ReadJsonText(text);
  // Only invalid text is copied for repair.
  if (json.is_discarded()) json = ReadJsonText(RepairSurrogateEscapes(RepairUtf8(text)));
  return json;
}

const Json& MemberOrNull(const Json& json, std::string_view key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

std::string TextOf(const Json& json, std::string_view key) {
  const Json& member = MemberOrNull(json, key);
  return member.is_string() ? member.get<std::string>() : "";
}

std::optional<int64_t> CountOf(const Json& json, std::string_view key) {
  const Json& member = MemberOrNull(json, key);
  // A number beyond 2^53 is no count, and converting 1e300 to an integer is undefined.
  if (!member.is_number() || member.get<double>() < 0 || member.get<double>() > 9007199254740992.0) return std::nullopt;
  return member.get<int64_t>();
}

std::string DumpWireJson(const Json& json) { return DumpJson(json); }

namespace {

constexpr size_t kMessageBytes = 600;  // how much of a service's error message is kept

// Returns the text on one line of at most kMessageBytes bytes.
std::string OneLine(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = static_cast<unsigned char>(c) <= ' ';
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
    if (out.size() >= kMessageBytes) break;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return RepairUtf8(out);
}

std::string ScalarText(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  return json.is_number() ? DumpWireJson(json) : "";
}

}  // namespace

WireError ReadWireError(std::string_view body) {
  const Json json = ParseWireJson(body);
  WireError error;
  if (!json.is_object()) {
    error.message = OneLine(body);
    return error;
  }
  const Json& inner = MemberOrNull(json, "error");
  const Json& source = inner.is_object() ? inner : json;
  error.message = inner.is_string() ? inner.get<std::string>() : TextOf(source, "message");
  if (error.message.empty()) {
    const Json& detail = MemberOrNull(json, "detail");
    error.message = detail.is_null()     ? DumpWireJson(json)
                    : detail.is_string() ? TextOf(json, "detail")
                                         : DumpWireJson(detail);
  }
  error.message = OneLine(error.message);
  error.type = TextOf(source, "type");
  error.code = ScalarText(MemberOrNull(source, "code"));
  if (const int code = std::atoi(error.code.c_str()); code >= 400 && code < 600) error.status = code;
  return error;
}

int64_t StreamedReply::TokensSoFar() const {
  const int64_t estimate = (static_cast<int64_t>(text.size()) + thought_bytes + 3) / 4;
  // The count in the stream's first event covers only the tokens up to then.
  return std::max(output_tokens.value_or(0), estimate);
}

std::vector<ModelMessage> TidyMessages(const std::vector<ModelMessage>& messages) {
  std::vector<ModelMessage> tidy;
  for (const ModelMessage& message : messages) {
    if (message.text.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    const std::string role = message.role == "system" || message.role == "assistant" ? message.role : "user";
    if (!tidy.empty() && tidy.back().role == role) {
      tidy.back().text += "\n\n" + message.text;
    } else {
      tidy.push_back({role, message.text});
    }
  }
  return tidy;
}

}  // namespace hone
