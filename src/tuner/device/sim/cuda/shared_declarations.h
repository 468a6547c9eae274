// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the host compiler from giving shared variables a guard.
//
// `__shared__` is thread_local here. For an array of a class that has any constructor of its own (__half, float4),
// g++ guards the first use by a flag, even though the default constructor does nothing: the flag would be one more
// shared variable, read by every thread and written by the first, and would look like a race.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Gives every `__shared__` variable of `source` that is neither extern nor initialised an empty initialiser, which
// makes it static. Line numbers do not change. The contents of shared memory are still undefined: the runtime poisons
// them at the start of a block.
std::string InitializeSharedVariables(std::string_view source);

}  // namespace hone
