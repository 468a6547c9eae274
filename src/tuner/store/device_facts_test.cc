// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/device_facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tuner/core/evaluation/device_facts_fields.h"

namespace hone {
namespace {

// Returns facts in which each field differs from its default, and each number from all others.
DeviceFacts FactsWithoutDefaults() {
  DeviceFacts facts;
  int next = 3;
  VisitFields(facts, [&](const char* name, auto& value) {
    using Field = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_same_v<Field, std::string>) {
      value = std::string("a ") + name;
    } else if constexpr (std::is_same_v<Field, bool>) {
      value = true;
    } else {
      value = static_cast<Field>(++next);
    }
  });
  return facts;
}

TEST(DeviceFactsJson, KeepsEveryField) {
  const DeviceFacts facts = FactsWithoutDefaults();
  const nlohmann::json json = DeviceFactsToJson(facts);
  EXPECT_EQ(json.at("max_threads_per_block"), facts.max_threads_per_block);
  EXPECT_EQ(DeviceFactsToJson(DeviceFactsFromJson(json, {})), json);
  EXPECT_NE(DeviceFactsToJson({}), json);
}

TEST(DeviceFactsJson, WhatAnOlderRunDoesNotHaveKeepsItsDefault) {
  nlohmann::json json = DeviceFactsToJson(FactsWithoutDefaults());
  json.erase("max_threads_per_block");
  json["l2_bytes"] = "of another type";
  DeviceFacts defaults;
  defaults.max_threads_per_block = 512;
  defaults.l2_bytes = 99;
  const DeviceFacts facts = DeviceFactsFromJson(json, defaults);
  EXPECT_EQ(facts.max_threads_per_block, 512);
  EXPECT_EQ(facts.l2_bytes, 99);
  EXPECT_EQ(facts.name, "a name");
}

}  // namespace
}  // namespace hone
