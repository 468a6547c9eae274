// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/message.h"

#include <fmt/format.h>

#include "base/text/json_text.h"

namespace hone::mcp {
namespace {

Message InvalidMessage(int code, std::string problem, Json id = nullptr) {
  Message message;
  message.code = code;
  message.problem = std::move(problem);
  message.id = std::move(id);
  return message;
}

std::string OnOneLine(Json message) { return DumpJson(message, -1); }

}  // namespace

Message ParseMessage(std::string_view line) {
  if (FindTooDeepJson(line) != std::string_view::npos)
    return InvalidMessage(kParseError, fmt::format("the message is nested more than {} deep", kMaxJsonDepth));
  Json value = ReadJsonText(line);
  if (value.is_discarded())
    return InvalidMessage(kParseError, "the line is no JSON in UTF-8; a message is one JSON object on one line");
  if (value.is_array())
    return InvalidMessage(kInvalidRequest, "batches are not taken: send each message on a line of its own");
  if (!value.is_object()) return InvalidMessage(kInvalidRequest, "a message is a JSON object");
  Message message;
  const auto id = value.find("id");
  const bool has_id = id != value.end();
  const bool id_fits = has_id && (id->is_string() || id->is_number_integer());
  if (id_fits) message.id = *id;
  if (value.value("jsonrpc", Json()) != "2.0")
    return InvalidMessage(kInvalidRequest, "the field jsonrpc must be \"2.0\"", message.id);
  const auto method = value.find("method");
  if (method == value.end() && (value.contains("result") || value.contains("error"))) {
    message.kind = Message::Kind::kResponse;
    return message;
  }
  if (method == value.end() || !method->is_string())
    return InvalidMessage(kInvalidRequest, "the field method must be a string", message.id);
  message.method = method->get<std::string>();
  if (has_id && !id_fits) return InvalidMessage(kInvalidRequest, "the field id must be a string or an integer");
  if (const auto params = value.find("params"); params != value.end() && !params->is_null()) {
    if (!params->is_object()) return InvalidMessage(kInvalidParams, "the field params must be an object", message.id);
    message.params = std::move(*params);
  }
  message.kind = has_id ? Message::Kind::kRequest : Message::Kind::kNotification;
  return message;
}

std::string ResultMessage(const Json& id, const Json& result) {
  return OnOneLine({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string ErrorMessage(const Json& id, int code, std::string_view problem, const Json& data) {
  Json error = {{"code", code}, {"message", problem}};
  if (!data.is_null()) error["data"] = data;
  return OnOneLine({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}});
}

std::string NotificationMessage(std::string_view method, const Json& params) {
  return OnOneLine({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

}  // namespace hone::mcp
