// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules from which layers are built: a Linear and a batch normalisation, each with its parameters, forward and
// backward.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/ops/batch_norm.h"
#include "gnn/ops/buffer.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {

// Returns the first `count` rows.
template <typename T>
Matrix<T> FirstRows(Matrix<T> x, int64_t count) {
  return {x.data, count, x.cols, x.stride};
}

// Initial weights, drawn uniformly from [-bound, bound]:
//   kFanIn         1 / sqrt(in): the default of PyTorch's Linear and of PyG
//   kXavierRelu    sqrt(2) * sqrt(6 / (in + out)) (Glorot and Bengio 2010 with the gain of ReLU)
//   kGlorot        sqrt(6 / (in + out))
enum class WeightInit : uint8_t { kFanIn, kXavierRelu, kGlorot };

// Draws the values of a parameter from [-bound, bound).
template <typename T>
void FillUniform(Parameter<T>& parameter, double bound, Rng& rng);
// Makes a named tensor of zeros; `trainable` tensors have a gradient.
template <typename T>
Parameter<T> MakeParameter(std::string name, std::vector<int64_t> shape, bool trainable);

// A linear map: y = x * weight^T + bias. The parameters are NAME.weight and NAME.bias. A bias is drawn from ±1 /
// sqrt(in), as in PyTorch.
template <typename T>
class Linear {
 public:
  Linear() = default;
  // Draws the weight from `rng`. `bias`: the map has a bias.
  Linear(const std::string& name, int64_t in, int64_t out, bool bias, WeightInit init, Rng& rng);

  int64_t in() const { return weight_.shape[1]; }
  int64_t out() const { return weight_.shape[0]; }
  // Appends the parameters to the list.
  void Collect(std::vector<Parameter<T>*>& parameters);
  Matrix<const T> weight() const { return {weight_.value.data(), out(), in(), in()}; }
  Matrix<T> grad_weight() { return {weight_.gradient.data(), out(), in(), in()}; }
  const T* bias() const { return bias_.value.empty() ? nullptr : bias_.value.data(); }

  // `accumulate`, here and below: the result is added to the output matrix and does not overwrite it.
  void Forward(Matrix<const T> x, bool accumulate, Matrix<T> out, int threads) const;
  // Adds to the parameters' gradients.
  void BackwardParameters(Matrix<const T> x, Matrix<const T> grad_out, Buffer<T>& partials, int threads);
  void BackwardInput(Matrix<const T> grad_out, bool accumulate, Matrix<T> grad_x, int threads) const;

 private:
  Parameter<T> weight_;  // [out, in]
  Parameter<T> bias_;    // [out] or empty
};

// Batch normalisation. Its parameters and buffers are NAME.weight, .bias, .running_mean, .running_var and
// .num_batches_tracked (kept for PyTorch's sake).
template <typename T>
class BatchNorm {
 public:
  BatchNorm() = default;
  BatchNorm(const std::string& name, int64_t width);

  void Collect(std::vector<Parameter<T>*>& parameters);
  // Normalises x. `statistics` receives what Backward needs: in training the statistics of x's rows, which also update
  // the running statistics; otherwise the running statistics.
  void Forward(Matrix<const T> x, bool training, ColumnStatistics& statistics, Matrix<T> out, int threads);
  // Computes Forward's output again, from the statistics that Forward left.
  void Apply(Matrix<const T> x, const ColumnStatistics& statistics, Matrix<T> out, int threads) const;
  // Replaces `grad`, the gradient of the output, by the gradient of x; adds to the parameters' gradients.
  void Backward(Matrix<const T> x, bool training, const ColumnStatistics& statistics, Matrix<T> grad, int threads);

 private:
  Parameter<T> weight_, bias_, running_mean_, running_var_, batches_;
};

}  // namespace hone::gnn
