// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/sample_graph.h"

#include <algorithm>

namespace hone {
namespace {

bool HasWork(const PreparedStep& step) { return !step.is_memset || step.bytes > 0; }

// Returns whether a plan has a library call. A library may enqueue any work, so a graph with such calls is made anew
// each time.
bool HasCalls(const std::vector<PreparedPlan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [](const PreparedPlan& plan) {
    return std::any_of(plan.begin(), plan.end(), [](const PreparedStep& step) { return step.call != nullptr; });
  });
}

// Returns everything about the plans that cannot be changed in an instantiated graph. (Which function a node launches
// can be changed.)
std::vector<uint64_t> ShapeOf(const std::vector<PreparedPlan>& plans) {
  std::vector<uint64_t> shape{plans.size()};
  for (const PreparedPlan& plan : plans) {
    for (const PreparedStep& step : plan) {
      if (!HasWork(step)) continue;
      shape.push_back(uint64_t{step.call != nullptr} << 63 | uint64_t{step.is_memset} | uint64_t{step.cooperative} << 1 | uint64_t{step.programmatic} << 2 |
                      uint64_t{step.cluster[0]} << 3 | uint64_t{step.cluster[1]} << 20 | uint64_t{step.cluster[2]} << 40);
    }
    shape.push_back(0);
  }
  return shape;
}

}  // namespace

CUgraphExec SampleGraph::Prepare(const std::vector<PreparedPlan>& plans, CUresult* error) {
  std::vector<uint64_t> shape = ShapeOf(plans);
  *error = CUDA_SUCCESS;
  // The arguments of the existing graph are exchanged. If the driver refuses that, a new graph is made, which is always
  // right.
  if (exec_ != nullptr && shape == shape_ && !HasCalls(plans) && Update(plans) == CUDA_SUCCESS) return exec_;
  Clear();
  *error = Build(plans);
  if (*error != CUDA_SUCCESS) {
    Clear();
    return nullptr;
  }
  shape_ = std::move(shape);
  return exec_;
}

// Makes the graph of these plans, one after another.
CUresult SampleGraph::Build(const std::vector<PreparedPlan>& plans) {
  const CudaDriver& driver = context_->driver();
  const CUstream stream = context_->stream();
  // The graph is captured rather than built node by node: the stream then makes the edges, programmatic ones included,
  // exactly as it orders launches outside a graph.
  CUresult result = driver.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (result != CUDA_SUCCESS) return result;
  for (const PreparedPlan& plan : plans) {
    for (const PreparedStep& step : plan) {
      if (result != CUDA_SUCCESS || !HasWork(step)) continue;
      result = EnqueueStep(*context_, step);
      if (result != CUDA_SUCCESS) continue;
      CUstreamCaptureStatus status;
      const CUgraphNode* last = nullptr;
      const CUgraphEdgeData* edges = nullptr;
      size_t count = 0;
      result = driver.StreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, &edges, &count);
      if (result == CUDA_SUCCESS && count != 1) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      if (result == CUDA_SUCCESS) nodes_.push_back(last[0]);
    }
  }
  const CUresult ended = driver.StreamEndCapture(stream, &graph_);
  if (result == CUDA_SUCCESS) result = ended;
  if (result == CUDA_SUCCESS) result = driver.GraphInstantiate(&exec_, graph_, 0);
  if (result == CUDA_SUCCESS) result = driver.GraphUpload(exec_, stream);
  return result;
}

// Changes the arguments of the graph's nodes to those of these plans, which have the same kernels.
CUresult SampleGraph::Update(const std::vector<PreparedPlan>& plans) {
  const CudaDriver& driver = context_->driver();
  size_t node_index = 0;
  for (const PreparedPlan& plan : plans) {
    for (const PreparedStep& step : plan) {
      if (!HasWork(step)) continue;
      const CUgraphNode node = nodes_[node_index++];
      CUresult result = CUDA_SUCCESS;
      if (step.is_memset) {
        CUDA_MEMSET_NODE_PARAMS params{};
        params.dst = step.target;
        params.value = step.value;
        params.elementSize = 1;
        params.width = step.bytes;
        params.height = 1;
        result = driver.GraphExecMemsetNodeSetParams(exec_, node, &params, context_->context());
      } else {
        std::vector<void*> pointers = step.Pointers();
        CUDA_KERNEL_NODE_PARAMS_v2 params{};
        params.func = step.function;
        params.gridDimX = step.grid[0];
        params.gridDimY = step.grid[1];
        params.gridDimZ = step.grid[2];
        params.blockDimX = step.block[0];
        params.blockDimY = step.block[1];
        params.blockDimZ = step.block[2];
        params.sharedMemBytes = step.shared_bytes;
        params.kernelParams = pointers.data();
        result = driver.GraphExecKernelNodeSetParams(exec_, node, &params);
      }
      if (result != CUDA_SUCCESS) return result;
    }
  }
  return driver.GraphUpload(exec_, context_->stream());
}

void SampleGraph::Clear() {
  if (!context_->lost()) {
    if (exec_ != nullptr) context_->driver().GraphExecDestroy(exec_);
    if (graph_ != nullptr) context_->driver().GraphDestroy(graph_);
  }
  exec_ = nullptr;
  graph_ = nullptr;
  nodes_.clear();
  shape_.clear();
}

}  // namespace hone
