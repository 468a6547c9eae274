// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parsers of texts that strangers write, fed with any bytes: what libFuzzer and the replay test both call. Graph
// files have a room of their own, graph_parsers.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct TextParser {
  std::string_view name;
  // Returns normally whatever the bytes are: an error is a Status, and what was parsed is used as the program would use
  // it. Time and memory stay within a small multiple of the input.
  void (*feed)(std::string_view text);
  // Right texts, from which mutations start.
  std::vector<std::string> (*seeds)();
};

std::span<const TextParser> TextParsers();

// The first byte chooses the parser (modulo their number), the rest is the text.
void FeedTextParser(std::string_view input);

}  // namespace hone
