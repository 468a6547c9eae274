// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parsers of graph files, fed with any bytes: what libFuzzer and the replay test both call.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hone::gnn {

struct GraphParser {
  std::string_view name;
  // Returns normally whatever the bytes are: an error is a Status, and a parsed source is read to its end. Memory stays
  // within a small multiple of the input.
  void (*feed)(std::span<const std::byte> input);
};

std::span<const GraphParser> GraphParsers();

// The first byte chooses the parser (modulo their number), the rest is the file.
void FeedGraphParser(std::span<const std::byte> input);

}  // namespace hone::gnn
