// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file decides where the features of a run on several GPUs are: it turns what each rank's GPU has room for into
// one answer.
#pragma once

#include <functional>

#include "hone-gnn/gpu.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

// Returns the place for which this rank's GPU has room, for a wish: GpuHolds, with everything else of the run.
using FeaturesHeld = std::function<Result<FeaturePlace>(const FeatureWish& wish)>;

// Checks whether the ranks' GPUs read one another's memory (GpusShareMemory). Collective; the result is the same on all
// ranks.
using MemoryShared = std::function<Status(Communicator& ranks)>;

// Collective; `mine` is what `held` returned for `wish`. The place that takes the least of a GPU's memory wins on all
// ranks (device, peers, host). GPUs that turn out not to read one another's memory are an error where `peers` was asked
// for; otherwise `held` is called again for the wish without `peers`. `by_rank0` says that rank 0 alone knows the run
// (it is resumed), so its answer counts, and only it calls `held`.
Result<FeaturePlace> AgreeOnFeatures(Communicator& ranks, const FeatureWish& wish, const FeaturePlace& mine,
                                     bool by_rank0, const FeaturesHeld& held, const MemoryShared& shared);

}  // namespace hone::gnn
