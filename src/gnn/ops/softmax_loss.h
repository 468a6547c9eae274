// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes softmax cross-entropy over the seeds of a batch, with its gradient.
#pragma once

#include <cstdint>
#include <span>

#include "hone/gnn/layer.h"

namespace hone::gnn {

// Sums, which are not divided yet: a step's batch may consist of shards, whose sums are added before the division.
struct LossSums {
  double loss = 0;    // sum of weight(label) * -log softmax(logits)[label] over labelled rows
  double weight = 0;  // sum of weight(label); without class weights the number of labelled rows
  int64_t labelled = 0;
  int64_t correct = 0;  // rows whose largest logit (the first among equals) belongs to the label

  LossSums& operator+=(const LossSums& summand) {
    loss += summand.loss;
    weight += summand.weight;
    labelled += summand.labelled;
    correct += summand.correct;
    return *this;
  }
};

//   logits         [n, num_classes]
//   labels         [n], kNoLabel or in [0, num_classes): rows without a label are ignored and get a zero gradient
//   class_weights  [num_classes] or empty: all weights are 1
//   normalizer     divisor of the gradient: the labels (or weights) of the whole step; 0: those of this call, which
//                  gives PyTorch's mean
//   grad_logits    [n, num_classes], overwritten; may be logits; empty(): not computed
template <typename T>
LossSums SoftmaxCrossEntropy(Matrix<const T> logits, std::span<const int32_t> labels,
                             std::span<const double> class_weights, double normalizer, Matrix<T> grad_logits,
                             int threads);

}  // namespace hone::gnn
