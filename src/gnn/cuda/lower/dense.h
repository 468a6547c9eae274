// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The products of one dense layer, y = x W^T, forward and backward, planned for an envelope's rows.
#pragma once

#include <memory>

#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

struct DenseShape {
  int64_t rows = 0;         // padded
  int64_t in = 0, out = 0;  // multiples of 8
  int64_t weight_at = 0;    // in the flat parameters: [out, in]
  // A weight elsewhere, in the context's element, and its gradient; null: as weight_at says.
  const void* weight = nullptr;
  float* gradient = nullptr;
  // What multiplies for the weight's gradient, where that runs beside other products; null: the context's.
  MatmulLibrary* gradient_products = nullptr;
  bool trains = false;
  bool input_gradient = true;          // whether anybody needs it
  Element result = Element::kFloat32;  // of y
};

class Dense {
 public:
  Status Plan(const ProgramContext& context, const DenseShape& shape);
  // x [rows, in] and grad_y, grad_x of the context's element; y of shape.result.
  Status Forward(const void* x, void* y, cudaStream_t stream) const;
  Status WeightGradient(const void* grad_y, const void* x, cudaStream_t stream) const;
  Status InputGradient(const void* grad_y, void* grad_x, cudaStream_t stream) const;

 private:
  const void* weight_ = nullptr;
  float* gradient_ = nullptr;
  std::unique_ptr<Matmul> forward_, weight_gradient_, input_gradient_;
};

}  // namespace hone::gnn::cuda
