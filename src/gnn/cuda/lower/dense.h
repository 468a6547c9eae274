// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans the matrix products of a dense layer, y = x W^T, forward and backward, for as many rows as an envelope has.
#pragma once

#include <memory>

#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

struct DenseShape {
  int64_t rows = 0;         // padded number of rows
  int64_t in = 0, out = 0;  // multiples of 8
  int64_t weight_at = 0;    // offset of W [out, in] in the flat parameters
  // The address of a weight that lies outside the flat parameters, in the context's element, and of its gradient
  // (fp32). Null: the weight is at weight_at.
  const void* weight = nullptr;
  float* gradient = nullptr;
  // The library for the product that gives the weight's gradient, if it runs at the same time as other products. Null:
  // the context's library.
  MatmulLibrary* gradient_products = nullptr;
  bool trains = false;
  bool input_gradient = true;          // whether the gradient of x is needed
  Element result = Element::kFloat32;  // element of y
};

class Dense {
 public:
  Status Plan(const ProgramContext& context, const DenseShape& shape);
  // These functions enqueue the products. x [rows, in], grad_y [rows, out] and grad_x have the context's element, y has
  // shape.result.
  Status Forward(const void* x, void* y, cudaStream_t stream) const;
  Status WeightGradient(const void* grad_y, const void* x, cudaStream_t stream) const;
  Status InputGradient(const void* grad_y, void* grad_x, cudaStream_t stream) const;

 private:
  const void* weight_ = nullptr;
  float* gradient_ = nullptr;
  std::unique_ptr<Matmul> forward_, weight_gradient_, input_gradient_;
};

}  // namespace hone::gnn::cuda
