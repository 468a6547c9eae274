// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model: from the feature rows of a mini-batch to the logits of its seeds, and back.
//
// The four published models (GraphSAGE, GAT, GIN, SAGE-RI), any spec and any stack of Layers have this face. As with a Layer,
// a model owns parameters only; the state of a batch in flight is a ModelState.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/layer.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {

struct ModelOptions {
  std::string kind = "sage";  // sage | gat | gin | sage-ri
  int64_t in_width = 0;       // of the graph's features
  int64_t hidden = 256;
  int64_t num_classes = 0;
  int layers = 3;
  int heads = 1;                     // gat
  std::string aggregation = "mean";  // sage: mean | sum | max
  double dropout = -1;               // below 0: the model's own (0.5; sage-ri 0.1)
  std::string activation;            // relu | leaky_relu | elu; empty: the model's own
  std::string norm;                  // none | batch; empty: the model's own
  double negative_slope = 0.2;       // gat's attention
  bool bias = false;                 // sage, gat: each layer adds a vector, as PyTorch Geometric's layers do
  uint64_t seed = 0;                 // of the initial weights
  // A model of the user's own (hone/gnn/model_spec.h). It takes the place of everything above but in_width, num_classes,
  // layers (which must be the spec's) and seed; kind is kSpecKind. Null: one of the published models.
  std::shared_ptr<const ModelSpec> spec;
};
inline constexpr std::string_view kSpecKind = "spec";
// Options of a spec of `layers` layers (LayersOf), without the sizes of a graph.
ModelOptions SpecOptions(std::shared_ptr<const ModelSpec> spec, int layers);
// The options of the published model that a spec is, whatever its values are called; none where it is a model of its own.
// in_width is 0, and so is num_classes, but of sage-ri, whose spec is for so many classes. Weights are drawn from a seed
// that the caller sets, and everything about the two is equal to the bit on the CPU.
std::optional<ModelOptions> AsPublished(const ModelSpec& spec);
// What a person calls the model: its kind, or the name of its spec.
std::string ModelName(const ModelOptions& options);

template <typename T>
class Model {
 public:
  class State {
   public:
    virtual ~State() = default;
  };
  virtual ~Model() = default;
  virtual const ModelOptions& options() const = 0;
  virtual std::vector<Parameter<T>*> parameters() = 0;
  virtual std::unique_ptr<State> MakeState() const = 0;
  //   x       [sample.num_nodes(), in_width]
  //   logits  [sample.num_seeds(), num_classes], overwritten (no softmax)
  // context.layer is set by the model. sample.hops() == options().layers.
  virtual void Forward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> logits, State& state,
                       const LayerContext& context) = 0;
  // After Forward with the same arguments. Adds to the parameters' gradients; grad_logits may be overwritten.
  virtual void Backward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> grad_logits, State& state,
                        const LayerContext& context) = 0;
  // Layer-wise inference over the whole graph: one layer at a time for all nodes, then the head.
  //   Number of passes over the graph; pass p maps [*, PassWidth(p)] to [*, PassWidth(p + 1)] on any block whose
  //   destinations are the first rows of its sources. The last pass gives logits. Never in training mode.
  //   Working memory is the model's own: one RunPass at a time on one model.
  virtual int num_passes() const = 0;
  virtual int64_t PassWidth(int pass) const = 0;
  virtual void RunPass(int pass, const BlockView& block, Matrix<const T> x, Matrix<T> out,
                       const LayerContext& context) = 0;
  //   The part of pass p that is done row by row before neighbors are gathered, where its layer offers that (see
  //   Layer): ProjectRows gives rows of ProjectedWidth(p) columns (0: not offered), and RunProjectedPass takes them in
  //   place of x.
  virtual int64_t ProjectedWidth(int /*pass*/) const { return 0; }
  virtual void ProjectRows(int /*pass*/, Matrix<const T> /*x*/, Matrix<T> /*out*/, const LayerContext& /*context*/) {}
  virtual void RunProjectedPass(int /*pass*/, const BlockView& /*block*/, Matrix<const T> /*projected*/,
                                Matrix<T> /*out*/, const LayerContext& /*context*/) {}
};

// kInvalidArgument names the option that is wrong.
Result<std::unique_ptr<Model<float>>> MakeModel(const ModelOptions& options);
Result<std::unique_ptr<Model<double>>> MakeDoubleModel(const ModelOptions& options);

// A stack of layers of your own, as many as options.layers: the first takes options.in_width, each next one what the
// one before it gives, the last one gives options.num_classes. Between two layers come options.norm (empty: none),
// options.activation (empty: relu) and options.dropout (below 0: 0.5). options.kind is for show.
template <typename T>
Result<std::unique_ptr<Model<T>>> MakeStackModel(const ModelOptions& options,
                                                 std::vector<std::unique_ptr<Layer<T>>> layers);

}  // namespace hone::gnn
