// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a server offers: tools that are called and resources that are read. Neither knows of messages or protocol
// revisions; server.h does.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/mcp/message.h"

namespace hone::mcp {

// Of one call: how it tells its progress, and whether its caller has lost interest. Thread-safe.
struct CallContext {
  std::stop_token stop;
  // `done` rises from call to call; `total`, where it is known, is what it will be at the end. Never empty.
  std::function<void(double done, std::optional<double> total, const std::string& what)> progress;
};

// Something that can be read by its address.
struct ResourceEntry {
  std::string uri, name, description, mime_type;
};

// The answer twice, because a client may show its model one of the two alone: each is complete within its bound, and
// `links` lead to what was left out.
struct ToolAnswer {
  std::string text;
  Json structured = Json::object();  // fits the tool's output schema
  std::vector<ResourceEntry> links;
};

struct Tool {
  std::string name, title, description;
  Json input_schema, output_schema;
  Json annotations = Json::object();
  // Called with arguments that fit the input schema, on a thread of the call's own; several calls may overlap. A Status
  // is what the caller did wrong or what failed, told to the model as an answer that is an error.
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
  // kNotFound says what there is instead.
  virtual Result<ResourceText> Read(const std::string& uri) = 0;
};

}  // namespace hone::mcp
