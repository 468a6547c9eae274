// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes JSON-RPC 2.0 for the Model Context Protocol: one object per line, no batches.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hone::mcp {

using Json = nlohmann::json;

// Error codes for refused requests. The first five are JSON-RPC's own.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kServerBusy = -32000;
inline constexpr int kUnsupportedVersion = -32022;  // error code of revision 2026-07-28

struct Message {
  enum class Kind {
    kRequest,
    kNotification,  // gets no answer
    kResponse,      // answers a request of the server, which makes none
    kInvalid,       // `code` and `problem` say why
  };
  Kind kind = Kind::kInvalid;
  Json id;  // null: the message has none, or none that can be read
  std::string method;
  Json params = Json::object();  // always an object
  int code = 0;                  // kInvalid: one of the error codes above
  std::string problem;           // kInvalid: what is wrong, as a sentence
};

// Parses one line. Never throws, whatever the line holds; a line nested deeper than kMaxJsonDepth is invalid.
Message ParseMessage(std::string_view line);

// Each of these returns a message as one line of text, without the line end.
std::string ResultMessage(const Json& id, const Json& result);
std::string ErrorMessage(const Json& id, int code, std::string_view problem, const Json& data = nullptr);
std::string NotificationMessage(std::string_view method, const Json& params);

}  // namespace hone::mcp
