// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adam and the plateau rule; see hone/gnn/optimizer.h.
#include "hone/gnn/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gnn/nn/modules.h"
#include "gnn/ops/parallel.h"

namespace hone::gnn {

namespace {
constexpr int64_t kPiece = 16384;  // parameters of a task

template <typename T>
int64_t SizeOf(const Parameter<T>& parameter) {
  return static_cast<int64_t>(parameter.value.size());
}
}  // namespace

template <typename T>
double GradientNorm(const std::vector<Parameter<T>*>& parameters, int threads) {
  double total = 0;
  for (const Parameter<T>* parameter : parameters) {
    const auto size = static_cast<int64_t>(parameter->gradient.size());
    std::vector<double> sums(static_cast<size_t>((size + kPiece - 1) / kPiece), 0.0);
    ParallelFor(threads, static_cast<int64_t>(sums.size()), [&](int64_t p) {
      double sum = 0;
      for (int64_t i = p * kPiece; i < std::min(size, (p + 1) * kPiece); ++i) {
        const auto g = static_cast<double>(parameter->gradient[static_cast<size_t>(i)]);
        sum += g * g;
      }
      sums[static_cast<size_t>(p)] = sum;
    });
    for (const double sum : sums) total += sum;
  }
  return std::sqrt(total);
}

template <typename T>
Adam<T>::Adam(std::vector<Parameter<T>*> parameters, const AdamOptions& options) : options_(options) {
  for (Parameter<T>* parameter : parameters) {
    if (!parameter->trainable()) continue;
    trainable_.push_back(parameter);
    first_.push_back(MakeParameter<T>("exp_avg." + parameter->name, parameter->shape, /*trainable=*/false));
    second_.push_back(MakeParameter<T>("exp_avg_sq." + parameter->name, parameter->shape, /*trainable=*/false));
  }
}

template <typename T>
double Adam<T>::Step(int threads) {
  double norm = 0;
  T scale = T(1);
  if (options_.clip_norm > 0) {
    norm = GradientNorm<T>(trainable_, threads);
    if (!std::isfinite(norm)) return norm;
    if (norm > options_.clip_norm) scale = static_cast<T>(options_.clip_norm / (norm + 1e-6));
  }
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const auto step_size = static_cast<T>(options_.learning_rate / (1 - std::pow(options_.beta1, t)));
  const auto root_correction = static_cast<T>(std::sqrt(1 - std::pow(options_.beta2, t)));
  const auto beta1 = static_cast<T>(options_.beta1);
  const auto beta2 = static_cast<T>(options_.beta2);
  const auto rest1 = static_cast<T>(1 - options_.beta1);
  const auto rest2 = static_cast<T>(1 - options_.beta2);
  const auto epsilon = static_cast<T>(options_.epsilon);
  const auto decay = static_cast<T>(options_.weight_decay);
  for (size_t p = 0; p < trainable_.size(); ++p) {
    T* value = trainable_[p]->value.data();
    const T* gradient = trainable_[p]->gradient.data();
    T* m = first_[p].value.data();
    T* v = second_[p].value.data();
    ParallelRows(threads, SizeOf(*trainable_[p]), kPiece, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T g = gradient[i] * scale + decay * value[i];
        m[i] = beta1 * m[i] + rest1 * g;
        v[i] = beta2 * v[i] + rest2 * g * g;
        value[i] -= step_size * m[i] / (std::sqrt(v[i]) / root_correction + epsilon);
      }
    });
  }
  return norm;
}

template <typename T>
void Adam<T>::ZeroGradients(int threads) {
  for (Parameter<T>* parameter : trainable_) {
    T* gradient = parameter->gradient.data();
    ParallelRows(threads, SizeOf(*parameter), kPiece * 4,
                 [=](int64_t begin, int64_t end) { std::fill(gradient + begin, gradient + end, T(0)); });
  }
}

template <typename T>
std::vector<Parameter<T>*> Adam<T>::moments() {
  std::vector<Parameter<T>*> tensors;
  for (size_t p = 0; p < first_.size(); ++p) {
    tensors.push_back(&first_[p]);
    tensors.push_back(&second_[p]);
  }
  return tensors;
}

double PlateauStep(const PlateauOptions& options, PlateauState& state, double loss, double rate) {
  if (loss < state.best * (1 - options.threshold)) {
    state.best = loss;
    state.bad_steps = 0;
  } else {
    ++state.bad_steps;
  }
  if (state.cooldown_left > 0) {
    --state.cooldown_left;
    state.bad_steps = 0;
  }
  if (state.bad_steps <= options.patience) return rate;
  state.cooldown_left = options.cooldown;
  state.bad_steps = 0;
  const double lowered = std::max(rate * options.factor, options.min_rate);
  return rate - lowered > 1e-8 ? lowered : rate;  // PyTorch's eps: tiny reductions are ignored
}

template class Adam<float>;
template class Adam<double>;
template double GradientNorm<float>(const std::vector<Parameter<float>*>&, int);
template double GradientNorm<double>(const std::vector<Parameter<double>*>&, int);

}  // namespace hone::gnn
