// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats the dimensions of a case for messages, reports and labels, and parses them from options.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/task.h"

namespace hone {

// Returns "d=4096 tokens=256", ordered by name; empty for none.
std::string DimsText(const Dims& dims);

// Parses "rows=128,d=4096", with blanks allowed around the parts; sizes must be at least `least`. kInvalidArgument
// names `option` and quotes the text if a part is not NAME=SIZE or a name is repeated.
Result<Dims> ParseDims(std::string_view option, std::string_view text, int64_t least);

}  // namespace hone
