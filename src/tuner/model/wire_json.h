// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads untrusted JSON, in which any field may be missing or of another type: a lookup returns a default then.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

// Parses JSON after repairing broken UTF-8 and unpaired surrogate escapes; discarded() if it is no JSON even so.
nlohmann::json ParseWireJson(std::string_view text);

// Returns the member, or null (a JSON null) when there is none or `json` is no object.
const nlohmann::json& Member(const nlohmann::json& json, std::string_view key);
// Returns the string member, or "".
std::string TextOf(const nlohmann::json& json, std::string_view key);
// Returns the member if it is a number that is not negative.
std::optional<int64_t> CountOf(const nlohmann::json& json, std::string_view key);

// Formats one line; invalid UTF-8 becomes U+FFFD.
std::string DumpWireJson(const nlohmann::json& json);

}  // namespace hone
