// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes manual pages, one for the program and one for each of its commands: hone.1, hone-tasks.1,
// hone-tasks-check.1. They hold the text of `--help` in the language of man(7).
#pragma once

#include <string>
#include <vector>

#include "common/guide.h"
#include "hone/base/status.h"

namespace hone {

struct ManPage {
  std::string name;  // "hone-tasks-check.1"
  std::string text;
};

// Returns the pages of `app` and all commands below, the program's first.
std::vector<ManPage> ManPages(const CLI::App& app, const Guide& guide, const std::string& version);

// Writes the pages to `folder`, which is made where it is missing.
Status WriteManPages(const CLI::App& app, const Guide& guide, const std::string& version, const std::string& folder);

}  // namespace hone
