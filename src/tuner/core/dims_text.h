// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The dimensions of a case as messages, reports and labels name them, and as options give them.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/task.h"

namespace hone {

// "d=4096 tokens=256": in the order of their names; empty for none.
std::string DimsText(const Dims& dims);

// "rows=128,d=4096", blanks around the parts allowed; no size is below `least`. kInvalidArgument names `option` and
// quotes the text where a part is no NAME=SIZE or a name stands twice.
Result<Dims> ParseDims(std::string_view option, std::string_view text, int64_t least);

}  // namespace hone
