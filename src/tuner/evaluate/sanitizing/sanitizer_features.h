// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file finds out what the installed compute-sanitizer can do, from its help text. Starting the program for that
// takes as long as a tenth of a verdict's watched cases, so the text is kept: in this process, and in Hone's cache. A
// text belongs to one path, with symbolic links followed, and to one size and modification time of the file there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tuner/evaluate/sanitizing/sanitizer_report.h"

namespace hone {

// Returns what `program` can do. `cache_directory`: folder in which help texts are kept; empty: none. `help` runs the
// program and returns the text that it prints, nullopt if it failed; it is called only where no text is kept. A text
// that is no help text is not kept. Any thread.
SanitizerFeatures FeaturesOf(const std::string& program, const std::string& cache_directory,
                             const std::function<std::optional<std::string>()>& help);

}  // namespace hone
