// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Feeds the parsers of graph files with any bytes, for libFuzzer and for the replay test.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hone::gnn {

struct GraphParser {
  std::string_view name;
  // Parses the input; returns normally whatever the bytes are. An error is a Status, and a parsed source is read to its
  // end. Memory stays within a small multiple of the input.
  void (*feed)(std::span<const std::byte> input);
};

std::span<const GraphParser> GraphParsers();

// Feeds one parser: the first byte chooses it (modulo their number), the rest is the file.
void FeedGraphParser(std::span<const std::byte> input);

}  // namespace hone::gnn
