// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes JSON and CBOR: a bundle in a spool, an exported run, a server's answer, a container's note. Every
// file uses these functions instead of nlohmann's templates, so that the parser and the writer are compiled once (about
// a second per file otherwise), and so that one depth limit holds for untrusted text.
//
// The library's parser accepts any depth, but copying, writing or walking the parsed value recurses once per level, and
// a hundred thousand brackets overflow the stack. So the depth is checked before parsing.
//
// All functions are thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Limit on the depth of brackets within brackets. Hone's own files need no more than a dozen.
inline constexpr int kMaxJsonDepth = 128;

// Returns the position of the first bracket, outside strings, that exceeds kMaxJsonDepth, or npos. Looks only at quotes
// and brackets: the text need not be valid JSON.
size_t FindTooDeepJson(std::string_view text);

// Writes `value` as text that is always valid JSON: bytes that are not UTF-8 (a compiler may print any) become U+FFFD.
// `indent` < 0: one line.
std::string DumpJson(const nlohmann::json& value, int indent = -1);
std::string DumpJson(const nlohmann::ordered_json& value, int indent = -1);

// Parses a whole text; kInvalidArgument says where the text stops being JSON or nests too deeply. `what` names the text
// in the message.
Result<nlohmann::json> ParseJson(std::string_view text, std::string_view what);

// Returns the value, or a discarded one (is_discarded()) if the text is not JSON or nests too deeply. A discarded value
// is of no JSON type: is_object(), is_array(), is_string() and is_number() are false. Throws only if memory runs out.
nlohmann::json ReadJsonText(std::string_view text);
nlohmann::ordered_json ReadOrderedJsonText(std::string_view text);

// Returns the same value as CBOR, which can also hold binary values and strings that are not UTF-8.
std::string JsonToCbor(const nlohmann::json& value);
// Reads CBOR that Hone wrote itself: nested arrays are read by recursion, so untrusted bytes could overflow the stack.
// kInvalidArgument says where the bytes stop being CBOR. `what` names the bytes in the message.
Result<nlohmann::json> JsonFromCbor(std::string_view bytes, std::string_view what);

}  // namespace hone
