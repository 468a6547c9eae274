// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of templates/, which the build writes (CMakeLists.txt).
#pragma once

#include <string_view>
#include <vector>

namespace hone::gnn {

struct EmbeddedTemplate {
  std::string_view file;  // name in templates/
  std::string_view text;
};
std::vector<EmbeddedTemplate> EmbeddedTemplates();

}  // namespace hone::gnn
