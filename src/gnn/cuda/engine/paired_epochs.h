// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains a model by the engine's own kernels and by chosen ones in turn, epoch k of one after epoch k of the other, so
// that disturbances of the machine affect both.
#pragma once

#include <string>
#include <vector>

#include "gnn/cuda/engine/gpu_engine.h"

namespace hone::gnn::cuda {

struct PairedEpochs {
  std::vector<double> own, chosen;  // seconds of each epoch, pair by pair
  // Whether all losses and accuracies, and the parameters at the end, have the same bits.
  bool same_bits = false;
};

// Makes two engines on the current GPU, so that its memory must hold both, and trains `epochs` pairs of epochs after
// one that is not counted; every second pair is run in reverse order. `options.choices` is ignored. Errors are those of
// MakeGpuEngine and TrainEpoch.
Result<PairedEpochs> PairEpochs(const Graph& graph, const ModelOptions& model, GpuEngineOptions options,
                                const KernelChoices& choices, int epochs);

}  // namespace hone::gnn::cuda
