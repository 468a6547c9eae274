// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the engine keeps feature rows. Structure and labels are in device memory whatever the tier.
//
//   kDevice  all rows in device memory
//   kPeers   a part of the rows in the memory of each of several GPUs of one host, which read one another's
//            (peer_rows.h); the likeliest of the others' may be in a cache like the next one's
//   kCached  all rows in the host's memory, registered with the device; the likeliest ones also in a static cache on
//            the device (SALIENT++, Kaler et al. 2023, arXiv 2305.03152; GNNLab, Yang et al. 2022, for counting)
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

// What makes a row likely (cache_ranking.h).
enum class CacheRanking {
  kInclusion,    // the probability that a batch needs it, computed along the edges
  kPresampling,  // how many batches of the first epochs need it
};

// How rows that are not in the cache reach the device.
enum class MissPath {
  kFastest,   // staged, unless what is measured when the graph is loaded (miss_path.h) speaks clearly against it
  kZeroCopy,  // read through the bus by whoever wants them, as often as they are wanted
  kStaged,    // each copied once into device memory, by a few blocks, before the batch's kernels read them
};

struct FeatureStorage {
  FeatureTier tier = FeatureTier::kDevice;
  int64_t cache_rows = 0;  // more than the graph has: all of them
  CacheRanking ranking = CacheRanking::kInclusion;
  int presampled_epochs = 2;
  MissPath misses = MissPath::kFastest;
  int64_t staging_rows = int64_t{1} << 19;  // of a batch's misses that are staged; the others are read by zero-copy
  int threads = 0;                          // of the host, for what it does here; 0: all the process may use
  int processes = 1;                        // peers that keep the rows together; of a plan (memory_plan.h)
  int64_t host_bytes = 0;                   // of the host's memory that rows may take, of all ranks here; 0: what is free
  Communicator* ranks = nullptr;            // of the run, where there are several; borrowed
};

// What one epoch's batches read, a row once a batch, and how much of that is in the device's memory.
struct CacheReads {
  int64_t batches = 0;
  int64_t rows = 0;
  int64_t hits = 0;
};

class DeviceGraph;
struct BatchShape;

// What became of the wish.
struct StorageFacts {
  int64_t cached_rows = 0;
  bool staged = false;
  bool managed = false;  // how the host's memory was made (host_rows.h)
  bool shared = false;   // one copy of the rows in the host's memory, of all ranks
  MissTimes measured;  // zeros where there was nothing to measure
};

// Copies to the device what `storage` says belongs there, or generates it there where `graph` is an outline; `shape`, of
// training or of what is predicted, decides what is likely. In the cached tier a `graph` with features must outlive `device`. kInvalidArgument
// for options out of range, and for GPUs that cannot share rows. With kPeers and kCached collective over
// `storage.ranks`; when it has come back, all rows are there for all of them.
Result<StorageFacts> UploadForStorage(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                                      DeviceGraph& device);
// The same for a `device` that has the graph already, and features on either side: they move to the host's memory, and
// another cache takes the place of what there was. kInvalidArgument for the other tiers.
Status CheckStorageChange(const FeatureStorage& storage);  // what of it is known before anything is done
Result<StorageFacts> ChangeStorage(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                                   DeviceGraph& device);

}  // namespace hone::gnn::cuda
