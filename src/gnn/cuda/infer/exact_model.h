// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts a trained model of one of the four published kinds to layers over the whole graph. Each layer is a gather
// followed by products.
//
// Every model's layer has one form, so that one loop (exact_layers.h) serves all of them:
//
//   A = what a node gathers from all of its neighbors     [mean | self], sum + (1 + eps) self, or attention
//   for each step:  X = activation(((X W^T) - mean) * scale + shift), beginning with X = A
//   after the last step SAGE-RI adds the node's own row, or a product of it
//
// SAGE-RI's head reads the input and every layer's output, which is too much to keep for all nodes. The head is two
// Linears with nothing between them, hence equal to one Linear, and its product is a sum over its inputs. So each layer
// adds its part to a table of partial logits as soon as its rows are computed (`contributions`), and the widest kept
// table has `classes` columns.
//
// The layers serve evaluation only: there is no dropout, and normalisation uses running statistics. Weights are read
// once, when the plan is made; widths are padded to multiples of 8, and padding is zero.
#pragma once

#include <cstdint>
#include <vector>

#include "gnn/cuda/infer/exact_kernels.h"
#include "gnn/cuda/infer/exact_weights.h"
#include "hone/base/status.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// Maps X (of `in` columns) to activation(normalised X W^T). Offsets refer to ExactModel::packed.
struct ExactStep {
  int64_t in = 0, out = 0;
  int64_t weight = kNowhere;                  // [out, in]
  ExactNorm norm;                             // vectors of [out] values; mean and scale are both there or neither
  Activation activation = Activation::kIdentity;
};

// A part of the logits, which is the product of a layer's rows and weight^T.
struct ExactContribution {
  bool of_gathered = false;  // true: the rows are A, the layer's gathered input; false: the layer's output
  int64_t in = 0;
  int64_t weight = kNowhere;  // [padded_classes, in]
};

struct ExactLayer {
  int64_t in = 0;  // columns of the gathered rows
  bool attends = false;  // true: A is attention's; false: `aggregate`'s
  FullAggregate aggregate;
  int32_t heads = 1;
  float negative_slope = 0.2f;
  int64_t folded = kNowhere;  // [2 * heads, in], in the pool `vectors`
  std::vector<ExactStep> steps;
  // SAGE-RI: whether the node's own row, which lies in A from column `in` on, is added to the last step's rows.
  bool adds_own = false;
  int64_t own_weight = kNowhere;  // weight [out, gathered()] of a product that is first applied to A; kNowhere: none
  int64_t own_bias = kNowhere;
  std::vector<ExactContribution> contributions;

  int64_t gathered() const { return attends ? heads * in : aggregate.blocks() * in; }
  int64_t out() const { return steps.back().out; }
};

struct ExactModel {
  std::vector<ExactLayer> layers;
  int64_t classes = 0, padded_classes = 0;
  // false: the logits are the last layer's rows; true: the sum of all contributions and of the bias at logits_bias.
  bool contributes = false;
  int64_t logits_bias = kNowhere;
  ExactWeights packed;
};

// Plans the model. kInvalidArgument names a missing tensor, or a kind that is not one of the four.
Result<ExactModel> PlanExactModel(Model<float>& model);

}  // namespace hone::gnn::cuda
