// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the losses of multi-label classification and of regression over the seeds of a batch, with their gradients.
#pragma once

#include <cstdint>
#include <span>

#include "gnn/ops/softmax_loss.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {

// The loss of a row is the mean over its known targets; the loss of a step is the mean over the rows that have any. So
// if every target is known, it is PyTorch's with reduction="mean": BCEWithLogitsLoss, MSELoss, L1Loss or HuberLoss.
//   outputs       [n, targets.width]: logits, or values
//   nodes         [n] rows of `targets` that belong to the rows of outputs
//   loss          kBinaryCrossEntropy (targets of kMultiLabel), kSquared, kAbsolute or kHuber
//   pos_weight    [targets.width] factors of the loss of labels that are true (kBinaryCrossEntropy, as PyTorch's).
//                 Empty: all 1
//   normalizer    divisor of the gradient: the rows with a known target of the whole step; 0: those of this call
//   grad_outputs  [n, targets.width], overwritten; may be outputs; empty(): not computed
// LossSums::weight and labelled count rows with a known target. LossSums::correct counts those of multi-label targets
// whose known labels are all on the right side of a probability of 1/2; it is 0 for values.
template <typename T>
LossSums TargetLoss(Matrix<const T> outputs, const TargetView& targets, std::span<const NodeId> nodes, Loss loss,
                    std::span<const double> pos_weight, double normalizer, Matrix<T> grad_outputs, int threads);

}  // namespace hone::gnn
