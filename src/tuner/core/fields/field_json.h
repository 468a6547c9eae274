// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads the JSON of all structs that have a list of their fields (field_list.h).
//
// Doubles that are not finite and 64-bit seeds are strings, as base/text/json_fields.h says; enumerations are written as
// names (NamesOf), an Interval as {median, ci95}; absent optional values are left out.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/text/json_fields.h"
#include "hone/tuner/evaluation.h"
#include "tuner/core/fields/field_list.h"

namespace hone {

// Returns the names of an enumeration, in the order of its values; one overload for each.
std::span<const std::string_view> NamesOf(Verdict);
std::span<const std::string_view> NamesOf(CaseRole);

nlohmann::ordered_json IntervalToJson(const Interval& interval);
void ReadInterval(JsonFields& fields, std::string_view key, std::optional<Interval>& target);

// Returns the index of the name at `key`, which is required; nullopt after an error, which lists all names.
std::optional<size_t> ReadName(JsonFields& fields, std::string_view key, std::span<const std::string_view> names);

template <typename T>
bool IsEmpty(const std::optional<T>& value) {
  return !value.has_value();
}
template <typename T>
bool IsEmpty(const std::vector<T>& values) {
  return values.empty();
}
template <typename T>
bool IsEmpty(const std::map<std::string, T>& map) {
  return map.empty();
}

// Returns the struct as a JSON object, with fields in the order of its list. `timed`: also writes fields that are
// OnlyTimed.
template <HasFieldList Struct>
nlohmann::ordered_json FieldsToJson(const Struct& value, bool timed);

// Visits a struct and adds each field to an object.
class FieldWriter {
 public:
  FieldWriter(nlohmann::ordered_json& object, bool timed) : object_(object), timed_(timed) {}

  template <typename T>
  void operator()(const char* name, const T& value) {
    object_[name] = ToJson(value);
  }
  template <typename T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) object_[name] = ToJson(*value);
  }
  template <typename T>
  void operator()(const char* name, const T& value, const Unless<T>& unless) {
    if (!(value == unless.value)) (*this)(name, value);
  }
  template <typename T>
  void operator()(const char* name, const T& value, UnlessEmpty) {
    if (!IsEmpty(value)) (*this)(name, value);
  }
  template <typename T>
  void operator()(const char* name, const T& value, OnlyTimed) {
    if (timed_) (*this)(name, value, UnlessEmpty{});
  }

 private:
  // Returns a value as JSON: numbers that may not be finite, seeds, enumerations by name, and structs field by field.
  template <typename T>
  nlohmann::ordered_json ToJson(const T& value) const {
    if constexpr (std::is_same_v<T, double>) {
      return nlohmann::ordered_json(NumberToJson(value));
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      return nlohmann::ordered_json(SeedToJson(value));
    } else if constexpr (std::is_enum_v<T>) {
      return NamesOf(value)[static_cast<size_t>(value)];
    } else if constexpr (std::is_same_v<T, Interval>) {
      return IntervalToJson(value);
    } else if constexpr (HasFieldList<T>) {
      return FieldsToJson(value, timed_);
    } else {
      return value;
    }
  }
  template <typename T>
  nlohmann::ordered_json ToJson(const std::vector<T>& values) const {
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const T& value : values) array.push_back(ToJson(value));
    return array;
  }
  template <typename T>
  nlohmann::ordered_json ToJson(const std::map<std::string, T>& map) const {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const auto& [key, value] : map) object[key] = ToJson(value);
    return object;
  }

  nlohmann::ordered_json& object_;
  const bool timed_;
};

template <HasFieldList Struct>
nlohmann::ordered_json FieldsToJson(const Struct& value, bool timed) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  VisitFields(value, FieldWriter(object, timed));
  return object;
}

// Visits a struct and fills each field from an object; absent fields keep their value, but enumerations are required.
// The first error is kept in `fields`.
class FieldReader {
 public:
  explicit FieldReader(JsonFields& fields) : fields_(fields) {}

  template <typename T, typename... When>
  void operator()(const char* name, T& target, const When&...) {
    Get(name, target);
  }

 private:
  // Reads the field `name` into `target`, if it is there.
  template <typename T>
  void Get(const char* name, T& target) {
    if constexpr (std::is_enum_v<T>) {
      if (const std::optional<size_t> index = ReadName(fields_, name, NamesOf(target))) target = static_cast<T>(*index);
    } else if constexpr (HasFieldList<T>) {
      fields_.Object(name, [&](JsonFields& inner) { VisitFields(target, FieldReader(inner)); });
    } else {
      fields_.Read(name, target);
    }
  }
  void Get(const char* name, std::optional<Interval>& target) { ReadInterval(fields_, name, target); }
  template <HasFieldList T>
  void Get(const char* name, std::optional<T>& target) {
    fields_.Object(name, [&](JsonFields& inner) { VisitFields(target.emplace(), FieldReader(inner)); });
  }
  template <HasFieldList T>
  void Get(const char* name, std::vector<T>& target) {
    fields_.Objects(name, [&](JsonFields& inner) { VisitFields(target.emplace_back(), FieldReader(inner)); });
  }

  JsonFields& fields_;
};

}  // namespace hone
