// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements capture and replay of the emulated runtime. A graph is a list of closures and their dependencies.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gnn/cuda/dump/graph_reader.h"
#include "gnn/cuda/emulated/device.h"
#include "gnn/cuda/emulated/stream.h"

using namespace hone::gnn::cuda::emulated;

struct CUgraphExec_st {
  std::shared_ptr<const std::vector<GraphNode>> nodes;
};

namespace {

void Replay(const std::vector<GraphNode>& nodes) {
  Device& device = Device::Get();
  if (device.order == 0) {
    for (const GraphNode& node : nodes) {
      if (device.fault == cudaSuccess) node.work();
    }
    return;
  }
  std::vector<size_t> missing(nodes.size()), ready;
  std::vector<std::vector<size_t>> dependencies(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i].after.size();
    for (const size_t earlier : nodes[i].after) dependencies[earlier].push_back(i);
    if (missing[i] == 0) ready.push_back(i);
  }
  while (!ready.empty() && device.fault == cudaSuccess) {
    const size_t which = device.draw.Below(static_cast<uint32_t>(ready.size()));
    const size_t node = ready[which];
    ready.erase(ready.begin() + static_cast<ptrdiff_t>(which));
    nodes[node].work();
    for (const size_t later : dependencies[node]) {
      if (--missing[later] == 0) ready.push_back(later);
    }
  }
}

std::function<void(cudaGraph_t)>& Watch() {
  static std::function<void(cudaGraph_t)> watch;
  return watch;
}

// Returns whether every node is in `frontier` or an ancestor of a node in it.
bool AllJoined(const std::vector<GraphNode>& nodes, const std::vector<size_t>& frontier) {
  std::vector<bool> reached(nodes.size());
  std::vector<size_t> nodes_left = frontier;
  while (!nodes_left.empty()) {
    const size_t node = nodes_left.back();
    nodes_left.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    nodes_left.insert(nodes_left.end(), nodes[node].after.begin(), nodes[node].after.end());
  }
  return std::find(reached.begin(), reached.end(), false) == reached.end();
}

std::string_view KindOf(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice: return "device";
    case MemoryKind::kPinned: return "host";
    case MemoryKind::kManaged: return "managed";
    case MemoryKind::kRegistered: return "registered";
    case MemoryKind::kMapped: return "mapped";
  }
  return "unknown";
}

}  // namespace

namespace hone::gnn::cuda {

void WatchGraphs(std::function<void(cudaGraph_t)> watch) { Watch() = std::move(watch); }

Result<std::vector<GraphNodeFacts>> ReadGraph(cudaGraph_t graph) {
  std::vector<GraphNodeFacts> node_facts;
  for (const GraphNode& node : *graph->nodes) {
    node_facts.push_back(node.facts);
    node_facts.back().name = ShortKernelName(node.facts.name);
    node_facts.back().after = node.after;
  }
  return node_facts;
}

std::optional<MemoryRange> FindMemory(uint64_t address) {
  const Allocation* const found = Device::Get().memory.Find(reinterpret_cast<const void*>(address), 1);
  if (found == nullptr) return std::nullopt;
  return MemoryRange{reinterpret_cast<uint64_t>(found->data), found->bytes, std::string(KindOf(found->kind))};
}

}  // namespace hone::gnn::cuda

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (handle == nullptr) return Return(cudaErrorStreamCaptureUnsupported);
  if (stream->capture != nullptr) return Return(cudaErrorInvalidValue);
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->streams.push_back(stream);
  stream->after.clear();
  return Return(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  const OneCaller turn;
  *graph = nullptr;
  CUstream_st* const stream = StreamOf(handle);
  if (stream == nullptr || stream->capture == nullptr) return Return(cudaErrorInvalidValue);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream) return Return(cudaErrorStreamCaptureUnmatched);
  const bool joined = AllJoined(capture->nodes, stream->after);
  for (CUstream_st* recording : capture->streams) {
    recording->capture = nullptr;
    recording->after.clear();
  }
  capture->origin = nullptr;
  if (capture->invalid) return Return(cudaErrorStreamCaptureInvalidated);
  if (!joined) return Return(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::make_shared<const std::vector<GraphNode>>(std::move(capture->nodes))};
  return Return(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const OneCaller turn;
  const CUstream_st* const stream = StreamOf(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  *status = stream->capture == nullptr  ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return Return(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  const OneCaller turn;
  if (graph == nullptr || nodes != nullptr) return Return(cudaErrorInvalidValue);
  *count = graph->nodes->size();
  return Return(cudaSuccess);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  const OneCaller turn;
  if (graph == nullptr) return Return(cudaErrorInvalidValue);
  if (Watch()) Watch()(graph);
  *exec = new CUgraphExec_st{graph->nodes};
  return Return(cudaSuccess);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t handle) {
  const OneCaller turn;
  return Return(exec != nullptr && StreamOf(handle) != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  const OneCaller turn;
  CUstream_st* const stream = StreamOf(handle);
  if (exec == nullptr || stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  return Submit(*stream, [nodes = exec->nodes] { Replay(*nodes); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const OneCaller turn;
  if (graph == nullptr) return Return(cudaErrorInvalidValue);
  delete graph;
  return Return(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const OneCaller turn;
  if (exec == nullptr) return Return(cudaErrorInvalidValue);
  delete exec;
  return Return(cudaSuccess);
}
