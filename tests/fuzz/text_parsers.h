// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Feeds the parsers of texts that strangers write with any bytes, for libFuzzer and for the replay test.
// graph_parsers.h does this for graph files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct TextParser {
  std::string_view name;
  // Parses the text; returns normally whatever the bytes are. An error is a Status, and a parsed result is used as the
  // program would use it. Time and memory stay within a small multiple of the input.
  void (*feed)(std::string_view text);
  // Returns valid texts, from which mutations start.
  std::vector<std::string> (*seeds)();
};

std::span<const TextParser> TextParsers();

// Feeds one parser: the first byte chooses it (modulo their number), the rest is the text.
void FeedTextParser(std::string_view input);

}  // namespace hone
