// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// InputNorm is a first layer's batch normalisation, computed from the moments of the layer's input rows
// (input_norm_kernels.h explains how). Training in bf16 uses it if the input's gradient is not needed. It saves the
// passes over the layer's wide rows that the statistics and the rows' own gradient would take.
#pragma once

#include <memory>

#include "gnn/cuda/kernels/input_norm_kernels.h"
#include "gnn/cuda/lower/norm_between.h"
#include "gnn/cuda/lower/program.h"
#include "gnn/cuda/lower/second_stream.h"

namespace hone::gnn::cuda {

class InputNorm {
 public:
  struct Shape {
    int64_t inputs = 0, outputs = 0;                // padded
    int64_t weight_at = 0;                          // offset of W [outputs, inputs] in the flat parameters
    Activation activation = Activation::kIdentity;  // after the normalisation
    NormPlaces norm;
    int64_t linear_bias_at = -1;    // offset of the bias of the layer's Linear; below zero: none
    int64_t residual_bias_at = -1;  // offset of a residual product's bias; below zero: none
  };

  // Returns whether InputNorm supports this context and envelope. If not, the caller uses norm_kernels.h.
  static bool Serves(const ProgramContext& context, const Envelope& envelope) {
    return envelope.trains && context.element == Element::kBFloat16;
  }
  Status Make(const ProgramContext& context, const Envelope& envelope, const Shape& shape);

  // Returns the size in bytes of one batch's moments, which are kept with the batch.
  int64_t MomentBytes() const { return (shape_.inputs + 1) * shape_.inputs * 4; }
  // Computes the moments of the batch's input rows x [padded, inputs]. Runs together with the sampling, after the rows
  // are gathered. Sets the rows of x past the batch's to zero.
  Status EnqueueMoments(const BatchOnDevice& batch, void* x, void* moments, cudaStream_t stream) const;
  Status EnqueueCoefficients(const BatchOnDevice& batch, const void* moments, cudaStream_t stream) const;
  const ColumnCoefficients& coefficients() const { return coefficients_; }
  // Returns the marks that forward keeps for the rows it makes (BetweenOutput::marks); null if the activation has no
  // marks.
  uint16_t* marks() const { return marks_.get(); }
  // Turns grad_y, the gradient of the output of `between` applied to the normalised `plain` rows, into `grad`, the
  // gradient of `between`'s input. grad may be grad_y.
  Status EnqueueGradientBefore(const BatchOnDevice& batch, const void* plain, const Between& between,
                               const void* grad_y, void* grad, cudaStream_t stream) const;
  // Another kernel may compute that gradient instead. It then leaves its partial sums here (SourceGradient::partials,
  // MarkedProduct::partials).
  float* partials() const { return gradient_partials_.get(); }
  // Computes the gradients of all parameters from `grad`, the result of EnqueueGradientBefore or of another kernel.
  // `most_pieces`: MarkedProductMostPieces() if a marked product left the partial sums, otherwise kAllPieces
  // (input_norm_kernels.h).
  Status EnqueueGradients(const BatchOnDevice& batch, const void* x, const void* moments, const void* grad,
                          int32_t most_pieces, cudaStream_t stream) const;

 private:
  RowsOnDevice Rows(const BatchOnDevice& batch) const {
    return {batch.state, batch.header, batch.nodes, hop_, padded_rows_, static_cast<int32_t>(shape_.outputs)};
  }
  InputMoments Moments(const void* memory) const {
    const auto* gram = static_cast<const float*>(memory);
    return {gram + shape_.inputs * shape_.inputs, gram};
  }
  float* Gradient(int64_t at) const { return at < 0 ? nullptr : context_->parameters->gradient() + at; }

  const ProgramContext* context_ = nullptr;
  Shape shape_;
  int hop_ = 0;
  int32_t padded_rows_ = 0;
  ColumnCoefficients coefficients_;
  OwnProducts while_sampling_;
  std::unique_ptr<Matmul> gram_, weight_gradient_;
  DeviceArray<uint16_t> marks_;
  DeviceArray<float> coefficient_memory_, products_, input_partials_, gradient_partials_;
};

}  // namespace hone::gnn::cuda
