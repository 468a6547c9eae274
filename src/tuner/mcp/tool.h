// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines what a server offers: tools that are called and resources that are read. Neither depends on messages or
// protocol revisions; server.h does.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/mcp/message.h"

namespace hone::mcp {

// Context of one call: reports progress, and says whether the caller has cancelled or left. Thread-safe.
struct CallContext {
  std::stop_token stop;
  // Requested once the client has closed the server's input: calls are still answered, but should not wait for others.
  std::stop_token input_ended;
  // `done` never decreases; `total` is the final value, if known. Never empty.
  std::function<void(double done, std::optional<double> total, const std::string& what)> progress;
};

// A resource that can be read by its address.
struct ResourceEntry {
  std::string uri, name, description, mime_type;
};

// An answer in two forms, because a client may show its model only one: each is complete within its bound, and `links`
// lead to what was omitted.
struct ToolAnswer {
  std::string text;
  Json structured = Json::object();  // fits the tool's output schema
  std::vector<ResourceEntry> links;
};

struct Tool {
  std::string name, title, description;
  Json input_schema, output_schema;
  Json annotations = Json::object();
  // Called with arguments that match the input schema, on the call's own thread; calls may overlap. A Status is an
  // error of the caller or a failure; the model gets it as an answer marked as an error.
  std::function<Result<ToolAnswer>(const Json& arguments, const CallContext& context)> call;
};

struct ResourceTemplate {
  std::string uri, name, description, mime_type;
};

struct ResourceText {
  std::string mime_type, text;
};

// Thread-safe.
class Resources {
 public:
  virtual ~Resources() = default;
  virtual std::vector<ResourceEntry> List() = 0;
  virtual std::vector<ResourceTemplate> Templates() = 0;
  // Reads a resource. kNotFound says what exists instead.
  virtual Result<ResourceText> Read(const std::string& uri) = 0;
};

}  // namespace hone::mcp
