// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of SampledBlocks (sampled_blocks.h). A hop draws, numbers what is new, and is made compact.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {

// What all hops of a batch share.
struct BlocksBatch {
  GraphOnDevice graph;
  NodeTable table;
  DrawKey key;         // its hop is the kernels'
  uint32_t tag;        // of the batch in the table
  int32_t* nodes;      // global id by local id
  int32_t* hop_nodes;  // [hops + 1]
  uint32_t* words;     // scratch, BlockWords of the most slots and rows
};

// One hop. Its rows are the nodes known before it, or the new ones among them; they lie at fixed strides until the end.
struct BlockHop {
  int32_t number;        // 0 is next to the seeds
  int32_t fanout;        // slots a row, any number
  int32_t rows;          // at most
  int32_t new_only;      // 1: row_offsets, columns and edge_ids are all hops', one behind the other
  uint32_t* entries;     // [rows * fanout] scratch: the table's entry of what a slot drew
  int64_t* drawn;        // [rows * fanout] scratch: its place in graph.columns; null where edge_ids is
  int32_t* counts;       // [rows] scratch: slots used
  int32_t* row_offsets;  // row_offsets[0] is 0
  int32_t* columns;
  int64_t* edge_ids;     // null: not wanted
};

// Words of scratch for `items` slots or rows.
int64_t BlockWords(int64_t items);

// Local ids of the seeds, the first of repeats, into hop_nodes[0] and nodes. `entries` [count] is scratch.
cudaError_t EnqueueBlockSeeds(const BlocksBatch& batch, const int32_t* seeds, int32_t count, uint32_t* entries,
                              cudaStream_t stream);
// Hop hop.number, after the one before it.
cudaError_t EnqueueBlockHop(const BlocksBatch& batch, const BlockHop& hop, cudaStream_t stream);

}  // namespace hone::gnn::cuda
