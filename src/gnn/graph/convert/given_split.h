// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces a graph's division into training, validation and test nodes by one from a file.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Returns `graph` with the split in `path`, a .npy file of integers [num_nodes]: 0 training, 1 validation, 2 test, -1
// none of them. The result shares everything else with `graph`. kInvalidArgument names the file and the first invalid
// entry, a wrong length, or the lack of training nodes. kIo and kNotFound refer to the file.
Result<std::shared_ptr<const Graph>> WithGivenSplit(std::shared_ptr<const Graph> graph, const std::string& path);

}  // namespace hone::gnn
