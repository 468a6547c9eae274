// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Applies what `hone tune` found on a model's tasks to the GPU engine: `hone-gnn tune-model --apply` times epochs with
// and without the winners, and `hone-gnn train --tuned` takes the file that it wrote.
#pragma once

#include <string>

#include "gnn/tune/tuned_kernels.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// Returns the place of a run (tuned_kernels.h). `gpu` is the GPU's name, or empty.
TuningPlace PlaceOf(const ModelOptions& model, const TrainOptions& options, const Graph& graph, bool fp32,
                    const std::string& gpu);

// Returns the choices of a file of tuned kernels for this run; none, with a note on standard error, if the file is for
// another GPU, model, graph or batch. Errors are those of ReadTunedKernels.
Result<KernelChoices> ChoicesFor(const std::string& path, const TuningPlace& run);

struct ApplyFlags {
  std::string folder;           // of the tasks, with the winners beside them
  std::string device = "cuda";  // cuda, cuda:N
  std::string out;              // the file to write
  int epochs = 20;              // pairs
  bool json = false, quiet = false;
};
// Times pairs of epochs with the engine's own kernels and with the winners of `flags.folder`. Writes flags.out if the
// epochs have the same bits and the lower bound of the gain's 95 % interval is above zero; otherwise says why not and
// sets `exit_status` to 1. `graph` is the graph's name, and `model` lacks the sizes that depend on the graph.
Status ApplyWinners(const ApplyFlags& flags, const std::string& graph, ModelOptions model, const TrainOptions& options,
                    bool fp32, int& exit_status);

}  // namespace hone::gnn
