// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One parser of a table alone is fuzzed where HONE_FUZZ_PARSER names it. The fuzzer then changes what follows the first
// byte, and the first byte stays the one that chooses this parser: what it finds needs nothing to be fed again.
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

// The place of the parser that HONE_FUZZ_PARSER names in `parsers` (256 at most), kAnyParser where it is not set. A name
// that is none ends the program, for an hour with the wrong parser is an hour lost.
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
  std::_Exit(2);  // libFuzzer takes an ordinary exit for a fault
}

// Whether the input is one for the chosen parser of `count`.
inline bool IsForParser(int chosen, size_t count, const uint8_t* data, size_t size) {
  return chosen == kAnyParser || (size > 0 && data[0] % count == static_cast<size_t>(chosen));
}

// libFuzzer's own mutation, of all but the first byte where one parser was chosen.
inline size_t MutateForParser(int chosen, uint8_t* data, size_t size, size_t max_size) {
  if (chosen == kAnyParser || max_size < 2) return LLVMFuzzerMutate(data, size, max_size);
  data[0] = static_cast<uint8_t>(chosen);
  return 1 + LLVMFuzzerMutate(data + 1, size > 0 ? size - 1 : 0, max_size - 1);
}

}  // namespace hone
