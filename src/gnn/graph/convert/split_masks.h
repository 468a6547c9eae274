// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads splits that are stored as masks: one array for each of train, valid and test, true (or 1) at the nodes of the
// split. With a second dimension the masks hold several official splits, of which one is used.
#pragma once

#include <optional>
#include <string>

#include "gnn/graph/convert/graph_source.h"
#include "gnn/graph/convert/npy_array.h"
#include "hone/base/status.h"

namespace hone::gnn {

struct MaskArrays {
  std::optional<NpyArray> masks[3];  // train, valid, test; at least one is set
  bool splits_first = false;         // several splits are stored as [K, N]; otherwise as [N, K]
};

// Reads the masks into the split fields of `source`. `split_index`: the split to use, if there are several; -1: not
// given, the first. kInvalidArgument: a mask with values other than 0 and 1, without a node, of another length than the
// others, or that shares a node with another; masks without a train mask; a split_index that is out of range, or given
// for a single split. The message names the file, and the row if there is one.
Status ReadSplitMasks(const MaskArrays& arrays, int split_index, GraphSource& source);

}  // namespace hone::gnn
