// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/markup.h"

#include "base/text/visible_text.h"

namespace hone {

std::string EscapeMarkup(std::string_view text) {
  std::string out;
  for (const char c : VisibleText(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '\r':
        break;  // the first half of a Windows line end: VisibleText leaves no other carriage return
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace hone
