// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator's headers for device code, as they stood when Hone was built, so that one binary is all there is.
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
