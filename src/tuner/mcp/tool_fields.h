// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fields that several tools take, each described once.
#pragma once

#include <string_view>

#include "tuner/mcp/schema.h"
#include "tuner/mcp/toolbox.h"

namespace hone::mcp {

// The text of a .cu file: not empty, and within the bound of a request.
inline Json SourceField(std::string_view meaning) {
  Json schema = TextSchema(meaning);
  schema["minLength"] = 1;
  schema["maxLength"] = kMostSourceBytes;
  return schema;
}
inline Json TaskField() {
  return TextSchema("A name that tasks lists, or a folder with a task.toml below the server's root.");
}
inline Json CandidateField() {
  return SourceField("The candidate's whole .cu file, launch plan included. Give this or path.");
}
inline Json PathField() { return TextSchema("The candidate's .cu file below the server's root, in place of source."); }
inline Json DeviceField() {
  return TextSchema(
      "Where to judge: auto (a GPU, else the simulated one), cuda:N, sim (a modelled H200) or sim:NAME. By default the "
      "server's own.");
}
inline Json RunField(std::string_view more) {
  return TextSchema(std::string("A run: the id that run_start gave, a part of one, or last. ") + std::string(more));
}
inline Json LeftOutField() {
  return ListSchema("What was cut to keep the answer short; resources hold it whole.",
                    TextSchema("A place in this answer."));
}

}  // namespace hone::mcp
