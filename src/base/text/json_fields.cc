// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/json_fields.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text/json_text.h"

namespace hone {

nlohmann::json NumberToJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

nlohmann::json SeedToJson(uint64_t seed) { return fmt::format("0x{:016x}", seed); }

JsonFields::JsonFields(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) WrongType(where_, "an object", object);
}

void JsonFields::Fail(std::string_view key, std::string_view message) {
  if (status_.ok()) status_ = Status::InvalidArgument(fmt::format("{}: {}", PathOf(key), message));
}

const nlohmann::json* JsonFields::Find(std::string_view key) const {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string JsonFields::PathOf(std::string_view key) const { return fmt::format("{}.{}", where_, key); }

void JsonFields::WrongType(const std::string& place, std::string_view expected_type, const nlohmann::json& value) {
  if (status_.ok())
    status_ =
        Status::InvalidArgument(fmt::format("{}: expected {}, found {}", place, expected_type, value.type_name()));
}

void JsonFields::Convert(const nlohmann::json& value, const std::string& place, std::string& target) {
  if (!value.is_string()) return WrongType(place, "a string", value);
  target = value.get<std::string>();
}

void JsonFields::Convert(const nlohmann::json& value, const std::string& place, bool& target) {
  if (!value.is_boolean()) return WrongType(place, "true or false", value);
  target = value.get<bool>();
}

void JsonFields::Convert(const nlohmann::json& value, const std::string& place, double& target) {
  if (value.is_number()) {
    target = value.get<double>();
  } else if (value == "nan") {
    target = std::numeric_limits<double>::quiet_NaN();
  } else if (value == "inf" || value == "-inf") {
    target = value == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  } else {
    WrongType(place, "a number", value);
  }
}

void JsonFields::Convert(const nlohmann::json& value, const std::string& place, int64_t& target) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))) {
    return WrongType(place, "a 64-bit integer", value);
  }
  target = value.get<int64_t>();
}

void JsonFields::Convert(const nlohmann::json& value, const std::string& place, uint64_t& target) {
  if (value.is_number_unsigned()) {
    target = value.get<uint64_t>();
    return;
  }
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text.starts_with("0x") && text.size() > 2) {
      uint64_t seed = 0;
      const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), seed, 16);
      if (error == std::errc() && end == text.data() + text.size()) {
        target = seed;
        return;
      }
    }
  }
  WrongType(place, "an unsigned integer or \"0x…\"", value);
}

void JsonFields::Convert(const nlohmann::json& value, const std::string& place, int& target) {
  int64_t wide = 0;
  Convert(value, place, wide);
  if (!ok()) return;
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return WrongType(place, "a 32-bit integer", value);
  }
  target = static_cast<int>(wide);
}

}  // namespace hone
