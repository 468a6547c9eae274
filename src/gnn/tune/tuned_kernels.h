// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Brings what `hone tune` found on a model's tasks into the engine. The way has three files, which are all that the
// tuner and the engine share:
//
//   tasks.json     in the folder of tasks: for which model, graph and batches they were made
//   *.json         beside a task's engine.cu: the winners of `hone tune TASK engine.cu --out winner.json`
//   MODEL.tuned.json  what a training run takes: the choices that made epochs faster, and where they hold
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gnn/nn/kernel_choices.h"
#include "gnn/tune/paired_ratio.h"
#include "gnn/tune/write_tasks.h"
#include "hone/base/status.h"

namespace hone::gnn {

// Everything on which the sizes of a run's batches depend, and the GPU.
struct TuningPlace {
  std::string model;       // name of the model
  std::string model_hash;  // SHA-256 of its ModelSpecText
  std::string graph;       // name of the graph
  int64_t graph_nodes = 0;
  bool fp32 = false;
  std::vector<int32_t> fanouts;
  int64_t batch = 0;
  std::string gpu;  // "NVIDIA H200"; empty in tasks.json
};
// Returns why what was tuned for `tuned` is not used for `run`, as a sentence's end ("it was tuned for …"); empty if it
// is used. An empty GPU fits every GPU.
std::string WhyNotHere(const TuningPlace& tuned, const TuningPlace& run);

// Returns the text of tasks.json.
std::string TasksText(const TuningPlace& place, const std::vector<ModelTask>& tasks);

// A task of a folder, as tasks.json has it.
struct TaskOfFolder {
  std::string name;
  std::vector<std::pair<std::string, std::map<std::string, int64_t>>> places;  // a value of the spec, and its sizes
};
struct TaskFolder {
  TuningPlace place;
  std::vector<TaskOfFolder> tasks;
};
// Reads FOLDER/tasks.json. kNotFound, kInvalidArgument: with the file and the field.
Result<TaskFolder> ReadTaskFolder(const std::string& folder);

// What the winners in a folder come to.
struct Winners {
  KernelChoices choices;
  std::vector<std::string> used;   // a line for each value and direction whose kernel is chosen
  std::vector<std::string> notes;  // a line for each winner that is not used, with the reason
};
// Reads the winner files that lie beside the tasks. `engine_hashes` has, by task, the SHA-256 of the engine.cu that
// this program writes: a winner of any other text says nothing about this program's kernels. Timings of another GPU,
// modelled ones, and winners whose verdict is not ok are not used either. kInvalidArgument: a file cannot be read.
Result<Winners> ReadWinners(const std::string& folder, const TaskFolder& tasks,
                            const std::map<std::string, std::string>& engine_hashes, const std::string& gpu);

// The file that a training run takes.
struct TunedKernels {
  TuningPlace place;
  KernelChoices choices;
  PairedRatio speedup;  // time of an epoch with the engine's own kernels over the time with these
  int epochs = 0;       // pairs of epochs behind it
};
std::string TunedText(const TunedKernels& tuned);
// Reads a file that TunedText wrote. kInvalidArgument: it is none, or names kernels that this engine does not have.
Result<TunedKernels> ReadTunedKernels(const std::string& path);

}  // namespace hone::gnn
