// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/text/json_text.h"
#include "base/text/nearest_word.h"

namespace hone::mcp {
namespace {

// Returns whether a value is an integer by JSON Schema, for which 2.0 is one too. A floating-point number beyond 2^53
// is ambiguous and does not count.
bool IsWhole(const Json& value) {
  if (!value.is_number_float()) return value.is_number_integer();
  const double number = value.get<double>();
  return std::abs(number) <= 9007199254740992.0 && std::floor(number) == number;
}

// Returns whether the value has a JSON Schema type.
bool IsOfType(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return IsWhole(value);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return value.is_null();
}

// Returns a value's type in words, for a message.
std::string TypeOf(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "true or false";
  if (value.is_null()) return "null";
  return value.is_number_integer() ? "an integer" : "a number with a fraction";
}

// Returns a type of JSON Schema in words, for a message.
std::string WithArticle(const std::string& type) {
  if (type == "array") return "a list";
  return (type == "object" || type == "integer" ? "an " : "a ") + type;
}

Status SchemaError(const std::string& where, const std::string& problem) {
  return Status::InvalidArgument(where + ": " + problem);
}

// Checks an object's fields: the required ones are there, none is unknown, and each satisfies its schema.
Status CheckObject(const Json& schema, const Json& value, const std::string& where) {
  const Json empty = Json::object();
  const Json& fields = schema.contains("properties") ? schema.at("properties") : empty;
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>()))
      return SchemaError(where, fmt::format("the field '{}' is missing", name.get<std::string>()));
  }
  for (const auto& [name, field] : value.items()) {
    if (const auto known = fields.find(name); known != fields.end()) {
      if (Status status = CheckAgainst(*known, field, where + "." + name); !status.ok()) return status;
      continue;
    }
    const auto additional_properties = schema.find("additionalProperties");
    if (additional_properties == schema.end()) continue;
    if (additional_properties->is_object()) {
      if (Status status = CheckAgainst(*additional_properties, field, where + "." + name); !status.ok()) return status;
    } else if (!additional_properties->get<bool>()) {
      std::vector<std::string> names;
      for (const auto& [known_name, unused] : fields.items()) names.push_back(known_name);
      return SchemaError(
          where, fmt::format("there is no field '{}'{}; {}", name.substr(0, 80), DidYouMean(name.substr(0, 80), names),
                             names.empty() ? "it takes none" : fmt::format("it takes {}", fmt::join(names, ", "))));
    }
  }
  return Status::Ok();
}

}  // namespace

Json TextSchema(std::string_view meaning) { return {{"type", "string"}, {"description", meaning}}; }
Json ChoiceSchema(std::string_view meaning, const std::vector<std::string>& choices) {
  return {{"type", "string"}, {"enum", choices}, {"description", meaning}};
}
Json IntegerSchema(std::string_view meaning, int64_t least, int64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}, {"description", meaning}};
}
Json NumberSchema(std::string_view meaning) { return {{"type", "number"}, {"description", meaning}}; }
Json NumberSchema(std::string_view meaning, double least, double most) {
  return {{"type", "number"}, {"minimum", least}, {"maximum", most}, {"description", meaning}};
}
Json BooleanSchema(std::string_view meaning) { return {{"type", "boolean"}, {"description", meaning}}; }
Json ListSchema(std::string_view meaning, Json item) {
  return {{"type", "array"}, {"items", std::move(item)}, {"description", meaning}};
}
Json MapSchema(std::string_view meaning, Json item) {
  return {{"type", "object"}, {"additionalProperties", std::move(item)}, {"description", meaning}};
}
Json AnyObjectSchema(std::string_view meaning) { return {{"type", "object"}, {"description", meaning}}; }
Json ObjectSchema(std::initializer_list<std::pair<std::string, Json>> fields, std::vector<std::string> required,
                  bool open) {
  Json properties = Json::object();
  for (const auto& [name, schema] : fields) properties[name] = schema;
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  if (!open) schema["additionalProperties"] = false;
  return schema;
}

Status CheckAgainst(const Json& schema, const Json& value, const std::string& where) {
  if (const auto type = schema.find("type"); type != schema.end()) {
    const std::vector<std::string> types =
        type->is_array() ? type->get<std::vector<std::string>>() : std::vector<std::string>{type->get<std::string>()};
    bool fits = false;
    std::string expected_type;
    for (const std::string& one : types) {
      fits = fits || IsOfType(value, one);
      expected_type += (expected_type.empty() ? "" : " or ") + WithArticle(one);
    }
    if (!fits) return SchemaError(where, fmt::format("expected {}, found {}", expected_type, TypeOf(value)));
  }
  if (const auto choices = schema.find("enum"); choices != schema.end()) {
    bool fits = false;
    std::vector<std::string> names;
    for (const Json& choice : *choices) {
      fits = fits || choice == value;
      if (choice.is_string()) names.push_back(choice.get<std::string>());
    }
    const std::string found_type =
        value.is_string() ? value.get<std::string>().substr(0, 80) : DumpJson(value).substr(0, 80);
    if (!fits)
      return SchemaError(where, fmt::format("'{}' is none of {}{}", found_type, fmt::join(names, ", "),
                                            DidYouMean(found_type, names)));
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    if (schema.contains("minimum") && number < schema.at("minimum").get<double>())
      return SchemaError(where, fmt::format("{} is less than {}", DumpJson(value), DumpJson(schema.at("minimum"))));
    if (schema.contains("maximum") && number > schema.at("maximum").get<double>())
      return SchemaError(where, fmt::format("{} is more than {}", DumpJson(value), DumpJson(schema.at("maximum"))));
  }
  if (value.is_string()) {
    const size_t length = value.get_ref<const std::string&>().size();
    if (schema.contains("minLength") && length < schema.at("minLength").get<size_t>())
      return SchemaError(where, "the text is empty");
    if (schema.contains("maxLength") && length > schema.at("maxLength").get<size_t>()) {
      return SchemaError(where, fmt::format("the text has {} bytes, and {} are taken at most", length,
                                       schema.at("maxLength").get<size_t>()));
    }
  }
  if (value.is_array()) {
    if (schema.contains("maxItems") && value.size() > schema.at("maxItems").get<size_t>()) {
      return SchemaError(where, fmt::format("the list has {} items, and {} are taken at most", value.size(),
                                       schema.at("maxItems").get<size_t>()));
    }
    if (const auto item = schema.find("items"); item != schema.end()) {
      for (size_t i = 0; i < value.size(); ++i) {
        if (Status status = CheckAgainst(*item, value[i], fmt::format("{}[{}]", where, i)); !status.ok()) return status;
      }
    }
  }
  if (value.is_object()) return CheckObject(schema, value, where);
  return Status::Ok();
}

}  // namespace hone::mcp
