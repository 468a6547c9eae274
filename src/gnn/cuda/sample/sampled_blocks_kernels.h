// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the kernels of SampledBlocks (sampled_blocks.h): a hop draws, numbers its new nodes, and is made compact.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {

// The parameters that all hops of a batch share.
struct BlocksBatch {
  GraphOnDevice graph;
  NodeTable table;
  DrawKey key;         // the kernels set its hop
  uint32_t tag;        // tag of the batch in the table
  int32_t* nodes;      // global id by local id
  int32_t* hop_nodes;  // [hops + 1]
  uint32_t* words;     // scratch: BlockWords of the largest number of slots or rows
};

// A hop. Its rows are the nodes known before it, or only the new ones among them. Rows have a fixed stride of `fanout`
// slots until they are made compact.
struct BlockHop {
  int32_t number;        // 0 is next to the seeds
  int32_t fanout;        // slots per row, any number
  int32_t rows;          // largest number of rows
  int32_t new_only;      // 1: row_offsets, columns and edge_ids hold all hops, one after the other
  uint32_t* entries;     // [rows * fanout] scratch: table entry of each slot's node
  int64_t* drawn;        // [rows * fanout] scratch: the slot's position in graph.columns; null if edge_ids is
  int32_t* counts;       // [rows] scratch: slots used
  int32_t* row_offsets;  // [rows + 1] where each row begins in `columns`; row_offsets[0] is 0
  int32_t* columns;      // local ids
  int64_t* edge_ids;     // positions in graph.columns; null: not requested
};

// Returns the number of words of scratch for `items` slots or rows.
int64_t BlockWords(int64_t items);

// Writes the seeds' local ids, without repeats, into hop_nodes[0] and nodes. `entries` [count] is scratch.
cudaError_t EnqueueBlockSeeds(const BlocksBatch& batch, const int32_t* seeds, int32_t count, uint32_t* entries,
                              cudaStream_t stream);
// Samples hop hop.number, after the previous hop.
cudaError_t EnqueueBlockHop(const BlocksBatch& batch, const BlockHop& hop, cudaStream_t stream);

}  // namespace hone::gnn::cuda
