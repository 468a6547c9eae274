// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/dense.h"

namespace hone::gnn::cuda {

Status Dense::Plan(const ProgramContext& context, const DenseShape& shape) {
  weight_ = shape.weight != nullptr ? shape.weight : context.parameters->compute_at(shape.weight_at);
  gradient_ = shape.weight != nullptr ? shape.gradient : context.parameters->gradient() + shape.weight_at;
  HONE_ASSIGN_OR_RETURN(forward_, context.matmuls->Plan({shape.rows, shape.out, shape.in, /*transpose_a=*/false,
                                                         /*transpose_b=*/true, context.element, shape.result}));
  if (!shape.trains) return Status::Ok();
  MatmulLibrary* const products = shape.gradient_products != nullptr ? shape.gradient_products : context.matmuls;
  HONE_ASSIGN_OR_RETURN(weight_gradient_, products->Plan({shape.out, shape.in, shape.rows, /*transpose_a=*/true,
                                                          /*transpose_b=*/false, context.element, Element::kFloat32}));
  if (!shape.input_gradient) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(input_gradient_,
                        context.matmuls->Plan({shape.rows, shape.in, shape.out, /*transpose_a=*/false,
                                               /*transpose_b=*/false, context.element, context.element}));
  return Status::Ok();
}

Status Dense::Forward(const void* x, void* y, cudaStream_t stream) const {
  return forward_->Enqueue(x, weight_, y, stream);
}
Status Dense::WeightGradient(const void* grad_y, const void* x, cudaStream_t stream) const {
  return weight_gradient_->Enqueue(grad_y, x, gradient_, stream);
}
Status Dense::InputGradient(const void* grad_y, void* grad_x, cudaStream_t stream) const {
  return input_gradient_->Enqueue(grad_y, weight_, grad_x, stream);
}

}  // namespace hone::gnn::cuda
