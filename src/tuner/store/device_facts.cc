// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/device_facts.h"

#include <nlohmann/json.hpp>

namespace hone {
namespace {

// One list of fields for both directions.
template <typename Facts, typename Visitor>
void VisitFields(Facts& f, Visitor&& visit) {
  visit("id", f.id);
  visit("name", f.name);
  visit("modelled", f.modelled);
  visit("cc_major", f.cc_major);
  visit("cc_minor", f.cc_minor);
  visit("sm_count", f.sm_count);
  visit("l2_bytes", f.l2_bytes);
  visit("memory_bytes", f.memory_bytes);
  visit("smem_per_block", f.smem_per_block);
  visit("smem_optin", f.smem_optin);
  visit("smem_per_sm", f.smem_per_sm);
  visit("max_threads_per_sm", f.max_threads_per_sm);
  visit("max_blocks_per_sm", f.max_blocks_per_sm);
  visit("registers_per_sm", f.registers_per_sm);
  visit("memory_bandwidth", f.memory_bandwidth);
  visit("l2_bandwidth", f.l2_bandwidth);
  visit("fp32_flops", f.fp32_flops);
  visit("tensor_bf16_flops", f.tensor_bf16_flops);
  visit("driver", f.driver);
}

}  // namespace

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
    } catch (const nlohmann::json::exception&) {  // a foreign type: the default stays
    }
  });
  return facts;
}

}  // namespace hone
