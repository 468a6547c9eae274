// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides where the engine keeps feature rows. Structure and labels are in device memory in every tier.
//
//   kDevice  all rows in device memory
//   kPeers   each of several GPUs of one host holds a part of the rows, and the GPUs read one another's memory
//            (peer_rows.h); the likeliest rows of other GPUs may be cached as in kCached
//   kCached  all rows in host memory, registered with the device; the likeliest ones also in a static cache on the
//            device (SALIENT++, Kaler et al. 2023, arXiv 2305.03152; GNNLab, Yang et al. 2022, for counting)
//
// The tier changes no bit of any result.
#pragma once

#include <cstdint>

#include "gnn/cuda/features/miss_path.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {
class Communicator;  // hone/gnn/communicator.h
}

namespace hone::gnn::cuda {

enum class FeatureTier { kDevice, kPeers, kCached };

// Says how the likelihood of a row is estimated (cache_ranking.h).
enum class CacheRanking {
  kInclusion,    // the probability that a batch needs it, computed along the edges
  kPresampling,  // the number of batches of the first epochs that need the row
};

// Says how rows that are not in the cache (misses) reach the device.
enum class MissPath {
  kFastest,   // kStaged, unless a measurement when the graph is loaded (miss_path.h) clearly favors kZeroCopy
  kZeroCopy,  // kernels read rows through the bus, as often as they need them
  kStaged,    // a few thread blocks copy each row once into device memory, before the batch's kernels read it
};

struct FeatureStorage {
  FeatureTier tier = FeatureTier::kDevice;
  int64_t cache_rows = 0;  // if larger than the graph: all rows
  CacheRanking ranking = CacheRanking::kInclusion;
  int presampled_epochs = 2;
  MissPath misses = MissPath::kFastest;
  int64_t staging_rows = int64_t{1} << 19;  // limit of staged misses per batch; the others are read by zero-copy
  int threads = 0;                          // host threads that rank and copy; 0: all that the process may use
  int processes = 1;       // number of ranks that hold the rows together; only a plan reads it (memory_plan.h)
  int64_t host_bytes = 0;  // limit of the host memory for rows, over all ranks of this host; 0: what is free
  Communicator* ranks = nullptr;            // ranks of the run, if several; borrowed
};

// The rows that one epoch's batches read, each counted once per batch, and how many of them are in device memory.
struct CacheReads {
  int64_t batches = 0;
  int64_t rows = 0;
  int64_t hits = 0;
};

class DeviceGraph;
struct BatchShape;

// How features are stored, as UploadForStorage or ChangeStorage decided it.
struct StorageFacts {
  int64_t cached_rows = 0;
  bool staged = false;
  bool managed = false;  // whether host memory is managed memory (host_rows.h)
  bool shared = false;   // whether all ranks share one copy of the rows in host memory
  MissTimes measured{};  // times of the ways to read misses; zeros if nothing was measured
};

// Copies to the device what `storage` says belongs there, or generates it there if `graph` is an outline. `shape`, of
// training's or inference's batches, decides which rows are likely. In the cached tier a `graph` with features must
// outlive `device`. kInvalidArgument for options out of range, and for GPUs that cannot share rows. With kPeers and
// kCached the call is collective over `storage.ranks`; when it has returned, all rows are available to all ranks.
Result<StorageFacts> UploadForStorage(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                                      DeviceGraph& device);
// ChangeStorage does the same for a `device` that has the graph already, with features in device or host memory.
// Features move to host memory, and a new cache replaces the old one. kInvalidArgument for tiers other than kCached.
// CheckStorageChange makes those checks that need no device.
Status CheckStorageChange(const FeatureStorage& storage);
Result<StorageFacts> ChangeStorage(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                                   DeviceGraph& device);

}  // namespace hone::gnn::cuda
