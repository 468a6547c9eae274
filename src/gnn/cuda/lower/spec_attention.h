// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes one attention of a spec on the GPU: weighted sums over a hop whose nodes have local ids
// (attention_kernels.h), and one product for all heads (head_kernels.h). A projected attention (SpecUnit::projected)
// has the product first (projected_attention.h).
//
// A composed attention (SpecUnit::composed) does the same over rows [x, 1] of the graph's features, with one weight
// made of its own and the Linear's in every step (composed_weights.h). The column of ones carries the Linear's bias,
// into the scores and, since a destination's weights add up to one, through the sums.
//
// If the hop is drawn (SpecUnit::drawn), the rows are the graph's features in whichever tier they are, as GAT's
// outermost hop has them, and the kernels put the one behind each row that they have loaded. Otherwise rows [x, 1] of
// the batch's nodes were gathered.
#pragma once

#include <span>

#include "gnn/cuda/kernels/attention_kernels.h"
#include "gnn/cuda/kernels/composed_weights.h"
#include "gnn/cuda/kernels/head_kernels.h"
#include "gnn/cuda/kernels/projected_attention.h"
#include "gnn/cuda/lower/dense.h"
#include "gnn/cuda/lower/spec_layout.h"

namespace hone::gnn::cuda {

class SpecAttention {
 public:
  // Scratch memory for backward, shared by all attentions of a program. Its contents are not needed between calls.
  struct Scratch {
    DeviceArray<float> slots, self;
  };
  // These functions return the lengths, in floats, that unit `u` needs of Scratch::slots and Scratch::self.
  static int64_t SlotFloats(const LoweredSpec& model, const Envelope& envelope, size_t u);
  static int64_t SelfFloats(const LoweredSpec& model, const Envelope& envelope, size_t u);

  // Borrows all arguments. `result` is the element of the output, `gradient_products` as in DenseShape.
  Status Make(const ProgramContext& context, const Envelope& envelope, const LoweredSpec& model, size_t u,
              Element result, MatmulLibrary* gradient_products);
  // Makes what the attentions read in place of their weights: weights multiplied with those of Linears, vectors of
  // scores, blocks of heads on a diagonal. Must precede EnqueueForward.
  static Status EnqueueWeights(std::span<const SpecAttention* const> attentions, cudaStream_t stream);
  // What an attention reads: `rows`, those of its operand or, if it is composed, of [x, 1]. If its hop is drawn, `rows`
  // is null and `hop` has the drawn ids. The other fields are AttentionInput's, for an operand that is
  // SpecUnit::attended_through.
  struct Operand {
    const void* rows = nullptr;
    OuterHopOnDevice hop = {};
    Activation activation = Activation::kIdentity;
    const uint8_t* kept = nullptr;
    float scale = 1;
    AttentionInput input() const { return {.z = rows, .activation = activation, .kept = kept, .scale = scale}; }
  };
  // Writes out [rows of the unit, its columns].
  Status EnqueueForward(const BatchOnDevice& batch, const Operand& operand, void* out, cudaStream_t stream) const;
  // Computes from grad_out, in the context's element, the gradient of the weighted sums or, of a projected attention,
  // that of the projected rows, with `padded_rows` rows.
  Status EnqueueSumsGradient(const BatchOnDevice& batch, const void* grad_out, const Scratch& scratch,
                             int32_t padded_rows, cudaStream_t stream) const;
  // Must follow EnqueueSumsGradient. Computes the gradient of the weights without the part that comes through the
  // scores. It may run beside everything up to EnqueueWeightGradients.
  Status EnqueueProductGradient(const Operand& operand, const void* grad_out, cudaStream_t stream) const;
  // Must follow EnqueueSumsGradient. Computes the gradients of the scores, and overwrites grad_rows [padded_rows, the
  // operand's columns]. An attention that is composed or drawn makes none, and grad_rows may be null.
  Status EnqueueRowGradients(const BatchOnDevice& batch, const Operand& operand, const Scratch& scratch,
                             int32_t padded_rows, void* grad_rows, cudaStream_t stream) const;
  // Adds the scores' part to the gradients of the attentions' weights, and the parts of composed ones to the gradients
  // of the Linears' weights and biases. Must follow everything that overwrites these.
  static Status EnqueueWeightGradients(std::span<const SpecAttention* const> attentions, const BatchHeader* header,
                                       cudaStream_t stream);

  // Returns the columns of the rows that the attention of unit `u` reads.
  static int64_t OperandColumns(const LoweredSpec& model, size_t u);

 private:
  const AttentionSpec& attention() const { return model_->Attention(u_); }
  const SpecUnit& unit() const { return model_->Unit(u_); }
  const UnitPlaces& places() const { return model_->places[u_]; }
  int64_t operand_columns() const { return OperandColumns(*model_, u_); }
  bool composed() const { return unit().composed != 0; }
  // Whether the product reads a copy of the weight: blocks of heads on a diagonal, or a composed weight's elements.
  bool spreads() const { return attention().heads > 1 || composed(); }
  Status MakeProjected(const Envelope& envelope, MatmulLibrary* gradient_products);
  ComposedWeights ComposedForm() const;
  // Whether the rows are read by the kernels for a graph's features, which copy a destination's rows ahead and make no
  // gradient of rows.
  bool reads_features() const { return composed() || unit().drawn; }
  // The arguments of these kernels. Gathered rows are a graph's whose ids are the batch's own.
  struct Features {
    GraphOnDevice graph;
    Element element;
    OuterHopOnDevice hop;
    const int32_t* nodes;
    int32_t one;
  };
  Features FeaturesOf(const BatchOnDevice& batch, const Operand& operand) const;
  // The weight over the columns that are read, fp32 [heads * head_width, operand_columns()], and its gradient.
  const float* Weight() const { return composed() ? composed_.get() : Master(places().weight); }
  float* WeightGradient() const { return composed() ? grad_composed_.get() : Gradient(places().weight); }
  int64_t head_width() const { return attention().concatenate ? unit().width / attention().heads : unit().width; }
  float* Gradient(int64_t at) const { return context_->parameters->gradient() + at; }
  const float* Master(int64_t at) const { return context_->parameters->master() + at; }
  ProjectedAttention ProjectedForm() const;
  AttentionShape Shape() const;
  FoldedLayer FoldedForm() const;
  HeadSpread HeadSpreadOf() const;
  AttentionWeightsOnDevice Weights() const { return {slot_weights_.get(), self_weights_.get(), passes_.get()}; }

  const ProgramContext* context_ = nullptr;
  const LoweredSpec* model_ = nullptr;
  size_t u_ = 0;
  DeviceArray<float> folded_, grad_folded_, slot_weights_, self_weights_, score_partials_, grad_spread_, composed_,
      grad_composed_;
  DeviceArray<uint8_t> passes_;    // where the rows are read through relu: which elements pass it and dropout
  DeviceArray<int32_t> own_rows_;  // [rows] 0, 1, 2, …: the row of each destination
  DeviceArray<unsigned char> sums_, grad_sums_, spread_;  // of a projected attention: sums_ are the projected rows
  Dense dense_;
};

}  // namespace hone::gnn::cuda
