// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements cross-entropy; see softmax_loss.h.
#include "gnn/ops/softmax_loss.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gnn/ops/parallel.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

template <typename T>
LossSums SoftmaxCrossEntropy(Matrix<const T> logits, std::span<const int32_t> labels,
                             std::span<const double> class_weights, double normalizer, Matrix<T> grad_logits,
                             int threads) {
  HONE_CHECK(static_cast<int64_t>(labels.size()) == logits.rows, "a label for each row of logits");
  HONE_CHECK(class_weights.empty() || static_cast<int64_t>(class_weights.size()) == logits.cols,
             "a weight for each class");
  const auto weight_of = [&](int32_t label) {
    return class_weights.empty() ? 1.0 : class_weights[static_cast<size_t>(label)];
  };
  if (normalizer <= 0) {
    normalizer = 0;
    for (const int32_t label : labels) normalizer += label == kNoLabel ? 0.0 : weight_of(label);
  }
  const double inverse = normalizer > 0 ? 1.0 / normalizer : 0.0;

  // Rows of a piece; fixed, so that sums are the same with any number of threads.
  constexpr int64_t kPiece = 256;
  std::vector<LossSums> pieces(static_cast<size_t>((logits.rows + kPiece - 1) / kPiece));
  ParallelFor(threads, static_cast<int64_t>(pieces.size()), [&](int64_t p) {
    LossSums& sums = pieces[static_cast<size_t>(p)];
    for (int64_t i = p * kPiece; i < std::min(logits.rows, (p + 1) * kPiece); ++i) {
      const int32_t label = labels[static_cast<size_t>(i)];
      const T* row = logits.Row(i);
      T* grad = grad_logits.empty() ? nullptr : grad_logits.Row(i);
      if (label == kNoLabel) {
        if (grad != nullptr) std::fill_n(grad, logits.cols, T(0));
        continue;
      }
      HONE_CHECK(label >= 0 && label < logits.cols, "label " + std::to_string(label) + " outside the classes");
      const T* largest_logit = std::max_element(row, row + logits.cols);
      const auto top = static_cast<double>(*largest_logit);
      const int64_t predicted = largest_logit - row;
      const double at_label = static_cast<double>(row[label]);
      double total = 0;
      for (int64_t c = 0; c < logits.cols; ++c) total += std::exp(static_cast<double>(row[c]) - top);
      const double weight = weight_of(label);
      sums.loss += weight * (std::log(total) - (at_label - top));
      sums.weight += weight;
      ++sums.labelled;
      sums.correct += predicted == label ? 1 : 0;
      if (grad == nullptr) continue;
      const double scale = weight * inverse;
      for (int64_t c = 0; c < logits.cols; ++c) {
        const double probability = std::exp(static_cast<double>(row[c]) - top) / total;
        grad[c] = static_cast<T>(scale * (probability - (c == label ? 1.0 : 0.0)));
      }
    }
  });
  LossSums total;
  for (const LossSums& sums : pieces) total += sums;
  return total;
}

template LossSums SoftmaxCrossEntropy<float>(Matrix<const float>, std::span<const int32_t>, std::span<const double>,
                                             double, Matrix<float>, int);
template LossSums SoftmaxCrossEntropy<double>(Matrix<const double>, std::span<const int32_t>, std::span<const double>,
                                              double, Matrix<double>, int);

}  // namespace hone::gnn
