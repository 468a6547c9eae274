// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the interface of models: a model maps a mini-batch's feature rows to its seeds' logits, and gradients back.
//
// The four published models (GraphSAGE, GAT, GIN, SAGE-RI), any spec and any stack of Layers implement this interface.
// Like a Layer, a model owns only parameters; the state of a batch in flight is a ModelState.
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
  std::string kind = "sage";         // sage | gat | gin | sage-ri
  int64_t in_width = 0;              // width of the graph's features
  int64_t hidden = 256;              // columns of the values between layers
  int64_t num_classes = 0;           // columns of the logits
  int layers = 3;                    // also the number of hops
  int heads = 1;                     // gat
  std::string aggregation = "mean";  // sage: mean | sum | max
  double dropout = -1;               // below 0: the model's own (0.5; sage-ri 0.1)
  std::string activation;            // relu | leaky_relu | elu; empty: the model's own
  std::string norm;                  // none | batch; empty: the model's own
  double negative_slope = 0.2;       // gat's attention
  bool bias = false;                 // sage, gat: each layer adds a vector, as PyTorch Geometric's layers do
  uint64_t seed = 0;                 // seed of the initial weights
  // Width of the features of the graph's edges; 0: the graph has none. Only an operation of your own can read them
  // (op.h); a trainer sets this for models that do, and leaves it 0 for others.
  int64_t edge_width = 0;
  // A model of the user's own (hone/gnn/model_spec.h); null: a published model. A spec replaces every option above
  // except in_width, num_classes, layers (which must equal the spec's), seed and edge_width; `kind` is then kSpecKind.
  std::shared_ptr<const ModelSpec> spec;
};
inline constexpr std::string_view kSpecKind = "spec";
// Returns options for a spec that has `layers` layers (LayersOf). The caller sets the sizes that depend on the graph.
ModelOptions SpecOptions(std::shared_ptr<const ModelSpec> spec, int layers);
// Returns the options of the published model that computes what the spec describes, or nullopt if there is none. Names
// of values do not matter. in_width is 0, and so is num_classes except for sage-ri, whose spec fixes the number of
// classes. The caller sets the seed of the weights. On the CPU the spec and the published model give the same bits.
std::optional<ModelOptions> AsPublished(const ModelSpec& spec);
// Returns whether the model reads the features of edges: it has an operation that does, and edge_width is above 0. Its
// samples must then have the positions of their edges (SamplerOptions::edges), and its LayerContext the graph's
// edge_features.
bool ReadsEdgeFeatures(const ModelOptions& options);
// Returns the model's name for display: its kind, or the name of its spec.
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
  // The model sets context.layer. Requires sample.hops() == options().layers.
  virtual void Forward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> logits, State& state,
                       const LayerContext& context) = 0;
  // Computes the gradients. Call it after Forward with the same arguments. Adds to the parameters' gradients;
  // grad_logits may be overwritten.
  virtual void Backward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> grad_logits, State& state,
                        const LayerContext& context) = 0;
  // Layer-wise inference over the whole graph computes one layer at a time for all nodes, then the head.
  //   num_passes counts the passes over the graph; pass p maps [*, PassWidth(p)] to [*, PassWidth(p + 1)] on any block
  //   whose destinations are the first rows of its sources. The last pass gives logits. Never called in training mode.
  //   The model owns the working memory: call one RunPass at a time per model.
  virtual int num_passes() const = 0;
  virtual int64_t PassWidth(int pass) const = 0;
  virtual void RunPass(int pass, const BlockView& block, Matrix<const T> x, Matrix<T> out,
                       const LayerContext& context) = 0;
  //   A layer may offer the part of pass p that maps single rows before neighbors are gathered (layer.h, Project).
  //   ProjectRows gives rows of ProjectedWidth(p) columns (0: not offered); RunProjectedPass takes these rows in place
  //   of x.
  virtual int64_t ProjectedWidth(int /*pass*/) const { return 0; }
  virtual void ProjectRows(int /*pass*/, Matrix<const T> /*x*/, Matrix<T> /*out*/, const LayerContext& /*context*/) {}
  virtual void RunProjectedPass(int /*pass*/, const BlockView& /*block*/, Matrix<const T> /*projected*/,
                                Matrix<T> /*out*/, const LayerContext& /*context*/) {}
};

// Makes the model that the options describe. kInvalidArgument names the option that is wrong.
Result<std::unique_ptr<Model<float>>> MakeModel(const ModelOptions& options);
Result<std::unique_ptr<Model<double>>> MakeDoubleModel(const ModelOptions& options);

// Makes a stack of your own layers, as many as options.layers: the first takes options.in_width, each next one takes
// the width that its predecessor gives, and the last gives options.num_classes. Between two layers come options.norm
// (empty: none), options.activation (empty: relu) and options.dropout (below 0: 0.5). options.kind is only displayed.
template <typename T>
Result<std::unique_ptr<Model<T>>> MakeStackModel(const ModelOptions& options,
                                                 std::vector<std::unique_ptr<Layer<T>>> layers);

}  // namespace hone::gnn
