// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes the command that resumes a run, for messages: it must work when it is copied unchanged.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace hone::gnn {

// Returns `hone-gnn train GRAPH --resume FROM`, followed by those options of `command` that a checkpoint does not keep
// (--device, --ranks, --save-every, …), in the order of --help. Options in `kept` (those that the checkpoint keeps) and
// options of output alone are left out. If the run was itself resumed, --epochs and --checkpoint are repeated: the
// checkpoint that it began from has a number of epochs of its own, and may lie in another folder.
std::string GoOnCommand(const CLI::App& command, std::span<CLI::Option* const> kept, const std::string& graph,
                        const std::string& from, bool repeat_epochs, bool repeat_checkpoint);

}  // namespace hone::gnn
