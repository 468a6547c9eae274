// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Updates parameters from gradients: Adam, clipping, and a learning rate that falls when the loss stops falling.
//
// The optimizer's state is plain values that a checkpoint can hold: the same state and the same gradients give the same
// bits, on any number of threads.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hone/gnn/layer.h"

namespace hone::gnn {

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // added to the gradient as weight_decay * value, PyTorch's Adam (not AdamW)
  double clip_norm = 0;     // gradients are scaled down to this global L2 norm; 0: never
};

// Adam (Kingma and Ba 2015), bias-corrected, as PyTorch writes it. Buffers (no gradient) are left alone.
template <typename T>
class Adam {
 public:
  // `parameters` are borrowed and must outlive the optimizer.
  Adam(std::vector<Parameter<T>*> parameters, const AdamOptions& options);

  // Makes one update from the present gradients. Returns the global norm before clipping, or 0 if clip_norm is 0. If
  // the norm is not finite, nothing is updated.
  double Step(int threads);
  void ZeroGradients(int threads);

  double learning_rate() const { return options_.learning_rate; }
  void set_learning_rate(double rate) { options_.learning_rate = rate; }
  // State for checkpoints: the number of steps made, and the moments, one pair for each trainable parameter in their
  // order ("exp_avg.NAME", "exp_avg_sq.NAME", shaped like the parameter).
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  std::vector<Parameter<T>*> moments();

 private:
  std::vector<Parameter<T>*> trainable_;
  std::vector<Parameter<T>> first_, second_;
  AdamOptions options_;
  int64_t steps_ = 0;
};

// Returns the L2 norm of all gradients, summed in double and in fixed order.
template <typename T>
double GradientNorm(const std::vector<Parameter<T>*>& parameters, int threads);

// PyTorch's ReduceLROnPlateau (mode min, relative threshold). After more than `patience` steps in a row without a loss
// below best * (1 - threshold), the learning rate is multiplied by `factor`. The next `cooldown` steps are then not
// counted.
struct PlateauOptions {
  double factor = 0.8;
  int64_t patience = 125;
  double threshold = 1e-4;
  int64_t cooldown = 0;
  double min_rate = 0;  // the rate never falls below this
};
struct PlateauState {
  double best = std::numeric_limits<double>::infinity();
  int64_t bad_steps = 0;      // steps in a row without a lower loss
  int64_t cooldown_left = 0;  // further steps that are not counted
};
// Takes one step's loss into account. Returns the learning rate for the next step.
double PlateauStep(const PlateauOptions& options, PlateauState& state, double loss, double rate);

}  // namespace hone::gnn
