// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON and CBOR as text and bytes: a bundle in a spool, an exported run, a server's answer, a container's note. Every
// file reads and writes JSON through these functions instead of through nlohmann's own templates, so that the parser
// and the writer are compiled once (each file that does otherwise costs about a second), and so that one rule holds for
// strangers' text.
//
// The library's own parser copes with any depth, but whoever copies, writes or walks what the parser made recurses once
// a level, and a hundred thousand brackets end the program then. So the depth is looked at before anything is parsed.
//
// All functions are thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Brackets within brackets that are read. Nothing of ours needs more than a dozen.
inline constexpr int kMaxJsonDepth = 128;

// The byte at which brackets outside of strings are nested deeper than that, or npos. Looks at quotes and brackets alone:
// whether the text is JSON does not matter.
size_t FindTooDeepJson(std::string_view text);

// Writes `value` as text that is always valid JSON: bytes that are no UTF-8 (a compiler may print any) become U+FFFD.
// `indent` < 0: one line.
std::string DumpJson(const nlohmann::json& value, int indent = -1);
std::string DumpJson(const nlohmann::ordered_json& value, int indent = -1);

// Parses a whole text; kInvalidArgument says where it stops being JSON, or nests too deeply. `what` names the text in
// the message.
Result<nlohmann::json> ParseJson(std::string_view text, std::string_view what);

// The value, or a discarded one (is_discarded()) where the text is no JSON or nests too deeply. A discarded value is
// neither an object nor an array, a string or a number. Never throws but for want of memory.
nlohmann::json ReadJsonText(std::string_view text);
nlohmann::ordered_json ReadOrderedJsonText(std::string_view text);

// The same value in CBOR's bytes, which hold strings that are no UTF-8 and binary values.
std::string JsonToCbor(const nlohmann::json& value);
// Reads CBOR's bytes, which must be of Hone's own writing, for nested arrays are read by recursion; kInvalidArgument
// says where they stop being CBOR. `what` names the bytes in the message.
Result<nlohmann::json> JsonFromCbor(std::string_view bytes, std::string_view what);

}  // namespace hone
