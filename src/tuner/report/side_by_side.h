// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two versions of a kernel in two columns, for a page.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// A table with a row a line: number and coloured text of `before` on the left, of `after` on the right. Lines that were
// removed stand beside the lines that replaced them. `context` lines are shown around each change; below 0, every line
// is. The names head the columns and are escaped here. Two equal texts give a sentence in place of the table.
std::string SideBySide(std::string_view before, std::string_view after, std::string_view before_name,
                       std::string_view after_name, int context = -1);

}  // namespace hone
