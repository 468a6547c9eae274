// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The dimensions of a case as messages, reports and labels name them.
#pragma once

#include <string>

#include "hone/tuner/task.h"

namespace hone {

// "d=4096 tokens=256": in the order of their names; empty for none.
std::string DimsText(const Dims& dims);

}  // namespace hone
