// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/request_json.h"

#include <nlohmann/json.hpp>

#include "base/text/json_text.h"

namespace hone {

using Json = nlohmann::json;

std::string RequestJson(const ModelRequest& request) {
  Json messages = Json::array();
  for (const ModelMessage& m : request.messages) messages.push_back({{"role", m.role}, {"text", m.text}});
  Json json = {{"run", request.run},
               {"number", request.number},
               {"role", request.role},
               {"temperature", request.temperature},
               {"max_tokens", request.max_tokens},
               {"messages", messages},
               {"attachments", request.attachments}};
  if (request.repair_of >= 0) json["repair_of"] = request.repair_of;
  return DumpJson(json, 2) + "\n";
}

}  // namespace hone
