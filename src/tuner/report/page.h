// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the frame of every HTML page that Hone writes: one file, nothing loaded from elsewhere, no script in stored
// files; light and dark schemes; for wide screens and phones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

// `title` is plain text, `body` is HTML.
std::string HtmlPage(std::string_view title, std::string_view body);

// The same frame for a page that follows a run (live/): its script is /live.js, which needs the number of events from
// which the page was made, and whether the run had ended.
std::string HtmlLivePage(std::string_view title, std::string_view body, int64_t events, bool ended);

}  // namespace hone
