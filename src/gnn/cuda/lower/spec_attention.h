// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One attention of a spec on the GPU: weighted sums over a numbered hop (attention_kernels.h), and the product of all
// heads at once (head_kernels.h).
#pragma once

#include "gnn/cuda/kernels/attention_kernels.h"
#include "gnn/cuda/kernels/head_kernels.h"
#include "gnn/cuda/lower/dense.h"
#include "gnn/cuda/lower/spec_layout.h"

namespace hone::gnn::cuda {

class SpecAttention {
 public:
  // What backward works in, and leaves nothing in: shared by the attentions of a program.
  struct Scratch {
    DeviceArray<float> slots, self;
  };
  // Floats of both, of unit `u`.
  static int64_t SlotFloats(const LoweredSpec& model, const Envelope& envelope, size_t u);
  static int64_t SelfFloats(const LoweredSpec& model, const Envelope& envelope, size_t u);

  // All borrowed. `result`: the element of what it makes.
  Status Make(const ProgramContext& context, const Envelope& envelope, const LoweredSpec& model, size_t u,
              Element result);
  // out [rows of the unit, its columns] from the operand's rows.
  Status EnqueueForward(const BatchOnDevice& batch, const void* rows, void* out, cudaStream_t stream) const;
  // From grad_out of the context's element: the gradients of weights, but for what scores add to them, and of the sums.
  Status EnqueueProductGradients(const void* grad_out, cudaStream_t stream) const;
  // After it: the rest, and grad_rows [padded_rows, the operand's columns], overwritten.
  Status EnqueueRowGradients(const BatchOnDevice& batch, const void* rows, const Scratch& scratch, int32_t padded_rows,
                             void* grad_rows, cudaStream_t stream) const;

 private:
  const AttentionSpec& attention() const { return model_->Attention(u_); }
  const SpecUnit& unit() const { return model_->Unit(u_); }
  const UnitPlaces& places() const { return model_->places[u_]; }
  int64_t operand_columns() const { return model_->Padded(unit().operands[0]); }
  int64_t head_width() const { return attention().concatenate ? unit().width / attention().heads : unit().width; }
  float* Gradient(int64_t at) const { return context_->parameters->gradient() + at; }
  const float* Master(int64_t at) const { return context_->parameters->master() + at; }
  AttentionShape Shape() const;
  FoldedLayer Folded() const;
  HeadSpread Spread() const;
  AttentionWeightsOnDevice Weights() const { return {slot_weights_.get(), self_weights_.get(), nullptr}; }

  const ProgramContext* context_ = nullptr;
  const LoweredSpec* model_ = nullptr;
  size_t u_ = 0;
  DeviceArray<float> folded_, grad_folded_, slot_weights_, self_weights_, score_partials_, grad_spread_;
  DeviceArray<unsigned char> sums_, grad_sums_, spread_;
  Dense dense_;
};

}  // namespace hone::gnn::cuda
