// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models: gradients against finite differences, exact layer-wise inference against the mini-batch pass, and what a
// user may not ask for.
#include "hone/gnn/model.h"

#include <limits>

#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

ModelOptions Small(const std::string& kind) {
  ModelOptions options;
  options.kind = kind;
  options.in_width = 5;
  options.hidden = 6;
  options.num_classes = 3;
  options.layers = 3;
  options.seed = 7;
  return options;
}

LayerContext Context(bool training, int threads = 1) {
  LayerContext context;
  context.key = {11, 1, 2, 0};
  context.training = training;
  context.threads = threads;
  return context;
}

// sum(logits * fixed random weights): its gradient is those weights.
struct Objective {
  Model<double>& model;
  const NeighborSample& sample;
  std::vector<double>& x;
  LayerContext context;
  std::vector<double> weights;
  std::unique_ptr<Model<double>::State> state;

  Objective(Model<double>& m, const NeighborSample& s, std::vector<double>& features, const LayerContext& c)
      : model(m), sample(s), x(features), context(c), state(m.MakeState()) {
    weights = RandomValues<double>(sample.num_seeds() * model.options().num_classes, 99);
  }
  double operator()() {
    std::vector<double> logits(weights.size());
    model.Forward(sample, View(x, model.options().in_width), View(logits, model.options().num_classes), *state,
                  context);
    double sum = 0;
    for (size_t i = 0; i < logits.size(); ++i) sum += logits[i] * weights[i];
    return sum;
  }
  void Backward() {
    (*this)();
    std::vector<double> grad = weights;
    model.Backward(sample, View(x, model.options().in_width), View(grad, model.options().num_classes), *state, context);
  }
};

void CheckModelGradients(const ModelOptions& options, bool training, bool new_only) {
  SCOPED_TRACE(options.kind + (training ? " training" : " evaluating") + (new_only ? " new only" : " all so far"));
  auto made = MakeDoubleModel(options);
  ASSERT_TRUE(made.ok()) << made.status().message();
  Model<double>& model = **made;
  const NeighborSample sample = FullSample(AwkwardGraph(30, 3), {4, 0, 8, 13}, options.layers, new_only);
  std::vector<double> x = RandomValues<double>(sample.num_nodes() * options.in_width, 5);
  Objective objective(model, sample, x, Context(training));
  objective.Backward();
  for (Parameter<double>* parameter : model.parameters()) {
    if (!parameter->trainable()) continue;
    ExpectGradient(parameter->name, parameter->value, parameter->gradient, [&] { return objective(); });
  }
}

TEST(Model, GradientsAgreeWithFiniteDifferences) {
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    for (const bool training : {true, false}) {
      for (const bool new_only : {true, false}) CheckModelGradients(Small(kind), training, new_only);
    }
  }
}

}  // namespace
}  // namespace hone::gnn
