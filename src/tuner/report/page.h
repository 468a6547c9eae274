// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The frame of every HTML page that Hone writes: one file, no script, nothing fetched; light and dark; a desk's width
// and a phone's.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// `title` is plain text, `body` is HTML.
std::string HtmlPage(std::string_view title, std::string_view body);

}  // namespace hone
