// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements target_loss.h.
#include "gnn/ops/target_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gnn/ops/parallel.h"
#include "hone/base/status.h"

namespace hone::gnn {
namespace {

struct Term {
  double loss = 0, slope = 0;  // slope: the derivative of the loss by the output
};

Term TermOf(Loss loss, double output, double target) {
  const double error = output - target;
  switch (loss) {
    case Loss::kBinaryCrossEntropy: {
      // Written so that no exponential overflows.
      const double exp_of_negative = std::exp(-std::fabs(output));
      const double probability = output >= 0 ? 1 / (1 + exp_of_negative) : exp_of_negative / (1 + exp_of_negative);
      return {std::max(output, 0.0) - output * target + std::log1p(exp_of_negative), probability - target};
    }
    case Loss::kSquared:
      return {error * error, 2 * error};
    case Loss::kHuber:
      if (std::fabs(error) < 1) return {error * error / 2, error};
      return {std::fabs(error) - 0.5, error < 0 ? -1.0 : 1.0};
    case Loss::kAbsolute:
      return {std::fabs(error), error < 0 ? -1.0 : error > 0 ? 1.0 : 0.0};
    case Loss::kAuto:
    case Loss::kCrossEntropy:
      break;
  }
  HONE_CHECK(false, "a loss of classes for targets that are none");
  return {};
}

int64_t CountKnown(const float* row, int64_t width) {
  return std::count_if(row, row + width, [](float value) { return !std::isnan(value); });
}

}  // namespace

template <typename T>
LossSums TargetLoss(Matrix<const T> outputs, const TargetView& targets, std::span<const NodeId> nodes, Loss loss,
                    std::span<const double> pos_weight, double normalizer, Matrix<T> grad_outputs, int threads) {
  HONE_CHECK(static_cast<int64_t>(nodes.size()) == outputs.rows, "a node for each row of outputs");
  HONE_CHECK(targets.width == outputs.cols, "as many outputs as targets");
  HONE_CHECK(pos_weight.empty() || static_cast<int64_t>(pos_weight.size()) == targets.width, "a weight for each label");
  if (normalizer <= 0) {
    normalizer = 0;
    for (const NodeId v : nodes) normalizer += CountKnown(targets.Row(v), targets.width) > 0 ? 1 : 0;
  }
  // Rows of a piece; fixed, so that sums are the same with any number of threads.
  constexpr int64_t kPiece = 64;
  std::vector<LossSums> pieces(static_cast<size_t>((outputs.rows + kPiece - 1) / kPiece));
  ParallelFor(threads, static_cast<int64_t>(pieces.size()), [&](int64_t p) {
    LossSums& sums = pieces[static_cast<size_t>(p)];
    for (int64_t i = p * kPiece; i < std::min(outputs.rows, (p + 1) * kPiece); ++i) {
      const float* target = targets.Row(nodes[static_cast<size_t>(i)]);
      const T* row = outputs.Row(i);
      T* grad = grad_outputs.empty() ? nullptr : grad_outputs.Row(i);
      const int64_t known_targets = CountKnown(target, targets.width);
      const double scale = known_targets > 0 ? 1 / (normalizer * static_cast<double>(known_targets)) : 0;
      double total = 0;
      bool right = known_targets > 0 && loss == Loss::kBinaryCrossEntropy;
      for (int64_t c = 0; c < outputs.cols; ++c) {
        Term term;
        if (!std::isnan(target[c])) {
          right = right && (row[c] > T(0)) == (target[c] > 0.5f);
          term = TermOf(loss, static_cast<double>(row[c]), static_cast<double>(target[c]));
          if (!pos_weight.empty() && target[c] > 0.5f) {
            term.loss *= pos_weight[static_cast<size_t>(c)];
            term.slope *= pos_weight[static_cast<size_t>(c)];
          }
        }
        total += term.loss;
        if (grad != nullptr) grad[c] = static_cast<T>(scale * term.slope);
      }
      if (known_targets == 0) continue;
      sums.loss += total / static_cast<double>(known_targets);
      sums.weight += 1;
      ++sums.labelled;
      sums.correct += right ? 1 : 0;
    }
  });
  LossSums total;
  for (const LossSums& sums : pieces) total += sums;
  return total;
}

template LossSums TargetLoss<float>(Matrix<const float>, const TargetView&, std::span<const NodeId>, Loss,
                                    std::span<const double>, double, Matrix<float>, int);
template LossSums TargetLoss<double>(Matrix<const double>, const TargetView&, std::span<const NodeId>, Loss,
                                     std::span<const double>, double, Matrix<double>, int);

}  // namespace hone::gnn
