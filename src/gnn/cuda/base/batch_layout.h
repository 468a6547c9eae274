// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a sampled batch lies in device memory, and what the kernels of a step know of one another.
//
// Nothing here is sized by the host at run time: buffers hold the most that a batch may need (its envelope), sizes
// live beside them on the device, and a kernel launched for the envelope does nothing past the size. Rows have a
// fixed stride of `fanout` slots, so a row's place needs no prefix sum.
#pragma once

#include <cstdint>

namespace hone::gnn::cuda {

inline constexpr int kMaxHops = 8;

// Rows that are copied from the host for one batch, behind the cached ones (staging_kernels.h).
struct StagingOnDevice {
  int32_t rows = 0;  // there is room for; 0: nothing is staged
  int32_t first = 0;  // of the rows behind which they are put
  int32_t row_parts = 0;  // 16 bytes each
  int32_t* places = nullptr;  // GraphOnDevice::feature_places
  int32_t* nodes = nullptr;   // [rows] whose they are
  int32_t* count = nullptr;   // of them; past `rows` where there were more
  void* cache = nullptr;
  const void* host = nullptr;
};

// Where the rows lie that a batch's outermost hop reads, found as its misses are collected (staging_kernels.h), so that
// who gathers them need neither draw nor look up. A place is a row of the cache or behind it; below zero: the complement
// of an id whose place the map will have, if it got one; kNoPlace: no such slot.
struct DrawnPlaces {
  int32_t* own = nullptr;    // [nodes]; null: not wanted
  int32_t* slots = nullptr;  // [nodes, fanout]
};
inline constexpr int32_t kNoPlace = INT32_MIN;  // no id's complement: ids stay below 2^31 - 1

// Kernels take these by value: plain pointers into memory that somebody else owns.
struct GraphOnDevice {
  const int64_t* row_offsets;  // [num_nodes + 1]
  const int32_t* columns;
  const int32_t* labels;       // [num_nodes]; kNoLabel where there is none
  const void* features;        // fp32, fp16 or bf16 rows; by id where feature_places is null
  int64_t num_nodes;
  int64_t feature_stride;      // elements
  int32_t feature_vectors;     // 8-element vectors that hold the width; elements past the width are zero
  // Where `features` holds but some of the rows (feature_rows.cuh):
  const int32_t* feature_places = nullptr;  // [num_nodes] row of `features`; below zero: in the host's memory only
  const void* host_features = nullptr;      // all rows by id, as the device sees them
  StagingOnDevice staging = {};
};

// Where steps come from: seeds are train[permutation(epoch)(…)]. A step takes batch * shards of them and deals them to
// the shards in near-equal parts (hone/gnn/batch_pipeline.h); the batches here are those of a range of the shards.
struct SeedsOnDevice {
  const int32_t* nodes;
  int64_t count;
  int32_t batch;
  int32_t in_order;  // 1: no permutation (inference)
  int32_t shards;    // of a step, wherever they are computed
  int32_t first_shard, local_shards;
};

// Why a run ends by itself.
enum RunFailure : uint32_t { kNoFailure = 0, kLossNotFinite = 1, kGradientNotFinite = 2 };

// The plateau rule of hone/gnn/optimizer.h, which the device follows by itself; patience < 0: no rule.
struct PlateauOnDevice {
  int64_t patience;
  double factor;
  double best;
  int64_t bad_steps;
};

// One per pass. `halt` and failures are also told in HostProgress.
struct RunState {
  uint64_t seed;
  uint32_t epoch;
  uint32_t next_sample_step;  // the step that the next BeginBatch takes,
  uint32_t next_sample_shard; // and which of the local shards
  uint32_t steps;             // in this epoch
  uint32_t table_tag;
  uint32_t halt;              // a batch did not fit its envelope: nothing moves until the host has seen it
  uint32_t trained_steps;     // in this epoch
  int64_t adam_step;          // over the run
  double learning_rate;
  double loss_sum;            // over the epoch, weighted by class
  double weight_sum;          // of those weights; without class weights as many as are counted
  int64_t correct;
  int64_t counted;
  PlateauOnDevice plateau;
  float gradient_scale;          // what clipping leaves of the step's gradient; 1 without it
  uint32_t gradient_not_finite;  // of the step under way: 1 an infinite one was met, 2 a NaN, 3 both
  uint32_t failure;              // RunFailure of the step trained_steps; from then on nothing is updated or counted
  double failed_loss;            // of that step
  uint32_t updated_blocks;       // of the update under way; 0 between updates
};

// What the device tells the host without being asked, in memory of the host. A step's word is its count in the epoch
// (from 1) << 32 | its mean loss as a float, in one piece, at [count % kProgressSteps].
inline constexpr uint32_t kProgressSteps = 1024;
struct HostProgress {
  uint32_t halt;  // halted or failed: no need to enqueue more
  uint32_t unused;
  unsigned long long steps[kProgressSteps];
};

// One per batch buffer.
struct BatchHeader {
  uint32_t valid;
  uint32_t step;
  uint32_t epoch;
  uint32_t tag;
  int64_t first_seed;               // its place in the epoch's order
  double weight;                    // labels, or their weights, of the whole step: what its loss is divided by
  int32_t hop_nodes[kMaxHops + 1];  // nodes known after hop h
};

// Never cleared: an entry counts when its tag is the batch's. Both halves lie in one sector.
struct alignas(16) NodeTableEntry {
  unsigned long long key;    // tag << 32 | node
  unsigned long long value;  // ~tag << 32 | rank; atomicMin so prefers the newest tag, then the lowest rank. A known
                             // node's rank is its local id, a new one's is kNewRank + the slot that found it, until the
                             // slot that keeps it gives the id.
};
struct NodeTable {
  NodeTableEntry* entries;
  uint32_t mask;
};
inline constexpr uint32_t kNewRank = 1u << 30;

// An inner hop: what it drew, by destination and by source.
struct HopOnDevice {
  int32_t fanout;
  int32_t rows;     // envelope of destinations
  int32_t sources;  // envelope of sources
  uint32_t* entries;     // [rows * fanout] table entry of the slot; ~0: no slot
  int32_t* columns;      // [rows * fanout] local source id; -1: no slot
  int32_t* counts;       // [rows] slots used
  // By source; all null where nothing is trained.
  uint32_t* slot_ranks;    // [rows * fanout] scratch: the slot's place among those of its source, in no order
  uint32_t* ordering;      // [rows * fanout] scratch
  uint32_t* sorted_slots;  // [rows * fanout] slots by source, ascending within one
  int32_t* first;          // [sources] where a source's slots begin in sorted_slots
  int32_t* end;            // [sources] and where they end; first == end: nobody drew it
  uint32_t* tile_words;    // [tiles of the numbering + 1] scratch of both
};

}  // namespace hone::gnn::cuda
