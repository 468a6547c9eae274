// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets HONE_FUZZ_PARSER choose one parser of a table to fuzz. The fuzzer then changes only the bytes after the first
// one, which stays the number of this parser: an input that it finds can be fed as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace hone {

inline constexpr int kAnyParser = -1;

// Returns the index in `parsers` (256 at most) of the parser that HONE_FUZZ_PARSER names; kAnyParser if it is not set.
// An unknown name ends the program, because an hour with the wrong parser is an hour lost.
template <typename Parsers>
int ChosenParser(const Parsers& parsers) {
  const char* const wanted = std::getenv("HONE_FUZZ_PARSER");
  if (wanted == nullptr || *wanted == '\0') return kAnyParser;
  int index = 0;
  for (const auto& parser : parsers) {
    if (parser.name == wanted) return index;
    ++index;
  }
  std::fprintf(stderr, "HONE_FUZZ_PARSER: '%s' is no parser; there are", wanted);
  for (const auto& parser : parsers) std::fprintf(stderr, " '%.*s'", static_cast<int>(parser.name.size()), parser.name.data());
  std::fprintf(stderr, "\n");
  std::fflush(stderr);
  std::_Exit(2);  // libFuzzer takes an ordinary exit for a crash
}

// Returns whether an input is for the parser number `chosen` among `count`.
inline bool IsForParser(int chosen, size_t count, const uint8_t* data, size_t size) {
  return chosen == kAnyParser || (size > 0 && data[0] % count == static_cast<size_t>(chosen));
}

// Mutates by libFuzzer's own function: the whole input, or all but the first byte if one parser is chosen.
inline size_t MutateForParser(int chosen, uint8_t* data, size_t size, size_t max_size) {
  if (chosen == kAnyParser || max_size < 2) return LLVMFuzzerMutate(data, size, max_size);
  data[0] = static_cast<uint8_t>(chosen);
  return 1 + LLVMFuzzerMutate(data + 1, size > 0 ? size - 1 : 0, max_size - 1);
}

}  // namespace hone
