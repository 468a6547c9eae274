// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs exact inference on the GPU: a node's row is computed from all of its neighbors, one layer at a time for all
// nodes.
//
// A layer runs in blocks of rows: a kernel gathers from all neighbors, products follow, and the block's rows go to the
// next layer's table. Tables lie in device memory if they fit. Otherwise their most-read rows do, and the others lie in
// host memory (exact_memory.h), which kernels read and write in place. A block of logits is copied while the next block
// is computed.
//
// Results equal those of Predict with `exact` (hone/gnn/predictor.h) up to rounding: sums have another order, and
// SAGE-RI's head is folded into one product. The same request gives the same bits on the same device, whatever
// `block_rows` and the division of memory.
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
  int64_t block_rows = 1 << 18;  // rows per block, rounded up to a multiple of product_rows
  // Rows of one matrix product. Another value may select another library algorithm, with other rounding.
  int64_t product_rows = 1 << 15;
  int64_t device_bytes = 0;  // limit of the device memory to use; 0: all that is free except a reserve
  // The largest number of feature rows in device memory; below 0: as many as fit. The most-read rows are chosen, the
  // others lie in host memory. all_features: all rows must be on the device. Neither option changes a bit of the
  // result.
  int64_t most_feature_rows = -1;
  bool all_features = false;
  // Called once an outline has been generated, before the first layer. A status that is not OK ends the call and is
  // returned.
  std::function<Status(const GraphReader&)> check_outline;
  // Called by the calling thread after each block with the rows done and in total of `step` ("layer 1"); one block
  // behind the device.
  std::function<void(const std::string& step, int64_t done, int64_t total)> progress;
  std::function<bool()> stop;  // called after every block; true ends the call with kCancelled
};

struct ExactOnDevice {
  Predictions predictions;       // times: wall, the whole call; compute, from the first layer's start
  std::vector<int32_t> classes;  // [num_nodes] class of the largest logit; the lowest class among equals
  // How many rows of each layer's input were in device memory, and the most memory in use at any time.
  std::vector<int64_t> rows_on_device;
  int64_t device_bytes = 0, host_bytes = 0;
  int64_t num_edges = 0;  // edges of the graph, also if it was an outline
};

// Runs exact inference. `nodes`: global ids, repeats allowed; empty: all nodes, in order. Layers before the last
// compute only the rows on which `nodes` depend, if these are fewer than half of the graph's. A synthetic graph that
// was opened as an outline is generated in device memory, and its features in device or host memory as planned. One
// call at a time per device; the model is only read. Errors: kInvalidArgument for a graph without features or of
// another width, an id out of range, or an unsupported kind of model; kResourceExhausted, with the figures and a
// remedy, before anything large is allocated; kUnavailable without a GPU.
Result<ExactOnDevice> InferExactly(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                   const ExactOptions& options);

}  // namespace hone::gnn::cuda
