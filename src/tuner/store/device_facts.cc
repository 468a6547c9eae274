// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/device_facts.h"

#include <nlohmann/json.hpp>

#include "tuner/core/evaluation/device_facts_fields.h"

namespace hone {
nlohmann::json DeviceFactsToJson(const DeviceFacts& facts) {
  nlohmann::json json = nlohmann::json::object();
  VisitFields(facts, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

DeviceFacts DeviceFactsFromJson(const nlohmann::json& json, const DeviceFacts& defaults) {
  DeviceFacts facts = defaults;
  if (!json.is_object()) return facts;
  VisitFields(facts, [&](const char* name, auto& value) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    try {
      found->get_to(value);
    } catch (const nlohmann::json::exception&) {  // the field has another type: the default stays
    }
  });
  return facts;
}

}  // namespace hone
