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

// A CallContext belongs to one call of a tool. Thread-safe.
struct CallContext {
  std::stop_token stop;  // requested when the client has cancelled the call or is gone
  // Requested when the client has closed the server's input. The call is still answered, but should not wait for other
  // processes.
  std::stop_token input_ended;
  // Reports progress to the client. `done` must never decrease; `total` is its final value, if known. Never empty.
  std::function<void(double done, std::optional<double> total, const std::string& what)> progress;
};

// A resource that can be read by its address.
struct ResourceEntry {
  std::string uri, name, description, mime_type;
};

// A ToolAnswer has two forms, because a client may show its model only one. Each is complete as far as its bound
// allows, and `links` lead to what was omitted.
struct ToolAnswer {
  std::string text;
  Json structured = Json::object();  // fits the tool's output schema
  std::vector<ResourceEntry> links;
};

struct Tool {
  std::string name, title, description;
  Json input_schema, output_schema;
  Json annotations = Json::object();
  // Runs the tool. It is called with arguments that match the input schema, on a thread of the call's own; calls may
  // overlap. A Status is the caller's error or a failure; the model gets it as an answer that is marked as an error.
  std::function<Result<ToolAnswer>(const Json& arguments, const CallContext& context)> call;
};

struct ResourceTemplate {
  std::string uri, name, description, mime_type;
};

struct ResourceText {
  std::string mime_type, text;
};

// The resources of a server. Implementations are thread-safe.
class Resources {
 public:
  virtual ~Resources() = default;
  virtual std::vector<ResourceEntry> List() = 0;
  virtual std::vector<ResourceTemplate> Templates() = 0;
  // Reads a resource. Returns kNotFound, with what exists instead, if there is none of this address.
  virtual Result<ResourceText> Read(const std::string& uri) = 0;
};

}  // namespace hone::mcp
