// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the features of a run on several GPUs are: what every rank's GPU has room for by itself, made one answer.
#pragma once

#include <functional>

#include "hone-gnn/gpu.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {

// What this rank's GPU has room for, for a wish: GpuHolds, with everything else of the run.
using FeaturesHeld = std::function<Result<FeaturePlace>(const FeatureWish& wish)>;

// Collective: whether the ranks' GPUs read one another's memory; the same on all ranks. GpusShareMemory.
using MemoryShared = std::function<Status(Communicator& ranks)>;

// Collective; `mine` is what `held` answered to `wish`. The place that takes the least of a GPU's memory wins on all ranks
// (device, peers, host). GPUs that turn out not to read one another's memory are an error where `peers` was asked for, and
// else the wish is asked again without them. `by_rank0`: rank 0 alone knows the run (it is resumed), so what it says
// counts, and `held` is asked there only.
Result<FeaturePlace> AgreeOnFeatures(Communicator& ranks, const FeatureWish& wish, const FeaturePlace& mine,
                                     bool by_rank0, const FeaturesHeld& held, const MemoryShared& shared);

}  // namespace hone::gnn
