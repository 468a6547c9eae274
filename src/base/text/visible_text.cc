// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text/utf8.h"

namespace hone {
namespace {

struct Range {
  uint32_t first, last;
};

// Ranges of invisible characters of Unicode 15.1, ascending: general categories Cf (format), Zl and Zp (line and
// paragraph separators), and Cc beyond ASCII; also the noncharacters U+FFFE and U+FFFF, which XML forbids.
constexpr Range kUnseen[] = {
    {0x7F, 0x9F},       {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},
    {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},   {0x200B, 0x200F},
    {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},
    {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE007F},
};

bool IsUnseen(uint32_t character) {
  const Range* range = std::lower_bound(std::begin(kUnseen), std::end(kUnseen), character,
                                        [](const Range& r, uint32_t c) { return r.last < c; });
  return range != std::end(kUnseen) && range->first <= character;
}

// Returns the code point of a well-formed UTF-8 character.
uint32_t Decode(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(character[i]); };
  uint32_t value = character.size() == 1 ? byte(0) : byte(0) & (0x7Fu >> character.size());
  for (size_t i = 1; i < character.size(); ++i) value = value << 6 | (byte(i) & 0x3Fu);
  return value;
}

std::string EscapeInvisible(std::string_view text, bool one_line) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto first = static_cast<uint8_t>(text[0]);
    if (first < 0x20) {
      const bool line_end = text[0] == '\n' || text.starts_with("\r\n");
      if (!one_line && (line_end || text[0] == '\t')) {
        out += text[0];
      } else {
        out += fmt::format("\\x{:02x}", first);
      }
      text.remove_prefix(1);
      continue;
    }
    if (first < 0x7F) {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    size_t bad = 0;
    const size_t length = Utf8CharacterLength(text, bad);
    if (length == 0) {
      for (size_t i = 0; i < bad; ++i) out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[i]));
      text.remove_prefix(bad);
      continue;
    }
    const uint32_t character = Decode(text.substr(0, length));
    if (!IsUnseen(character)) {
      out += text.substr(0, length);
    } else if (character < 0x10000) {
      out += fmt::format("\\u{:04x}", character);
    } else {
      const uint32_t surrogate_bits = character - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (surrogate_bits >> 10), 0xDC00 + (surrogate_bits & 0x3FF));
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string VisibleText(std::string_view text) { return EscapeInvisible(text, false); }
std::string VisibleLine(std::string_view text) { return EscapeInvisible(text, true); }

}  // namespace hone
