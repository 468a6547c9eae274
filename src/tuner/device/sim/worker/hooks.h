// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names the functions that images call instead of the compiler's own hooks. They are defined in hooks.cc; nothing in
// Hone calls them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Counts of what device code has computed on this thread of the host since the last reset to zero; image/work_count.h
// defines their order and units.
extern "C" thread_local uint64_t hone_sim_work[6];

namespace hone::sim {

// Each symbol S is defined here as __wrap_S, and the image's linker gets --wrap=S.
std::vector<std::string> WrappedSymbols();

}  // namespace hone::sim
