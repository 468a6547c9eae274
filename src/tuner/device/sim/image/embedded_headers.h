// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Embeds the simulator's headers for device code into the program, so that no separate files are needed.
#pragma once

#include <string_view>
#include <vector>

namespace hone::sim {

struct EmbeddedHeader {
  std::string_view path;  // relative to the folder they are written to
  std::string_view text;
};

const std::vector<EmbeddedHeader>& EmbeddedHeaders();

}  // namespace hone::sim
