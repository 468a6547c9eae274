// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the part of JSON Schema 2020-12 that describes tools' arguments and answers, and the check against it:
// type, enum, minimum, maximum, minLength, maxLength, items, maxItems, properties, required, additionalProperties.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "tuner/mcp/message.h"

namespace hone::mcp {

// Functions that make schemas. `meaning` is the description that a model reads.
Json TextSchema(std::string_view meaning);
Json ChoiceSchema(std::string_view meaning, const std::vector<std::string>& choices);
Json IntegerSchema(std::string_view meaning, int64_t least, int64_t most);
Json NumberSchema(std::string_view meaning);
Json NumberSchema(std::string_view meaning, double least, double most);
Json BooleanSchema(std::string_view meaning);
Json ListSchema(std::string_view meaning, Json item);
// The schema of an object with any field names, whose values match `item`.
Json MapSchema(std::string_view meaning, Json item);
// The schema of an object whose fields may be anything.
Json AnyObjectSchema(std::string_view meaning);
// The schema of an object with these fields; other fields are allowed if `open` is true.
Json ObjectSchema(std::initializer_list<std::pair<std::string, Json>> fields, std::vector<std::string> required,
                  bool open = false);

// Checks a value against a schema. Returns kInvalidArgument with the place that does not fit and, if possible, what was
// meant: "arguments.bind.VEC: expected an integer, found a string". `where` is the value's own name in such places.
Status CheckAgainst(const Json& schema, const Json& value, const std::string& where);

}  // namespace hone::mcp
