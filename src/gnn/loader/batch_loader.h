// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares mini-batches in the form that PyTorch Geometric's users know: 64-bit ids, edges as (source, destination)
// pairs of local ids hop by hop, each edge's place in the user's list, and rows of the user's tensors gathered.
//
// The loader's own threads sample, gather and finish whole batches ahead of the consumer. The nodes of a batch depend
// on the seed, the epoch, the step and the options, and on nothing else. As in PyTorch Geometric, a node's neighbors
// are drawn once, in the hop after the one that found the node (FrontierRule::kNewOnly).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/loader/in_edges.h"
#include "hone/base/status.h"

namespace hone::gnn {

// A tensor whose first dimension is nodes or edges, seen as rows of bytes. Borrowed; must outlive the loader.
struct RowTable {
  const std::byte* rows = nullptr;
  int64_t count = 0;
  int64_t row_bytes = 0;     // bytes of a row that are copied
  int64_t stride_bytes = 0;  // from row to row
};

struct BatchLoaderOptions {
  std::vector<int32_t> fanouts;       // see SamplerOptions::fanouts
  int64_t batch = 1024;               // seeds per batch, at least 1
  int threads = 0;                    // 0: all that this process may use
  int queue = 0;                      // most batches in preparation or waiting for the consumer; 0: threads + 2
  bool edge_ids = true;               // true: batches have the ids of their edges
  std::vector<RowTable> node_tables;  // to gather from; count == nodes of the graph
  std::vector<RowTable> edge_tables;  // to gather from; count == edges of the graph; require edge_ids
  bool replace = false;               // this and the next two: see GeneralRules
  bool disjoint = false;
  bool induced = false;
  // Weights by position in the list of edges, at least 0. Only Make reads them. Empty: all are equal.
  std::span<const double> weights;
};

// One batch, in one block of memory. Destroying the object returns the block to the loader for its next batches; this
// may happen on any thread, also after the loader's own end.
class LoadedBatch {
 public:
  virtual ~LoadedBatch() = default;
  int64_t step = 0;                       // within the epoch
  std::vector<int64_t> hop_nodes;         // [hops + 1] nodes found in each hop; [0]: the seeds
  std::vector<int64_t> hop_edges;         // [hops] edges drawn in each hop; empty if the batch is induced
  std::span<const int64_t> nodes;         // global ids, seeds first
  std::span<const int64_t> input;         // [seeds] each seed's position among the epoch's seeds
  std::span<const int64_t> sources;       // [edges] local ids
  std::span<const int64_t> destinations;  // [edges] local ids, ascending
  std::span<const int64_t> edge_ids;      // [edges] position in the user's list of edges; empty without edge_ids
  // [nodes]: for each node, the position in the batch of the seed to which it belongs; empty unless disjoint.
  std::span<const int64_t> trees;
  std::vector<std::byte*> node_rows;  // of each node table: [nodes, row_bytes]
  std::vector<std::byte*> edge_rows;  // of each edge table: [edges, row_bytes]
  std::byte* block = nullptr;         // start of the memory that holds all of the above, aligned to 64
  int64_t block_bytes = 0;
};

struct LoaderEpoch {
  // Distinct unless disjoint; borrowed until Next has returned the epoch's end, or Cancel returned.
  std::span<const int64_t> seeds;
  uint64_t seed = 0;  // keys the order and every draw
  uint32_t epoch = 0;
  bool shuffle = true;
  bool drop_last = false;  // true: a last batch with fewer seeds is left out
  int64_t first_step = 0;  // step to begin with, to continue in the middle of an epoch
};

// One thread at a time may call the functions of a loader.
class BatchLoader {
 public:
  // Makes a loader and starts its threads. kInvalidArgument names the option that is out of range.
  static Result<std::unique_ptr<BatchLoader>> Make(std::shared_ptr<const InEdges> graph,
                                                   const BatchLoaderOptions& options);
  virtual ~BatchLoader() = default;
  // Begins an epoch, and cancels the present one, if any. kInvalidArgument: a seed is not a node.
  virtual Status Start(const LoaderEpoch& epoch) = 0;
  // Returns the next batch in order, or null at the epoch's end. Waits for at most `seconds`; then kPending, after
  // which the caller may wait again. If preparing a batch failed, Next returns the error in that batch's place, and the
  // following batch on the next call.
  virtual Result<std::unique_ptr<LoadedBatch>> Next(double seconds) = 0;
  // Drops the present epoch; returns when no thread reads its seeds any more.
  virtual void Cancel() = 0;
  // Makes one batch of these seeds on the caller's thread, keyed by (seed, epoch, step). The seeds must be distinct,
  // unless batches are disjoint.
  virtual Result<std::unique_ptr<LoadedBatch>> Load(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch,
                                                    uint32_t step) = 0;
};

}  // namespace hone::gnn
