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

#include "gnn/cuda/batch_layout.h"
#include "gnn/cuda/device_graph.h"
#include "gnn/cuda/device_parameters.h"
#include "gnn/cuda/matmul.h"
#include "gnn/cuda/staging_kernels.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// Layer l of L turns the nodes known after hop L-l into rows for those known after hop L-1-l; the outermost hop's own
// nodes are known to nobody, for layer 0 draws and gathers in one kernel.
struct Envelope {
  std::vector<int32_t> fanouts;  // [layers], hop 0 is next to the seeds
  std::vector<int32_t> known;    // [layers]: nodes after hop 0 (the seeds), 1, …, layers - 1
  bool trains = false;

  int layers() const { return static_cast<int>(fanouts.size()); }
  int HopOf(int layer) const { return layers() - 1 - layer; }
  // Of what layer `layer` puts out, rounded up to what products like.
  int64_t Rows(int layer) const { return RoundUp<int64_t>(known[static_cast<size_t>(HopOf(layer))], 128); }
};

// A batch in device memory. Layer l >= 1 aggregates over hops[HopOf(l)].
struct BatchOnDevice {
  const RunState* state = nullptr;
  const BatchHeader* header = nullptr;
  const int32_t* nodes = nullptr;     // global id by local id
  const HopOnDevice* hops = nullptr;  // [layers - 1]
  void* outer = nullptr;              // what EnqueueOutermost leaves, Program::OuterBytes() of it
  // Where the outermost hop is drawn from and its rows are found, and the batch's nodes by that graph's ids; the whole
  // graph and `nodes`, but for a batch that came with its rows (feed.h).
  GraphOnDevice graph = {};
  const int32_t* graph_nodes = nullptr;
  // Where misses are staged: what the outermost hop has drawn and where it lies, if that was written down.
  DrawnPlaces drawn = {};
};

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
  // `context` must outlive the program.
  virtual Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const = 0;
};

// kInvalidArgument for what the engine's version of the model cannot do, naming the option.
Result<std::unique_ptr<ModelPlan>> PlanSage(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanGat(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanGin(const ModelOptions& model);
Result<std::unique_ptr<ModelPlan>> PlanSageRi(const ModelOptions& model);

}  // namespace hone::gnn::cuda
