// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes how a sampled batch lies in device memory, and what the kernels of a step share.
//
// The host sizes nothing here at run time: buffers hold the most that a batch may need (its envelope), the actual sizes
// lie in device memory, and a kernel launched for the envelope does nothing past the size. Rows have a fixed stride of
// `fanout` slots, so a row's place needs no prefix sum.
#pragma once

#include <cstdint>

namespace hone::gnn::cuda {

// The most hops of a batch on a GPU; the CPU samples up to kMaxHops (hone/gnn/neighbor_sampler.h).
inline constexpr int kMaxHopsOnDevice = 8;

// Rows that are copied from the host for one batch and placed behind the cached rows (staging_kernels.h).
struct StagingOnDevice {
  int32_t rows = 0;  // capacity in rows; 0: nothing is staged
  int32_t first = 0;  // first row of the feature array that is used for staging
  int32_t row_parts = 0;  // 16-byte parts per row
  int32_t* places = nullptr;  // GraphOnDevice::feature_places
  int32_t* nodes = nullptr;   // [rows] node of each staged row
  int32_t* count = nullptr;   // number of misses; may exceed `rows`, and those past it are not staged
  void* cache = nullptr;
  const void* host = nullptr;
};

// Where the feature rows lie that a batch's outermost hop reads. The kernel that collects misses writes these places
// (staging_kernels.h), so that the gather needs neither draw nor look up. A place is a row of the cache or a staged row
// behind the cache; a negative place is ~id: look the id up in the map once rows are staged; kNoPlace: no such slot.
struct DrawnPlaces {
  int32_t* own = nullptr;    // [nodes]; null: not wanted
  int32_t* slots = nullptr;  // [nodes, fanout]
};
inline constexpr int32_t kNoPlace = INT32_MIN;  // not the complement of any id: ids stay below 2^31 - 1

// Kernels take these structs by value: plain pointers into memory that they do not own.
struct GraphOnDevice {
  const int64_t* row_offsets;  // [num_nodes + 1]
  const int32_t* columns;
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

// Describes the source of a step's seeds, train[permutation(epoch)(…)]. A step takes batch * shards seeds and deals
// them to the shards in near-equal parts (hone/gnn/batch_pipeline.h); batches here belong to a range of the shards.
struct SeedsOnDevice {
  const int32_t* nodes;
  int64_t count;
  int32_t batch;
  int32_t in_order;  // 1: no permutation (inference)
  int32_t shards;    // shards of a step, on all devices together
  int32_t first_shard, local_shards;
};

// Names the reason for which a run ends by itself.
enum RunFailure : uint32_t { kNoFailure = 0, kLossNotFinite = 1, kGradientNotFinite = 2 };

// Parameters of the plateau rule of hone/gnn/optimizer.h, which the device applies without the host; patience < 0: no
// rule.
struct PlateauOnDevice {
  int64_t patience;
  double factor;
  double best;
  int64_t bad_steps;
};

// State of a pass on the device, one per pass. `halt` and failures are also reported in HostProgress.
struct RunState {
  uint64_t seed;
  uint32_t epoch;
  uint32_t next_sample_step;  // the step that the next BeginBatch takes,
  uint32_t next_sample_shard; // index of that shard among the local shards
  uint32_t steps;             // in this epoch
  uint32_t table_tag;
  uint32_t halt;              // a batch did not fit its envelope: nothing moves until the host has seen it
  uint32_t trained_steps;     // in this epoch
  int64_t adam_step;          // over the run
  double learning_rate;
  double loss_sum;            // over the epoch, weighted by class
  double weight_sum;          // sum of the class weights over the epoch; without class weights the number of counted
                              // labels
  int64_t correct;
  int64_t counted;
  PlateauOnDevice plateau;
  float gradient_scale;          // factor by which clipping scales the step's gradient; 1: no clipping
  uint32_t gradient_not_finite;  // for the step in progress: 1 an infinite gradient was found, 2 a NaN, 3 both
  uint32_t failure;              // why step `trained_steps` failed; after a failure nothing is updated or counted
  double failed_loss;            // loss of the failed step
  uint32_t updated_blocks;       // blocks of the current update that are done; 0 between updates
};

// Progress that the device reports by itself, in host memory. A step's word is written in one piece at [count %
// kProgressSteps]: the step's count in the epoch (from 1) << 32 | its mean loss as a float.
inline constexpr uint32_t kProgressSteps = 1024;
struct HostProgress {
  uint32_t halt;  // the run has halted or failed: the host need not enqueue more
  uint32_t unused;
  unsigned long long steps[kProgressSteps];
};

// Header of a batch buffer, in device memory.
struct BatchHeader {
  uint32_t valid;
  uint32_t step;
  uint32_t epoch;
  uint32_t tag;
  int64_t first_seed;               // index of the first seed in the epoch's order
  double weight;                    // divisor of the loss: labels, or the sum of their weights, of the whole step
  int32_t hop_nodes[kMaxHopsOnDevice + 1];  // nodes known after hop h
};

// The table is never cleared: an entry is valid only if its tag is the batch's. Both halves lie in one memory sector.
struct alignas(16) NodeTableEntry {
  unsigned long long key;    // tag << 32 | node
  unsigned long long value;  // ~tag << 32 | rank; atomicMin therefore prefers the newest tag, then the lowest rank. The
                             // rank of a known node is its local id; that of a new node is kNewRank + the slot that
                             // found it, until the winning slot replaces it by the new id.
};
struct NodeTable {
  NodeTableEntry* entries;
  uint32_t mask;
};
inline constexpr uint32_t kNewRank = 1u << 30;

// An inner hop: its drawn edges, by destination and by source.
struct HopOnDevice {
  int32_t fanout;
  int32_t rows;     // largest number of destinations
  int32_t sources;  // largest number of sources
  uint32_t* entries;     // [rows * fanout] table entry of the slot; ~0: no slot
  int32_t* columns;      // [rows * fanout] local source id; -1: no slot
  int32_t* counts;       // [rows] slots used
  // Drawn edges by source; all null where nothing is trained.
  uint32_t* slot_ranks;    // [rows * fanout] scratch: the slot's rank among the slots of its source, in no order
  uint32_t* ordering;      // [rows * fanout] scratch
  uint32_t* sorted_slots;  // [rows * fanout] slots by source, ascending within one
  int32_t* first;          // [sources] where a source's slots begin in sorted_slots
  int32_t* end;            // [sources] where a source's slots end; first == end: no row drew the source
  uint32_t* tile_words;    // [tiles of the numbering + 1] scratch for both prefix sums
};

}  // namespace hone::gnn::cuda
