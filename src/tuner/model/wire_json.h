// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads untrusted JSON, in which any field may be missing or of another type: a lookup then returns a default.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

// Parses JSON, if necessary after repairing invalid UTF-8 and unpaired surrogate escapes. The result is_discarded() if
// the text is no JSON even then.
nlohmann::json ParseWireJson(std::string_view text);

// Returns the member, or null (a JSON null) when there is none or `json` is no object.
const nlohmann::json& MemberOrNull(const nlohmann::json& json, std::string_view key);
// Returns the string member, or "".
std::string TextOf(const nlohmann::json& json, std::string_view key);
// Returns the member if it is a number from 0 to 2^53.
std::optional<int64_t> CountOf(const nlohmann::json& json, std::string_view key);

// Returns JSON on one line; invalid UTF-8 becomes U+FFFD.
std::string DumpWireJson(const nlohmann::json& json);

}  // namespace hone
