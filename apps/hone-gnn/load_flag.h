// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// --load says, for every command that opens a graph, whether a container is copied into memory or mapped.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hone/gnn/graph.h"

namespace hone::gnn {

// Adds --load. `load` holds the default (map, copy or auto), and the option's value after parsing.
inline CLI::Option* AddLoadFlag(CLI::App& command, std::string& load) {
  return command
      .add_option("--load", load,
                  "how a graph file is opened: map it, copy it into memory, or copy it if it fits (auto)")
      ->capture_default_str()
      ->check(CLI::IsMember({"map", "copy", "auto"}));
}

// Adds --split: a file that says which nodes are for training, validation and test; empty: the graph's own.
inline CLI::Option* AddSplitFlag(CLI::App& command, std::string& file) {
  return command.add_option(
      "--split", file,
      "use this .npy file instead of the graph's split: for each node 0 training, 1 validation, 2 test, -1 none");
}

inline OpenGraphOptions::Load LoadOf(const std::string& load) {
  return load == "map"    ? OpenGraphOptions::Load::kMap
         : load == "copy" ? OpenGraphOptions::Load::kCopy
                          : OpenGraphOptions::Load::kAuto;
}

}  // namespace hone::gnn
