// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model is to the GPU engine: the work it enqueues for one batch.
//
// The engine samples, measures the loss, updates and keeps the books; a model's program turns a sampled batch into
// logits and their gradient into parameter gradients. A program is planned once for an envelope (the most nodes a
// batch may have after each hop), may allocate then and never later, and only enqueues: what it enqueues is captured
// in a CUDA graph and replayed.
//
// What a program owes the engine:
//   * sizes are on the device (BatchHeader): work is launched for the envelope, stops at the batch's rows, and does
//     nothing that matters for a batch that is not valid;
//   * operands of padded rows are finite, their gradients zero, and every reduction runs over the batch's rows;
//   * sums have one order: the same state gives the same bits;
//   * every gradient is overwritten, none is added to; running statistics move only with a valid training batch.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/base/envelope.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/graph/staging_kernels.h"
#include "gnn/cuda/kernels/matmul.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// What programs share; outlives them.
struct ProgramContext {
  const DeviceGraph* graph = nullptr;
  DeviceParameters* parameters = nullptr;
  MatmulLibrary* matmuls = nullptr;
  Element element = Element::kBFloat16;  // of activations
};

// few_misses() of GAT, GIN and SAGE-RI: a share of what the outermost hop draws. Their chains of kernels are longer than
// GraphSAGE's, and it is those that wait for loads. Measured on an H200 (docs/design/0013).
inline int32_t FewMissesOfLongSteps(const Envelope& envelope) {
  if (!envelope.trains) return kFewMisses;
  const double drawn = envelope.known.back() * (envelope.fanouts.back() + 1.0);
  return static_cast<int32_t>(std::min(0.25 * drawn, 1e9));
}

class Program {
 public:
  virtual ~Program() = default;
  // Of one of the two batches that are under way.
  virtual int64_t OuterBytes() const = 0;
  // With the sampling of a batch, beside the previous batch's compute: the outermost hop, from raw features.
  virtual Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) = 0;
  // Recorded by EnqueueForward once what fills the whole GPU is behind it and a chain of small kernels begins, which
  // leaves room for the outermost hop of the batch that comes next; null: that may begin when it likes.
  virtual cudaEvent_t room() const { return nullptr; }
  // Where misses are staged: up to how many of a batch's the step takes longer than few blocks take to copy them
  // (staging_kernels.h).
  virtual int32_t few_misses() const { return kFewMisses; }
  //   logits [Rows(layers - 1), ModelPlan::padded_classes()] fp32
  virtual Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) = 0;
  //   grad_logits likewise, in the context's element
  virtual Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) = 0;
};

// A model's shape on the device.
class ModelPlan {
 public:
  virtual ~ModelPlan() = default;
  virtual ParameterLayout Layout() const = 0;
  virtual int64_t padded_classes() const = 0;
  // Whether the nodes of the outermost hop get numbers, as those of the others do: the batch's envelope then has one hop
  // more, which draws nobody (plan_model.h).
  virtual bool numbers_outermost() const { return false; }
  // Whether what is drawn beside the sampling needs global ids and the whole graph, in a batch that the host prepared
  // too: a mask keyed by the node of every input row, or degrees of the whole graph.
  virtual bool finds_rows_by_id() const { return false; }
  // `context` must outlive the program.
  virtual Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const = 0;
};

// kInvalidArgument for what the engine's version of the model cannot do, naming the option.
Result<std::unique_ptr<ModelPlan>> PlanSage(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanGat(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanGin(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanSageRi(const ModelOptions& model);

}  // namespace hone::gnn::cuda
