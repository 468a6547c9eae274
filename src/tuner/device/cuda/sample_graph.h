// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds one CUDA graph of many plan executions, to time kernels that are too short to be timed one by one.
//
// Only one graph is alive at a time: two instances of one graph that live together differ in speed by some tenths of a
// percent, whatever their arguments (docs/design/0010). If a sample has the shape of the one before (which functions,
// how many sets), the arguments of the graph's nodes are exchanged; otherwise the graph is destroyed and another one
// built.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/plan_launch.h"

namespace hone {

class SampleGraph {
 public:
  explicit SampleGraph(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}
  ~SampleGraph() { Clear(); }
  SampleGraph(const SampleGraph&) = delete;
  SampleGraph& operator=(const SampleGraph&) = delete;

  // Returns a graph that executes `plans` one after another, uploaded to the device; owned by this object and valid
  // until the next call. Returns null on an error; `*error` distinguishes a launch error of the candidate from the
  // device's.
  CUgraphExec Prepare(const std::vector<PreparedPlan>& plans, CUresult* error);
  // Destroys the graph. Call this before a program whose functions it may hold is unloaded, and before another graph is
  // made.
  void Clear();

 private:
  // Makes the graph of these plans, one after another.
  CUresult Build(const std::vector<PreparedPlan>& plans);
  // Changes the arguments of the graph's nodes to those of these plans, which have the same kernels.
  CUresult Update(const std::vector<PreparedPlan>& plans);

  std::shared_ptr<CudaContext> context_;
  std::vector<uint64_t> shape_;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
  std::vector<CUgraphNode> nodes_;  // one per step with work, in order
};

}  // namespace hone
