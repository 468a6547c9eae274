// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The launcher that a task was made from, as a comment in its seed: `hone new` leaves host code out, and who puts a
// faster kernel in its place wants to see both parameter lists side by side.
#pragma once

#include <string>
#include <string_view>

#include "tuner/interop/cu_source.h"

namespace hone {

// One comment line with its end: "// Launcher in conv.cu: void conv(const half* x, int rows)".
std::string LauncherNote(const CuSource& source, const CuFunction& launcher, std::string_view file);

// "void conv(const half* x, int rows) in conv.cu", from a seed's text; empty where it has no such line.
std::string LauncherNoted(std::string_view seed);

}  // namespace hone
