// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/input_norm.h"

namespace hone::gnn::cuda {

Status InputNorm::Make(const ProgramContext& context, const Envelope& envelope, const Shape& shape) {
  context_ = &context;
  shape_ = shape;
  hop_ = envelope.HopOf(0);
  padded_rows_ = static_cast<int32_t>(envelope.Rows(0));
  const auto inputs = static_cast<int32_t>(shape.inputs), outputs = static_cast<int32_t>(shape.outputs);
  HONE_RETURN_IF_ERROR(while_sampling_.Make(context));
  HONE_ASSIGN_OR_RETURN(gram_,
                        while_sampling_.library().Plan({shape.inputs, shape.inputs, padded_rows_, /*transpose_a=*/true,
                                                        /*transpose_b=*/false, context.element, Element::kFloat32}));
  HONE_ASSIGN_OR_RETURN(weight_gradient_,
                        context.matmuls->Plan({shape.outputs, shape.inputs, padded_rows_, /*transpose_a=*/true,
                                               /*transpose_b=*/false, context.element, Element::kFloat32}));
  HONE_RETURN_IF_ERROR(coefficient_memory_.Allocate(kCoefficientArrays * shape.outputs));
  coefficients_ = CoefficientsIn(coefficient_memory_.get(), outputs);
  HONE_RETURN_IF_ERROR(products_.Allocate(shape.outputs * shape.inputs));
  if (shape.activation != Activation::kElu) {
    HONE_RETURN_IF_ERROR(marks_.Allocate(padded_rows_ * (shape.outputs / 8)));
  }
  HONE_RETURN_IF_ERROR(input_partials_.Allocate(ColumnPartials(padded_rows_, inputs)));
  return gradient_partials_.Allocate(GradientPartials(padded_rows_, outputs));
}

Status InputNorm::EnqueueMoments(const BatchOnDevice& batch, void* x, void* moments, cudaStream_t stream) const {
  auto* gram = static_cast<float*>(moments);
  HONE_CUDA_RETURN_IF_ERROR(EnqueueInputSums(Rows(batch), static_cast<int32_t>(shape_.inputs), x,
                                             gram + shape_.inputs * shape_.inputs, input_partials_.get(), stream));
  return gram_->Enqueue(x, x, gram, stream);
}

Status InputNorm::EnqueueCoefficients(const BatchOnDevice& batch, const void* moments, cudaStream_t stream) const {
  const DeviceParameters& parameters = *context_->parameters;
  HONE_CUDA_RETURN_IF_ERROR(EnqueueInputCoefficients(
      Rows(batch), static_cast<int32_t>(shape_.inputs), static_cast<int32_t>(shape_.outputs), Moments(moments),
      parameters.compute_at(shape_.weight_at),
      NormAt(parameters, shape_.norm,
             shape_.linear_bias_at < 0 ? nullptr : parameters.master() + shape_.linear_bias_at),
      coefficients_, products_.get(), stream));
  return Status::Ok();
}

Status InputNorm::EnqueueGradientBefore(const BatchOnDevice& batch, const void* plain, const Between& between,
                                        const void* grad_y, void* grad, cudaStream_t stream) const {
  HONE_CUDA_RETURN_IF_ERROR(cuda::EnqueueGradientBefore(Rows(batch), marks_.get(), plain, coefficients_, between,
                                                        grad_y, grad, gradient_partials_.get(), stream));
  return Status::Ok();
}

Status InputNorm::EnqueueGradients(const BatchOnDevice& batch, const void* x, const void* moments, const void* grad,
                                   int32_t most_pieces, cudaStream_t stream) const {
  HONE_RETURN_IF_ERROR(weight_gradient_->Enqueue(grad, x, Gradient(shape_.weight_at), stream));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueInputGradients(
      Rows(batch), static_cast<int32_t>(shape_.inputs), static_cast<int32_t>(shape_.outputs), Moments(moments),
      context_->parameters->compute_at(shape_.weight_at), products_.get(), coefficients_, gradient_partials_.get(), most_pieces,
      {.weight = Gradient(shape_.weight_at),
       .norm_weight = Gradient(shape_.norm.weight),
       .norm_bias = Gradient(shape_.norm.bias),
       .residual_bias = Gradient(shape_.residual_bias_at)},
      stream));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
