// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records the declaration of the launcher that a task was made from, as a comment in the seed. `hone new` leaves host
// code out, and a user who replaces the launcher by a faster kernel must compare the two parameter lists.
#pragma once

#include <string>
#include <string_view>

#include "tuner/interop/read/cu_source.h"

namespace hone {

// Returns one comment line with its end: "// Launcher in conv.cu: void conv(const half* x, int rows)".
std::string LauncherNote(const CuSource& source, const CuFunction& launcher, std::string_view file);

// Returns "void conv(const half* x, int rows) in conv.cu" from a seed's text; empty if it has no such line.
std::string LauncherNoted(std::string_view seed);

}  // namespace hone
