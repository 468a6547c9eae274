// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact inference on the GPU: every neighbor of every node counts, one layer at a time for all nodes.
//
// A layer runs in blocks of rows: gather from all neighbors, products, and the block's rows go to the next layer's
// table. Tables lie in device memory where they fit; else the rows that are read most do, and the others in the host's
// (exact_memory.h), which kernels read and write in place, overlapped with nothing but other warps' work. A block of logits
// is copied while the next block is computed.
//
// Same results as Predict with `exact` (hone/gnn/predictor.h) up to rounding: sums have another order, and SAGE-RI's
// head is folded into one product. The same question gets the same bits on the same device, whatever `block_rows` and
// however memory is divided.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/model.h"
#include "gnn/infer/fingerprint.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn::cuda {

struct ExactOptions {
  bool fp32 = false;   // activations and products in fp32 instead of bf16; sums are always in fp32
  bool logits = true;  // false: only the predicted classes, which saves the host num_nodes * num_classes floats
  int64_t block_rows = 1 << 18;  // rows under way at once, rounded up to a multiple of product_rows
  // Rows of one matrix product. Another value may choose another algorithm of the library, and other roundings.
  int64_t product_rows = 1 << 15;
  int64_t device_bytes = 0;  // of device memory to use at most; 0: what is free but for a reserve
  // Feature rows in device memory, those that are read most, at most (below 0: as many as fit), the others in the host's;
  // and whether it must be all of them. Not one bit depends on it.
  int64_t most_feature_rows = -1;
  bool all_features = false;
  // Of an outline, when it is made and before the first layer: a status that is not OK ends the call with it.
  std::function<Status(const GraphReader&)> check_outline;
  // Rows done and in all of "layer 1" and on; called from the calling thread, a block behind the device.
  std::function<void(const std::string& step, int64_t done, int64_t total)> progress;
  std::function<bool()> stop;  // asked after every block; true ends the call with kCancelled
};

struct ExactOnDevice {
  Predictions predictions;       // times: wall, all of it; compute, from the first layer's start
  std::vector<int32_t> classes;  // of the largest logit, the first of equals; [num_nodes]
  // Where the rows were: of each layer's input, how many in device memory; and the most memory in use.
  std::vector<int64_t> rows_on_device;
  int64_t device_bytes = 0, host_bytes = 0;
  int64_t num_edges = 0;  // of the graph, also of an outline
};

// `nodes`: global ids, repeats allowed; empty: all nodes, in order. Layers before the last compute only what `nodes`
// depend on, where that is less than half of the graph. A synthetic graph that was opened as an outline is made in
// device memory, and its features where they belong. One call at a time on one device; the model is only read.
// kInvalidArgument: a graph without features or of another width, an id out of range, a model of another kind.
// kResourceExhausted, before anything large is allocated: the figures and the way out. kUnavailable: no GPU.
Result<ExactOnDevice> InferExactly(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                   const ExactOptions& options);

}  // namespace hone::gnn::cuda
