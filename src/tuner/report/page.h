// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the frame of every HTML page that Hone writes. A page is one file that loads nothing from elsewhere; a stored
// page has no script. Pages have a light and a dark scheme, and fit wide screens and phones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

// Returns a page. `title` is plain text, `body` is HTML.
std::string HtmlPage(std::string_view title, std::string_view body);

// Returns a page that follows a run (live/). Its script /live.js needs the number of events from which the page was
// made, and whether the run had ended.
std::string HtmlLivePage(std::string_view title, std::string_view body, int64_t events, bool ended);

}  // namespace hone
