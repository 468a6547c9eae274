// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading JSON that others wrote, where any field may be missing or of another type: a lookup gives what is there.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

// Repairs broken UTF-8 and halved surrogate escapes first; discarded() when it is no JSON even so.
nlohmann::json ParseWireJson(std::string_view text);

// The member, or null (a JSON null) when there is none or `json` is no object.
const nlohmann::json& Member(const nlohmann::json& json, std::string_view key);
// The string member, or "".
std::string TextOf(const nlohmann::json& json, std::string_view key);
// The member when it is a number that is not negative.
std::optional<int64_t> CountOf(const nlohmann::json& json, std::string_view key);

// One line; bytes that are no UTF-8 become U+FFFD.
std::string DumpWireJson(const nlohmann::json& json);

}  // namespace hone
