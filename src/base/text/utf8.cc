// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

namespace hone {
namespace {

// Returns the value of "\uXXXX" at the start of `text`, or -1.
int EscapeValue(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return -1;
  const std::string digits(text.substr(2, 4));
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return -1;
  return static_cast<int>(std::strtol(digits.c_str(), nullptr, 16));
}

}  // namespace

size_t Utf8CharacterLength(std::string_view text, size_t& bad) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  bad = 1;
  if (first < 0x80) return 1;
  size_t length = 0;
  uint8_t low = 0x80, high = 0xBF;  // range of the second byte
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;   // smaller values are overlong
    if (first == 0xED) high = 0x9F;  // larger values are surrogates
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) {
      bad = i;
      return 0;
    }
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

Status CheckUtf8(std::string_view text, std::string_view file) {
  for (size_t at = 0, bad = 0; at < text.size();) {
    const size_t length = Utf8CharacterLength(text.substr(at), bad);
    if (length == 0) {
      return Status::InvalidArgument(fmt::format("{}:{}: the byte 0x{:02x} is no UTF-8: save the file in that encoding, such as with "
                                                 "iconv -f ISO-8859-1 -t UTF-8", file,
                                                 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'),
                                                 static_cast<uint8_t>(text[at])));
    }
    at += length;
  }
  return Status::Ok();
}

std::string RepairUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    size_t bad = 0;
    if (const size_t length = Utf8CharacterLength(text, bad); length > 0) {
      out += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(bad);
    }
  }
  return out;
}

std::string RepairSurrogateEscapes(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size();) {
    if (json[i] != '\\') {
      out += json[i++];
      continue;
    }
    const int value = EscapeValue(json.substr(i));
    if (value < 0xD800 || value > 0xDFFF) {  // another escape; its second character may be a backslash
      out += json.substr(i, 2);
      i += 2;
      continue;
    }
    const int low_surrogate = EscapeValue(json.substr(std::min(i + 6, json.size())));
    if (value < 0xDC00 && low_surrogate >= 0xDC00 && low_surrogate <= 0xDFFF) {
      out += json.substr(i, 12);
      i += 12;
    } else {
      out += "\\ufffd";
      i += 6;
    }
  }
  return out;
}

std::string ClipText(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace hone
