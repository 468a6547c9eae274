// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of the functions that images call instead of the compiler's own hooks. The functions are in hooks.cc; nothing
// in Hone calls them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What device code has computed on this thread of the host since somebody set it to zero; image/work_count.h says in which
// order and of what.
extern "C" thread_local uint64_t hone_sim_work[4];

namespace hone::sim {

// Each symbol S stands here as __wrap_S: what the image's linker gets as --wrap=S.
std::vector<std::string> WrappedSymbols();

}  // namespace hone::sim
