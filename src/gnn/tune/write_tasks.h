// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a folder of tasks for a model's operations, one folder each, with the shapes that its batches have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gnn/tune/batch_shapes.h"
#include "gnn/tune/hot_operations.h"
#include "gnn/tune/task_texts.h"
#include "hone/base/status.h"

namespace hone::gnn {

// The model and the measured batches from which tasks are written.
struct TuneSource {
  std::string model;        // name of the model
  std::string gpu_program;  // name of the published model whose program a GPU runs whole; empty: operation by operation
  std::string graph;        // name of the graph, as given to OpenGraph
  int64_t graph_nodes = 0;
  RowDtypes dtypes;
  MeasureOptions measured;  // how the batches were drawn
};

// One operation of the model that a task stands for.
struct TaskPlace {
  std::string value;  // the spec's value
  std::string where;  // a sentence
  TaskDims median;    // sizes in the batch with the median number of edges
  TaskDims largest;   // sizes in the batch with the most edges
};

struct ModelTask {
  std::string name;  // name of the task and of its folder
  std::vector<TaskPlace> places;
  std::vector<TimedShape> timed;  // the task's timed cases
  TaskTexts texts;
  std::string readme;  // where the operation stands in the model, and how to try the task
};

// Makes the tasks: operations of one name become the timed cases of one task. The largest batch is a case of its own
// where it has at least a twentieth more edges than the median one.
std::vector<ModelTask> MakeTasks(const TuneSource& source, const std::vector<HotOperation>& operations,
                                 const MeasuredBatches& batches);

// Returns the README of the whole folder.
std::string FolderText(const TuneSource& source, const std::vector<ModelTask>& tasks, const HotOperations& operations,
                       const MeasuredBatches& batches);

// Writes `folder` with a folder for each task: task.toml, oracle.cu, seed.cu, README.md and perhaps engine.cu and
// baseline.toml. `readme` becomes the folder's README.md, and `index` its tasks.json (tuned_kernels.h). The folder
// appears whole or not at all. kInvalidArgument: it exists.
Status WriteTasks(const std::string& folder, const std::vector<ModelTask>& tasks, const std::string& readme,
                  const std::string& index);

}  // namespace hone::gnn
