// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes JSON objects field by field, with errors that name the place ("cases[2].time_us.median: expected a
// number, found a string").
//
// JSON has no NaN and no infinity, and many readers keep integers to 53 bits only. So doubles that are not finite are
// written as the strings "nan", "inf", "-inf", and 64-bit seeds as strings "0x…"; both are read back exactly.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json_text.h"
#include "hone/base/status.h"

namespace hone {

// Returns a number, or a string when `value` is not finite.
nlohmann::json NumberToJson(double value);
// Returns "0x" and 16 hexadecimal digits.
nlohmann::json SeedToJson(uint64_t seed);

// Reads one object. Unknown fields are ignored, so that output of newer versions can be read. The first error is kept;
// targets of wrong or absent fields keep their value. Borrows the object. Not thread-safe.
class JsonFields {
 public:
  // `where` names the object in messages: "evaluation" or "cases[2]".
  JsonFields(const nlohmann::json& object, std::string where);

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  // Records an error about the field `key`, unless there is an earlier one.
  void Fail(std::string_view key, std::string_view message);

  // Leaves the target as it is if the field is absent or null.
  template <typename T>
  void Read(std::string_view key, T& target) {
    if (const nlohmann::json* value = Find(key)) Convert(*value, PathOf(key), target);
  }
  // Like Read, but an absent or null field is an error.
  template <typename T>
  void Require(std::string_view key, T& target) {
    if (Find(key) == nullptr) {
      Fail(key, "is missing");
    } else {
      Read(key, target);
    }
  }
  // Calls `read_fields(JsonFields&)` for the object at `key`; does nothing when it is absent.
  template <typename Reader>
  bool Object(std::string_view key, Reader read_fields) {
    const nlohmann::json* value = Find(key);
    if (value == nullptr) return false;
    JsonFields fields(*value, PathOf(key));
    if (fields.ok()) read_fields(fields);
    TakeErrorOf(fields);
    return true;
  }
  // Calls `read_fields(JsonFields&)` for each object of the array at `key`.
  template <typename Reader>
  void Objects(std::string_view key, Reader read_fields) {
    const nlohmann::json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return WrongType(PathOf(key), "an array", *value);
    for (size_t i = 0; i < value->size() && ok(); ++i) {
      JsonFields fields((*value)[i], PathOf(key) + "[" + std::to_string(i) + "]");
      if (fields.ok()) read_fields(fields);
      TakeErrorOf(fields);
    }
  }

 private:
  // Returns the field's value; null: absent, or JSON's null.
  const nlohmann::json* Find(std::string_view key) const;
  // Returns the field's place for messages: "cases[2].dims".
  std::string PathOf(std::string_view key) const;
  // Records the error that a value has another type than expected.
  void WrongType(const std::string& place, std::string_view expected_type, const nlohmann::json& value);
  // Records the error of an object within this one, unless there is an earlier one.
  void TakeErrorOf(const JsonFields& inner) {
    if (status_.ok()) status_ = inner.status_;
  }

  // Convert a value to the target's type. A value of another type is an error, which names `place`.
  void Convert(const nlohmann::json& value, const std::string& place, std::string& target);
  void Convert(const nlohmann::json& value, const std::string& place, bool& target);
  void Convert(const nlohmann::json& value, const std::string& place, double& target);
  void Convert(const nlohmann::json& value, const std::string& place, int64_t& target);
  void Convert(const nlohmann::json& value, const std::string& place, uint64_t& target);  // seeds: a number or "0x…"
  void Convert(const nlohmann::json& value, const std::string& place, int& target);
  template <typename T>
  void Convert(const nlohmann::json& value, const std::string& place, std::optional<T>& target) {
    T inner{};
    Convert(value, place, inner);
    if (ok()) target = std::move(inner);
  }
  template <typename T>
  void Convert(const nlohmann::json& value, const std::string& place, std::vector<T>& target) {
    if (!value.is_array()) return WrongType(place, "an array", value);
    target.clear();
    for (size_t i = 0; i < value.size() && ok(); ++i) {
      T inner{};
      Convert(value[i], place + "[" + std::to_string(i) + "]", inner);
      target.push_back(std::move(inner));
    }
  }
  template <typename T>
  void Convert(const nlohmann::json& value, const std::string& place, std::map<std::string, T>& target) {
    if (!value.is_object()) return WrongType(place, "an object", value);
    target.clear();
    for (const auto& [key, item] : value.items()) {
      T inner{};
      Convert(item, place + "." + key, inner);
      target[key] = std::move(inner);
    }
  }

  const nlohmann::json& object_;
  std::string where_;
  Status status_;
};

}  // namespace hone
