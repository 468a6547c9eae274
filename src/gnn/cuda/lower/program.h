// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Program is the interface between the GPU engine and a model: it enqueues the model's work for one batch.
//
// The engine samples, computes the loss, updates the parameters and keeps statistics. A model's program turns a sampled
// batch into logits, and the logits' gradient into gradients of the parameters. A program is planned once for an
// envelope (the most nodes that a batch may have after each hop). It may allocate while it is planned and never later;
// it only enqueues work, which is captured in a CUDA graph and replayed.
//
// Every program must keep these rules:
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
#include "gnn/nn/kernel_choices.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// The state that all programs of an engine share; it must outlive them.
struct ProgramContext {
  const DeviceGraph* graph = nullptr;
  DeviceParameters* parameters = nullptr;
  MatmulLibrary* matmuls = nullptr;
  Element element = Element::kBFloat16;  // element of activations
  KernelChoices choices = {};            // instances of kernels that a model from a file runs
};

// Returns hideable_misses() for GAT, GIN and SAGE-RI: a share of the rows that the outermost hop draws. Their chains of
// kernels are longer than GraphSAGE's and wait for loads. Measured on an H200 (docs/design/0013-feature-tiers.md).
inline int32_t HideableMissesOfLongSteps(const Envelope& envelope) {
  if (!envelope.trains) return kFewMisses;
  const double drawn = envelope.known.back() * (envelope.fanouts.back() + 1.0);
  return static_cast<int32_t>(std::min(0.25 * drawn, 1e9));
}

class Program {
 public:
  virtual ~Program() = default;
  // Returns the size in bytes of the outermost hop's results, for one of the two batches in flight.
  virtual int64_t OuterBytes() const = 0;
  // Enqueues the outermost hop, which reads raw features. It runs together with the sampling, while the previous batch
  // is computed.
  virtual Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) = 0;
  // Returns an event that EnqueueForward records when its large kernels are done and a chain of small kernels begins.
  // The next batch's outermost hop waits for it, because the small kernels leave part of the GPU free. Null: the hop
  // need not wait.
  virtual cudaEvent_t small_kernels_begin() const { return nullptr; }
  // Returns the largest number of misses per batch that a few blocks can copy in less time than a step takes
  // (staging_kernels.h). Used if rows are staged.
  virtual int32_t hideable_misses() const { return kFewMisses; }
  // Writes logits [Rows(layers - 1), ModelPlan::padded_classes()] in fp32.
  virtual Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) = 0;
  // Writes the parameters' gradients. grad_logits has the shape of logits, in the context's element.
  virtual Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) = 0;
};

// ModelPlan describes a model on the device before memory is allocated: its parameters, its classes and what it needs
// of batches.
class ModelPlan {
 public:
  virtual ~ModelPlan() = default;
  virtual ParameterLayout Layout() const = 0;
  virtual int64_t padded_classes() const = 0;
  // Returns whether the nodes of the outermost hop get local ids, like those of the other hops. The batch's envelope
  // then has one more hop, which draws nothing (plan_model.h).
  virtual bool numbers_outermost() const { return false; }
  // Returns whether the outermost hop needs global ids and the whole graph, even in a batch that the host prepared: for
  // a mask keyed by the node of every input row, or for degrees in the whole graph.
  virtual bool finds_rows_by_id() const { return false; }
  // `context` must outlive the program.
  virtual Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const = 0;
};

// Each of these functions plans a published model. kInvalidArgument names an option that the engine's version of the
// model does not support.
Result<std::unique_ptr<ModelPlan>> PlanSage(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanGat(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanGin(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanSageRi(const ModelOptions& model);

}  // namespace hone::gnn::cuda
