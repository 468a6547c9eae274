// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides models from files for the engine's tests. Together they contain every operation, and every way of reading
// the outermost hop.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

// Returns options for the model that `toml` specifies. Such a model runs operation by operation, each with its own
// kernels.
inline ModelOptions Spec(const char* toml) {
  auto spec = std::make_shared<const ModelSpec>(ParseModelSpec(toml, "the test's").value());
  const int layers = LayersOf(*spec).value();
  ModelOptions shape = SpecOptions(std::move(spec), layers);
  shape.seed = 5;
  return shape;
}
inline ModelOptions LeakyReluSpec(const char* toml) {
  std::string text = toml;
  for (size_t at = 0; (at = text.find("\"elu\"", at)) != std::string::npos;) text.replace(at, 5, "\"leaky_relu\"");
  return Spec(text.c_str());
}
// A GCN: only sums of features read the outermost hop, so one kernel draws and sums it.
inline constexpr const char* kGcn = R"(name = "gcn"
values = [
  {name = "a0", op = "aggregate", of = "x", how = "sum", scale = "symmetric"},
  {name = "h0", op = "linear", of = "a0", width = 13},
  {name = "r0", op = "activate", of = "h0", function = "elu"},
  {name = "d0", op = "drop", of = "r0", probability = 0.25},
  {name = "a1", op = "aggregate", of = "d0", how = "sum", scale = "symmetric"},
  {name = "h1", op = "linear", of = "a1", width = 16, bias = false},
  {name = "r1", op = "activate", of = "h1", function = "elu"},
  {name = "h2", op = "linear", of = "r1", width = "classes"},
  {name = "a2", op = "aggregate", of = "h2", how = "sum", scale = "symmetric"},
])";
// A GAT with residuals. Its first attention is composed with the linear of "x" that it reads.
inline constexpr const char* kResidualGat = R"(name = "residual-gat"
values = [
  {name = "in", op = "linear", of = "x", width = 16},
  {name = "gat0", op = "attention", of = "in", width = 8, heads = 2},
  {name = "elu0", op = "activate", of = "gat0", function = "elu"},
  {name = "h0", op = "add", of = ["elu0", "in"]},
  {name = "gat1", op = "attention", of = "h0", width = 16, heads = 3, concatenate = false, bias = true},
  {name = "h1", op = "add", of = ["gat1", "h0"], eps = true},
  {name = "jump", op = "collect", of = ["in", "h0", "h1"]},
  {name = "logits", op = "head", of = "jump"},
])";
// Sums of two values that read biases, activations and dropouts as they add, over the same and over fewer rows, and a
// concatenation that reads a bias.
inline constexpr const char* kSums = R"(name = "sums"
values = [
  {name = "own", op = "linear", of = "x", width = 13},
  {name = "mean", op = "aggregate", of = "x", how = "mean"},
  {name = "left", op = "linear", of = "mean", width = 13},
  {name = "act", op = "activate", of = "left", function = "elu"},
  {name = "drop", op = "drop", of = "act", probability = 0.25},
  {name = "h0", op = "add", of = ["drop", "own"]},
  {name = "gat", op = "attention", of = "h0", width = 13, bias = true},
  {name = "act1", op = "activate", of = "gat", function = "leaky_relu"},
  {name = "h1", op = "add", of = ["act1", "own"], eps = true},
  {name = "side", op = "concat", of = ["own", "h1"]},
  {name = "logits", op = "head", of = "side"},
])";
// Attentions with so many heads that their products come first, with and without a bias and a residual.
inline constexpr const char* kHeads = R"(name = "heads"
values = [
  {name = "in", op = "linear", of = "x", width = 32},
  {name = "gat0", op = "attention", of = "in", width = 8, heads = 4},
  {name = "elu0", op = "activate", of = "gat0", function = "elu"},
  {name = "h0", op = "add", of = ["elu0", "in"]},
  {name = "gat1", op = "attention", of = "h0", width = 8, heads = 5, bias = true},
  {name = "elu1", op = "activate", of = "gat1", function = "elu"},
  {name = "gat2", op = "attention", of = "elu1", width = 16, heads = 4},
  {name = "jump", op = "collect", of = ["h0", "gat1", "gat2"]},
  {name = "logits", op = "head", of = "jump"},
])";
// Attentions that read activations and a dropout as they read rows.
inline constexpr const char* kAttends = R"(name = "attends"
values = [
  {name = "in", op = "linear", of = "x", width = 16},
  {name = "gat0", op = "attention", of = "in", width = 8, heads = 2},
  {name = "r0", op = "activate", of = "gat0"},
  {name = "d0", op = "drop", of = "r0", probability = 0.25},
  {name = "gat1", op = "attention", of = "d0", width = 13, heads = 2, concatenate = false},
  {name = "e1", op = "activate", of = "gat1", function = "elu"},
  {name = "gat2", op = "attention", of = "e1", width = 16},
  {name = "logits", op = "head", of = "gat2"},
])";
inline constexpr const char* kMixed = R"(name = "mixed"
values = [
  {name = "mean", op = "aggregate", of = "x", how = "mean"},
  {name = "most", op = "aggregate", of = "x", how = "max"},
  {name = "left", op = "linear", of = "mean", width = 21, bias = false},
  {name = "own", op = "linear", of = "x", width = 21, bias = false},
  {name = "right", op = "linear", of = "most", width = 21, bias = false, init = "glorot"},
  {name = "sum", op = "add", of = ["left", "own", "right"]},
  {name = "norm", op = "norm", of = "sum", over = "batch"},
  {name = "act", op = "activate", of = "norm", function = "leaky_relu"},
  {name = "max", op = "aggregate", of = "act", how = "max"},
  {name = "conv", op = "aggregate", of = "act", how = "sum", scale = "symmetric"},
  {name = "side", op = "concat", of = ["max", "conv", "act"]},
  {name = "rows", op = "norm", of = "side", over = "layer"},
  {name = "logits", op = "head", of = "rows"},
])";
// A model with operations in unusual places: masks of features, a mask after a mask, sums of dropped rows, and a
// normalisation at the end.
inline constexpr const char* kOdd = R"(name = "odd"
values = [
  {name = "dx", op = "drop", of = "x", probability = 0.2},
  {name = "dn", op = "drop", of = "dx", probability = 0.3, after = "dx"},
  {name = "all", op = "aggregate", of = "dn", how = "sum"},
  {name = "both", op = "concat", of = ["all", "dx", "x"]},
  {name = "gat", op = "attention", of = "x", width = 5, heads = 1},
  {name = "wide", op = "concat", of = ["gat", "both"]},
  {name = "n", op = "norm", of = "wide", over = "batch"},
  {name = "r", op = "activate", of = "n"},
  {name = "l", op = "linear", of = "r", width = "classes", init = "xavier-relu"},
  {name = "m", op = "aggregate", of = "l", how = "mean"},
  {name = "s", op = "add", of = ["m", "l"], eps = true},
  {name = "end", op = "norm", of = "s", over = "layer"},
])";

}  // namespace hone::gnn::cuda
