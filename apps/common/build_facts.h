// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints what a program knows about its own build (this_build.h), for `--version`.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "common/this_build.h"

namespace hone {

// Returns four lines for people: program and version, commit, compiler, CUDA.
std::string BuildText(const std::string& program, const BuildFacts& facts);
// Returns a JSON object with the fields of BuildFacts; unknown ones are null.
std::string BuildJson(const std::string& program, const BuildFacts& facts);

// Adds `--version` to `app`, which has the program's name, and `--json`, which makes `--version` print JSON.
void AddVersionOption(CLI::App& app);

}  // namespace hone
