// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares streams, events and captures of the emulated runtime. Only the files of the emulation include this.
//
// A stream is a queue. In order 0 it is emptied whenever work is added. With a seed, work stays until something waits
// for it. Then streams take turns at random, as far as events allow.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_runtime_api.h"
#include "gnn/cuda/dump/graph_text.h"

namespace hone::gnn::cuda::emulated {

// A node of a captured graph.
struct GraphNode {
  std::function<void()> work;
  std::vector<size_t> after;  // earlier nodes on which this one depends
  GraphNodeFacts facts;       // describes the operation; its `after` is not used
};

// The work that streams have recorded since cudaStreamBeginCapture.
struct Capture {
  CUstream_st* origin = nullptr;  // the stream that began the capture
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool invalid = false;  // a call that a capture does not allow was made
  std::vector<GraphNode> nodes;
  std::vector<CUstream_st*> streams;  // streams that record into this capture
};

// The state of an event, which outlives the event while streams wait for it.
struct EventState {
  uint64_t recorded = 0;  // how often cudaEventRecord was called
  uint64_t reached = 0;   // how many of those records the streams have reached
  CUstream_st* stream = nullptr;  // stream of the last record
  std::chrono::steady_clock::time_point at;  // when a stream reached the latest record
  // The dependencies of a stream that waits for this event, if it was last recorded in a capture; else null and empty.
  std::shared_ptr<Capture> capture;
  std::vector<size_t> after;
};

// A piece of work in a stream's queue, or a wait for an event.
struct StreamWork {
  std::function<void()> work;
  std::shared_ptr<EventState> event;  // if not null, the stream waits for this event's record number `record`, and
                                      // there is no work
  uint64_t record = 0;
};

// Returns the stream of a handle; the default stream, on which cudaMemcpy works too, for a null handle.
CUstream_st* StreamOf(cudaStream_t handle);  // null if the handle is no stream
// Runs the stream until it is empty or a fault has happened.
void Drain(CUstream_st& stream);
void DrainAll();
// Runs the work left in blocking streams. Must precede work on the default stream.
void DrainBlocking();
// Enqueues work in the order of the stream. If the stream records, adds a node to the graph instead, with the facts
// that `describe` returns.
cudaError_t Submit(CUstream_st& stream, std::function<void()> work, const std::function<GraphNodeFacts()>& describe = {});

}  // namespace hone::gnn::cuda::emulated

struct CUgraph_st {
  std::shared_ptr<const std::vector<hone::gnn::cuda::emulated::GraphNode>> nodes;
};

struct CUstream_st {
  bool non_blocking = false;
  int priority = 0;  // without effect here, but reported for captured work
  std::deque<hone::gnn::cuda::emulated::StreamWork> queue;
  std::shared_ptr<hone::gnn::cuda::emulated::Capture> capture;
  std::vector<size_t> after;  // nodes on which the next captured node depends
};

struct CUevent_st {
  std::shared_ptr<hone::gnn::cuda::emulated::EventState> state;
  bool times = true;  // whether cudaEventElapsedTime is allowed
};
