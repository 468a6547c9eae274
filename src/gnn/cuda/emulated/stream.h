// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and captures of the emulated runtime. Only the files of the emulation include this.
//
// A stream is a queue. In order 0 it is emptied whenever something enters. With a seed, work stays until somebody
// waits for it; then streams take turns by draw, as far as events allow.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_runtime_api.h"
#include "gnn/cuda/dump/graph_text.h"

namespace hone::gnn::cuda::emulated {

struct GraphNode {
  std::function<void()> work;
  std::vector<size_t> after;  // earlier nodes
  GraphNodeFacts facts;       // what was enqueued; `after` is told above
};

struct Capture {
  CUstream_st* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool invalid = false;
  std::vector<GraphNode> nodes;
  std::vector<CUstream_st*> streams;  // that record into it
};

struct EventState {
  uint64_t recorded = 0;  // how often cudaEventRecord was called
  uint64_t reached = 0;   // and how many of those the streams have come to
  CUstream_st* stream = nullptr;  // of the last record
  std::chrono::steady_clock::time_point at;
  // Last recorded in a capture: what a stream that waits for it depends on.
  std::shared_ptr<Capture> capture;
  std::vector<size_t> after;
};

struct StreamWork {
  std::function<void()> work;
  std::shared_ptr<EventState> event;  // to wait for, with which record; no work then
  uint64_t record = 0;
};

// All streams made, and the one of cudaMemcpy and of null handles.
CUstream_st* StreamOf(cudaStream_t handle);  // null when it is no stream
// Ends when the stream is empty, or a fault has happened.
void Drain(CUstream_st& stream);
void DrainAll();
// Before work on the default stream: what blocking streams still have.
void DrainBlocking();
// Work in the order of the stream, or a node of the graph that the stream records, which `describe` then describes.
cudaError_t Submit(CUstream_st& stream, std::function<void()> work, const std::function<GraphNodeFacts()>& describe = {});

}  // namespace hone::gnn::cuda::emulated

struct CUgraph_st {
  std::shared_ptr<const std::vector<hone::gnn::cuda::emulated::GraphNode>> nodes;
};

struct CUstream_st {
  bool non_blocking = false;
  int priority = 0;  // which changes nothing here, but is told of captured work
  std::deque<hone::gnn::cuda::emulated::StreamWork> queue;
  std::shared_ptr<hone::gnn::cuda::emulated::Capture> capture;
  std::vector<size_t> after;  // nodes that the next one captured here depends on
};

struct CUevent_st {
  std::shared_ptr<hone::gnn::cuda::emulated::EventState> state;
  bool times = true;
};
