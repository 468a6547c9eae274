// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the structs through which the kernels of a step share a sampled batch in device memory.
//
// Buffers hold the most that a batch may need (its envelope), so the host sizes nothing at run time. The actual sizes
// lie in device memory, and a kernel launched for the envelope does nothing past them. A sampled row has `fanout`
// slots, used or not, so a row's place needs no prefix sum.
#pragma once

#include <cstdint>

namespace hone::gnn::cuda {

// The largest number of hops of a batch on a GPU. The CPU samples up to kMaxHops (hone/gnn/neighbor_sampler.h).
inline constexpr int kMaxHopsOnDevice = 8;

// The feature rows that are copied from host memory for one batch, to a place behind the cached rows
// (staging_kernels.h).
struct StagingOnDevice {
  int32_t rows = 0;  // capacity in rows; 0: nothing is staged
  int32_t first = 0;  // first row of the feature array that is used for staging
  int32_t row_parts = 0;  // 16-byte parts per row
  int32_t* places = nullptr;  // GraphOnDevice::feature_places
  int32_t* nodes = nullptr;   // [rows] node of each staged row
  int32_t* count = nullptr;   // number of misses; may exceed `rows`: the excess is not staged
  void* cache = nullptr;
  const void* host = nullptr;
};

// The places of the feature rows that a batch's outermost hop reads. The kernel that collects misses
// (staging_kernels.h) writes them, so that the gather neither draws again nor looks ids up. A place >= 0 is a cached
// row, or a staged row behind the cache. A negative place is ~id: once rows are staged, the kernel must look `id` up in
// feature_places. kNoPlace: the row has no such slot.
struct DrawnPlaces {
  int32_t* own = nullptr;    // [nodes]; null: places are not recorded
  int32_t* slots = nullptr;  // [nodes, fanout]
};
inline constexpr int32_t kNoPlace = INT32_MIN;  // not the complement of any id: ids stay below 2^31 - 1

// A graph and its features in device memory. Kernels take the structs of this file by value; the pointers in them do
// not own the memory.
struct GraphOnDevice {
  const int64_t* row_offsets;  // [num_nodes + 1]
  const int32_t* columns;      // [edges] node ids, a node's neighbors from row_offsets on
  const int32_t* labels;       // [num_nodes]; kNoLabel where there is none
  const void* features;        // fp32, fp16 or bf16 rows; by id where feature_places is null
  int64_t num_nodes;
  int64_t feature_stride;      // elements
  int32_t feature_vectors;     // 8-element vectors that hold the width; elements past the width are zero
  // Used where `features` holds only some of the rows (feature_rows.cuh):
  const int32_t* feature_places = nullptr;  // [num_nodes] row of `features`; below zero: only in host memory
  const void* host_features = nullptr;      // all rows by id, as the device sees them
  StagingOnDevice staging = {};
};

// The source of a step's seeds, train[permutation(epoch)(…)]. A step takes batch * shards seeds and deals them to the
// shards in near-equal parts (hone/gnn/batch_pipeline.h). This device makes the batches of shards [first_shard,
// first_shard + local_shards).
struct SeedsOnDevice {
  const int32_t* nodes;  // [count] node ids
  int64_t count;
  int32_t batch;     // seeds per shard and step
  int32_t in_order;  // 1: no permutation (inference)
  int32_t shards;    // shards of a step, on all devices together
  int32_t first_shard, local_shards;
};

// The reason for which a run ends early.
enum RunFailure : uint32_t { kNoFailure = 0, kLossNotFinite = 1, kGradientNotFinite = 2 };

// The parameters and the state of the plateau rule of hone/gnn/optimizer.h, which the device applies without the host.
// patience < 0: no rule.
struct PlateauOnDevice {
  int64_t patience;
  double factor;
  double best;
  int64_t bad_steps;
};

// The state of a pass in device memory, one per pass. The device also reports `halt` and failures in HostProgress.
struct RunState {
  uint64_t seed;
  uint32_t epoch;
  uint32_t next_sample_step;   // step of the next batch to be sampled
  uint32_t next_sample_shard;  // shard of the next batch: its index among the local shards
  uint32_t steps;              // number of steps of this epoch
  uint32_t table_tag;          // tag of the latest batch (NodeTableEntry)
  uint32_t halt;               // 1: a batch did not fit its envelope; nothing moves until the host has seen it
  uint32_t trained_steps;      // steps trained in this epoch
  int64_t adam_step;           // steps trained since the run began; Adam's t
  double learning_rate;
  double loss_sum;            // sum of the labels' losses over the epoch, weighted by class
  double weight_sum;          // sum of the class weights over the epoch; without class weights the number of counted
                              // labels
  int64_t correct;            // correct predictions in this epoch
  int64_t counted;            // labels counted in this epoch
  PlateauOnDevice plateau;
  float gradient_scale;          // factor by which clipping scales the step's gradient; 1: no clipping
  uint32_t gradient_not_finite;  // for the step in progress: 1 an infinite gradient was found, 2 a NaN, 3 both
  uint32_t failure;              // RunFailure of step `trained_steps`; after a failure nothing is updated or counted
  double failed_loss;            // loss of the failed step
  uint32_t updated_blocks;       // thread blocks that have finished the current update; 0 between updates
};

// The progress that the device reports in host memory without being asked. Step n of the epoch, counted from 1, is
// reported at steps[n % kProgressSteps] by one 64-bit write: n << 32 | the bits of its mean loss as a float.
inline constexpr uint32_t kProgressSteps = 1024;
struct HostProgress {
  uint32_t halt;  // the run has halted or failed: the host need not enqueue more
  uint32_t unused;
  unsigned long long steps[kProgressSteps];
};

// The header of a batch buffer, in device memory.
struct BatchHeader {
  uint32_t valid;  // 0: there is no batch, and kernels must do nothing
  uint32_t step;
  uint32_t epoch;
  uint32_t tag;                     // tag of the batch's entries in the node table
  int64_t first_seed;               // index of the first seed in the epoch's order
  double weight;                    // divisor of the loss: labels of the whole step, or the sum of their weights
  int32_t hop_nodes[kMaxHopsOnDevice + 1];  // nodes known after hop h
};

// An entry of the hash table that gives a batch's nodes their local ids. The table is never cleared: an entry is valid
// only if its tag is the batch's. Both halves of an entry lie in one memory sector.
struct alignas(16) NodeTableEntry {
  unsigned long long key;    // tag << 32 | node
  unsigned long long value;  // ~tag << 32 | rank, so atomicMin prefers the newest tag, then the lowest rank. The rank
                             // of a known node is its local id. The rank of a new node is kNewRank + the slot that
                             // found it, until the winning slot replaces the rank by the new id.
};
// The hash table that gives a batch's nodes their local ids.
struct NodeTable {
  NodeTableEntry* entries;
  uint32_t mask;  // number of entries - 1; the number is a power of two
};
inline constexpr uint32_t kNewRank = 1u << 30;  // the smallest rank of a new node; local ids are below it

// An inner hop of a batch: its drawn edges by destination, and by source.
struct HopOnDevice {
  int32_t fanout;
  int32_t rows;     // largest number of destinations
  int32_t sources;  // largest number of sources
  uint32_t* entries;     // [rows * fanout] table entry of the slot; ~0: no slot
  int32_t* columns;      // [rows * fanout] local source id; -1: no slot
  int32_t* counts;       // [rows] slots used
  // Drawn edges by source; all null if nothing is trained.
  uint32_t* slot_ranks;    // [rows * fanout] scratch: the slot's rank among the slots of its source, in arrival order
  uint32_t* ordering;      // [rows * fanout] scratch of the sort
  uint32_t* sorted_slots;  // [rows * fanout] slots by source, ascending within one
  int32_t* first;          // [sources] where a source's slots begin in sorted_slots
  int32_t* end;            // [sources] where a source's slots end; first == end: no row drew the source
  uint32_t* prefix_sum_scratch;  // [tiles of the numbering + 1] scratch for both prefix sums
};

}  // namespace hone::gnn::cuda
