// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph with another division into training, validation and test nodes than its own, which a file gives.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// `path`: a .npy file of whole numbers [num_nodes]: 0 training, 1 validation, 2 test, -1 none of them. All else is
// `graph`'s, which the result shares. kInvalidArgument names the file and the first entry that is something else, a
// wrong length, or says that no node is for training; kIo and kNotFound: of the file.
Result<std::shared_ptr<const Graph>> WithGivenSplit(std::shared_ptr<const Graph> graph, const std::string& path);

}  // namespace hone::gnn
