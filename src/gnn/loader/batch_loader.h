// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares mini-batches in the form that PyTorch Geometric's users know: 64-bit ids, edges as (source, destination)
// pairs of local ids hop by hop, each edge's place in the user's list, and rows of the user's tensors gathered.
//
// Threads of the loader's own sample, gather and finish whole batches ahead of the consumer. Which nodes a batch holds
// depends on the seed, the epoch, the step and the options, and on nothing else. The rule is PyTorch Geometric's: a
// node is drawn once, in the hop after the one that found it (FrontierRule::kNewOnly).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/loader/in_edges.h"
#include "hone/base/status.h"

namespace hone::gnn {

// A tensor whose first dimension counts nodes or edges, as rows of bytes. Borrowed; outlives the loader.
struct RowTable {
  const std::byte* rows = nullptr;
  int64_t count = 0;
  int64_t row_bytes = 0;     // bytes of a row that are copied
  int64_t stride_bytes = 0;  // from row to row
};

struct BatchLoaderOptions {
  std::vector<int32_t> fanouts;       // as SamplerOptions::fanouts
  int64_t batch = 1024;               // seeds a batch, at least 1
  int threads = 0;                    // 0: all that this process may use
  int queue = 0;                      // batches begun and not yet taken, at most; 0: two more than threads
  bool edge_ids = true;               // whether batches say which edges they hold
  std::vector<RowTable> node_tables;  // count == nodes of the graph
  std::vector<RowTable> edge_tables;  // count == edges of the graph; need edge_ids
  bool replace = false;               // as GeneralRules has them
  bool disjoint = false;
  bool induced = false;
  std::span<const double> weights;  // by the order of the list of edges, at least 0; read by Make; empty: all alike
};

// One batch, in one block of memory which goes back to the loader for its next batches when the object is destroyed, on
// any thread, also after the loader's own end.
class LoadedBatch {
 public:
  virtual ~LoadedBatch() = default;
  int64_t step = 0;                       // within the epoch
  std::vector<int64_t> hop_nodes;         // [hops + 1] nodes first met in each hop; the first: the seeds
  std::vector<int64_t> hop_edges;         // [hops] edges drawn in each hop; empty where the batch is induced
  std::span<const int64_t> nodes;         // global ids, seeds first
  std::span<const int64_t> input;         // [seeds] each seed's position among the epoch's seeds
  std::span<const int64_t> sources;       // [edges] local ids
  std::span<const int64_t> destinations;  // [edges] local ids, ascending
  std::span<const int64_t> edge_ids;      // [edges], or empty
  std::span<const int64_t> trees;         // [nodes] position among the batch's seeds; empty unless disjoint
  std::vector<std::byte*> node_rows;      // of each node table: [nodes, row_bytes]
  std::vector<std::byte*> edge_rows;      // of each edge table: [edges, row_bytes]
  std::byte* block = nullptr;             // begin of the memory that all of the above lies in, aligned to 64
  int64_t block_bytes = 0;
};

struct LoaderEpoch {
  std::span<const int64_t>
      seeds;          // distinct unless disjoint; borrowed until the epoch's end was delivered or Cancel returned
  uint64_t seed = 0;  // keys the order and every draw
  uint32_t epoch = 0;
  bool shuffle = true;
  bool drop_last = false;  // leaves out a last batch of fewer seeds
  int64_t first_step = 0;  // for going on in the middle of an epoch
};

// One consumer at a time calls the methods.
class BatchLoader {
 public:
  // kInvalidArgument names the option that is out of range.
  static Result<std::unique_ptr<BatchLoader>> Make(std::shared_ptr<const InEdges> graph,
                                                   const BatchLoaderOptions& options);
  virtual ~BatchLoader() = default;
  // Begins an epoch; one that was under way is cancelled. kInvalidArgument: a seed that is no node.
  virtual Status Start(const LoaderEpoch& epoch) = 0;
  // Returns the next batch in order. Waits for at most `seconds`: kPending, after which one may wait again. Null at the
  // epoch's end. Where preparing a batch failed, its turn gives the status, and the next call the next batch.
  virtual Result<std::unique_ptr<LoadedBatch>> Next(double seconds) = 0;
  // Drops the epoch under way; returns when no thread touches its seeds any more.
  virtual void Cancel() = 0;
  // One batch of these seeds, made by the caller's thread, keyed by (seed, epoch, step). Seeds repeat no node, unless
  // batches are disjoint.
  virtual Result<std::unique_ptr<LoadedBatch>> Load(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch,
                                                    uint32_t step) = 0;
};

}  // namespace hone::gnn
