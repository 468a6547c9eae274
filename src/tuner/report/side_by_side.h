// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows two versions of a kernel in two columns of a page.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Returns an HTML table with a row per line: number and coloured text of `before` on the left, of `after` on the right.
// Removed lines are beside the lines that replace them. `context`: number of unchanged lines shown around each change;
// below 0, all. The names are the columns' headers and are escaped here. Two equal texts give a sentence instead of the
// table.
std::string SideBySide(std::string_view before, std::string_view after, std::string_view before_name,
                       std::string_view after_name, int context = -1);

}  // namespace hone
