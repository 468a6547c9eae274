// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Linear and batch normalisation; see modules.h.
#include "gnn/nn/modules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gnn/ops/linear.h"

namespace hone::gnn {

template <typename T>
void FillUniform(Parameter<T>& parameter, double bound, Rng& rng) {
  for (T& value : parameter.value) value = static_cast<T>((2 * rng.Uniform() - 1) * bound);
}

template <typename T>
Parameter<T> MakeParameter(std::string name, std::vector<int64_t> shape, bool trainable) {
  Parameter<T> parameter;
  parameter.name = std::move(name);
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  parameter.shape = std::move(shape);
  parameter.value.assign(static_cast<size_t>(size), T(0));
  if (trainable) parameter.gradient.assign(static_cast<size_t>(size), T(0));
  return parameter;
}

template <typename T>
Linear<T>::Linear(const std::string& name, int64_t in, int64_t out, bool bias, WeightInit init, Rng& rng)
    : weight_(MakeParameter<T>(name + ".weight", {out, in}, /*trainable=*/true)) {
  const double fan_in_bound = 1.0 / std::sqrt(static_cast<double>(in));
  const double glorot_bound = std::sqrt(6.0 / static_cast<double>(in + out));
  switch (init) {
    case WeightInit::kFanIn:
      FillUniform(weight_, fan_in_bound, rng);
      break;
    case WeightInit::kXavierRelu:
      FillUniform(weight_, std::sqrt(2.0) * glorot_bound, rng);
      break;
    case WeightInit::kGlorot:
      FillUniform(weight_, glorot_bound, rng);
      break;
  }
  if (bias) {
    bias_ = MakeParameter<T>(name + ".bias", {out}, /*trainable=*/true);
    FillUniform(bias_, fan_in_bound, rng);
  }
}

template <typename T>
void Linear<T>::Collect(std::vector<Parameter<T>*>& parameters) {
  parameters.push_back(&weight_);
  if (!bias_.value.empty()) parameters.push_back(&bias_);
}

template <typename T>
void Linear<T>::Forward(Matrix<const T> x, bool accumulate, Matrix<T> out, int threads) const {
  LinearForward<T>(x, weight(), bias(), accumulate, out, threads);
}

template <typename T>
void Linear<T>::BackwardParameters(Matrix<const T> x, Matrix<const T> grad_out, Buffer<T>& partials, int threads) {
  LinearBackwardWeight<T>(grad_out, x, grad_weight(), partials, threads);
  if (!bias_.value.empty()) AddColumnSums<T>(grad_out, bias_.gradient.data(), threads);
}

template <typename T>
void Linear<T>::BackwardInput(Matrix<const T> grad_out, bool accumulate, Matrix<T> grad_x, int threads) const {
  LinearBackwardInput<T>(grad_out, weight(), accumulate, grad_x, threads);
}

template <typename T>
BatchNorm<T>::BatchNorm(const std::string& name, int64_t width)
    : weight_(MakeParameter<T>(name + ".weight", {width}, /*trainable=*/true)),
      bias_(MakeParameter<T>(name + ".bias", {width}, /*trainable=*/true)),
      running_mean_(MakeParameter<T>(name + ".running_mean", {width}, /*trainable=*/false)),
      running_var_(MakeParameter<T>(name + ".running_var", {width}, /*trainable=*/false)),
      batches_(MakeParameter<T>(name + ".num_batches_tracked", {}, /*trainable=*/false)) {
  std::fill(weight_.value.begin(), weight_.value.end(), T(1));
  std::fill(running_var_.value.begin(), running_var_.value.end(), T(1));
}

template <typename T>
void BatchNorm<T>::Collect(std::vector<Parameter<T>*>& parameters) {
  for (Parameter<T>* p : {&weight_, &bias_, &running_mean_, &running_var_, &batches_}) parameters.push_back(p);
}

template <typename T>
void BatchNorm<T>::Forward(Matrix<const T> x, bool training, ColumnStatistics& statistics, Matrix<T> out, int threads) {
  if (training) {
    ComputeColumnStatistics<T>(x, statistics, threads);
    UpdateRunningStatistics<T>(statistics, running_mean_.value.data(), running_var_.value.data());
    batches_.value[0] += T(1);
  } else {
    statistics.rows = x.rows;
    statistics.mean.assign(running_mean_.value.begin(), running_mean_.value.end());
    statistics.variance.assign(running_var_.value.begin(), running_var_.value.end());
  }
  Apply(x, statistics, out, threads);
}

template <typename T>
void BatchNorm<T>::Apply(Matrix<const T> x, const ColumnStatistics& statistics, Matrix<T> out, int threads) const {
  BatchNormForward<T>(x, statistics, weight_.value.data(), bias_.value.data(), out, threads);
}

template <typename T>
void BatchNorm<T>::Backward(Matrix<const T> x, bool training, const ColumnStatistics& statistics, Matrix<T> grad,
                            int threads) {
  BatchNormBackward<T>(x, statistics, training, weight_.value.data(), grad, weight_.gradient.data(),
                       bias_.gradient.data(), threads);
}

#define HONE_INSTANTIATE(T)                                                        \
  template void FillUniform<T>(Parameter<T>&, double, Rng&);                       \
  template Parameter<T> MakeParameter<T>(std::string, std::vector<int64_t>, bool); \
  template class Linear<T>;                                                        \
  template class BatchNorm<T>;
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)
#undef HONE_INSTANTIATE

}  // namespace hone::gnn
