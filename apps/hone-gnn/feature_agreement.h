// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides where the features of a run on several GPUs are: from the room that each rank's GPU has, it makes one
// decision for all ranks.
#pragma once

#include <functional>

#include "hone-gnn/gpu.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

// Returns the place for which this rank's GPU has room (PlaceFeaturesOnGpu), given a request, beside everything else
// that the run needs.
using FeaturesHeld = std::function<Result<FeaturePlace>(const FeatureRequest& requested)>;

// Checks whether the ranks' GPUs read one another's memory (GpusShareMemory). Collective; the result is the same on all
// ranks.
using MemoryShared = std::function<Status(Communicator& ranks)>;

// Agrees on one place for all ranks: the one that takes the least of a GPU's memory (in the order device, peers, host).
// Collective. `own_place` is what `held` returned for `requested`. If the place is `peers` and the GPUs cannot read one
// another's memory, this is an error if the user asked for `peers`; otherwise `held` is called again for the request
// without `peers`. `by_rank0`: the run is resumed, so only rank 0 knows it; only rank 0 calls `held`, and its answer is
// used.
Result<FeaturePlace> AgreeOnFeatures(Communicator& ranks, const FeatureRequest& requested,
                                     const FeaturePlace& own_place, bool by_rank0, const FeaturesHeld& held,
                                     const MemoryShared& shared);

}  // namespace hone::gnn
