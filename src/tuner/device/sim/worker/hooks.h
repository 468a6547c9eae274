// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of the functions that images call instead of the compiler's own hooks. The functions are in hooks.cc; nothing
// in Hone calls them.
#pragma once

#include <string>
#include <vector>

namespace hone::sim {

// Each symbol S stands here as __wrap_S: what the image's linker gets as --wrap=S.
std::vector<std::string> WrappedSymbols();

}  // namespace hone::sim
