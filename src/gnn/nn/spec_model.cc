// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the interpreter; see spec_model.h. Forward is a loop over the values. Backward visits them in reverse.
// When it reaches a value, it has visited all uses of the value, so their gradients are complete. It adds up the
// gradients that the uses contribute, in the order of the uses; then it runs the value's own operation backward.
//
// Exact inference by layer: pass p computes the values of row set layers - 1 - p for a block of nodes. Earlier values,
// and "x", are carried from pass to pass if later passes read them, side by side in one row (`carried_`).
#include "gnn/nn/spec_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gnn/nn/modules.h"
#include "gnn/nn/operations/operation.h"
#include "gnn/nn/spec_plan.h"
#include "gnn/ops/convert_rows.h"
#include "gnn/ops/elementwise.h"
#include "gnn/spec/own_operations.h"
#include "hone/base/status.h"

namespace hone::gnn {
namespace {

// Returns the prefix of the names of a value's parameters.
const std::string& ParameterPrefix(const ValueSpec& value) {
  return value.parameters.empty() ? value.name : value.parameters;
}

template <typename T>
class SpecModel final : public Model<T> {
 public:
  SpecModel(const ModelOptions& options, SpecShapes shapes)
      : options_(options), spec_(*options.spec), shapes_(std::move(shapes)), layers_(shapes_.layers) {
    MakeOperations();
    std::vector<OperationTraits> traits(1);
    for (size_t v = 1; v < count(); ++v) traits.push_back(TraitsOf(v));
    plan_ = PlanSpec(shapes_, traits);
    PlanPasses();
  }

  const ModelOptions& options() const override { return options_; }
  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> parameters;
    for (size_t v = 1; v < count(); ++v) operations_[v]->Collect(parameters);
    return parameters;
  }
  std::unique_ptr<typename Model<T>::State> MakeState() const override {
    auto state = std::make_unique<State>();
    state->operations.emplace_back();
    for (size_t v = 1; v < count(); ++v) state->operations.push_back(operations_[v]->MakeState());
    state->values = std::vector<Buffer<T>>(count());
    state->gradients = std::vector<Buffer<T>>(plan_.slots);
    state->sources = std::vector<SourcesOfHop>(static_cast<size_t>(layers_));
    state->edges = std::vector<EdgesOfHop>(static_cast<size_t>(layers_));
    state->views.resize(count());
    state->grads.resize(count());
    return state;
  }

  void Forward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> logits, typename Model<T>::State& model_state,
               const LayerContext& context_of_pass) override {
    HONE_CHECK(sample.hops() == layers_, "a sample with as many hops as the model has layers");
    auto& state = static_cast<State&>(model_state);
    LayerContext context = context_of_pass;
    context.nodes = sample.nodes;
    for (SourcesOfHop& sources : state.sources) sources.Forget();
    for (EdgesOfHop& edges : state.edges) edges.gathered = false;
    state.views[0] = Writable(FirstRows(x, sample.num_nodes()));
    for (size_t v = 1; v < count(); ++v) {
      RunForward(v, ReadsNeighbors(Operation(v)) ? BlockOf(v, sample) : BlockView(), RowsOf(v, sample), state, context);
    }
    CopyTo<T>(state.views.back(), FirstRows(logits, sample.num_seeds()), context.threads);
  }

  void Backward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> grad_logits,
                typename Model<T>::State& model_state, const LayerContext& context_of_pass) override {
    auto& state = static_cast<State&>(model_state);
    LayerContext context = context_of_pass;
    context.nodes = sample.nodes;
    state.views[0] = Writable(FirstRows(x, sample.num_nodes()));
    for (size_t v = count() - 1; v > 0; --v) {
      const SpecPlan::Value& value = plan_.values[v];
      if (!value.wants_gradient) continue;
      Matrix<T> grad = FirstRows(grad_logits, sample.num_seeds());
      if (v + 1 < count()) {
        size_t done = 0;
        if (value.shares_gradient) {
          grad = SharedGradient(v, value.uses[0], state);
          done = 1;
        } else {
          grad = state.gradients[value.slot].Resize(RowsOf(v, sample), shapes_.width[v]);
        }
        for (; done < value.uses.size(); ++done)
          AddGradientOfUse(value.uses[done], sample, done > 0, grad, state, context);
      }
      const OperationCall<T> call = Call(v, sample, state, context);
      gnn::Operation<T>& operation = *operations_[v];
      operation.BackwardParameters(call, grad, OperandWantsGradient(v));
      if (operation.flow() == GradientFlow::kInPlace && operation.active(context.training)) {
        operation.BackwardInPlace(call, grad);
      }
      state.grads[v] = grad;
    }
  }

  int num_passes() const override { return layers_; }
  int64_t PassWidth(int pass) const override {
    if (pass == 0) return options_.in_width;
    return pass == layers_ ? options_.num_classes : WidthOf(carried_[static_cast<size_t>(pass)]);
  }
  int64_t ProjectedWidth(int pass) const override {
    return pass == 0 && carried_[0] != std::vector<size_t>{0} ? WidthOf(carried_[0]) : 0;
  }
  void ProjectRows(int, Matrix<const T> x, Matrix<T> out, const LayerContext& context_of_pass) override {
    State& state = PassState();
    const LayerContext context = ForEvaluation(context_of_pass);
    state.views[0] = Writable(x);
    RunFirstValues(x.rows, state, context);
    CollectCarried(0, out, state, context);
  }
  void RunProjectedPass(int pass, const BlockView& block, Matrix<const T> projected, Matrix<T> out,
                        const LayerContext& context_of_pass) override {
    RunCarried(pass, block, projected, out, context_of_pass);
  }
  void RunPass(int pass, const BlockView& block, Matrix<const T> x, Matrix<T> out,
               const LayerContext& context_of_pass) override {
    if (ProjectedWidth(pass) == 0) return RunCarried(pass, block, x, out, context_of_pass);
    const Matrix<T> projected = projected_.Resize(block.num_src, ProjectedWidth(pass));
    ProjectRows(pass, FirstRows(x, block.num_src), projected, context_of_pass);
    RunCarried(pass, block, projected, out, context_of_pass);
  }

 private:
  // Features of a hop's edges, gathered when the first operation of a batch reads them.
  struct EdgesOfHop {
    Buffer<T> buffer;
    Matrix<const T> rows;
    bool gathered = false;
  };
  struct State final : Model<T>::State {
    std::vector<std::unique_ptr<LayerState>> operations;
    std::vector<Buffer<T>> values;     // indexed by the value whose memory it is
    std::vector<Buffer<T>> gradients;  // indexed by slot (SpecPlan::Value::slot)
    std::vector<SourcesOfHop> sources;
    std::vector<EdgesOfHop> edges;
    std::vector<Matrix<T>> views, grads;    // of each value
    std::vector<Matrix<const T>> operands;  // of the current call
    Buffer<T> separate;                     // the part of a gradient that comes from one use, before it is added
  };

  size_t count() const { return shapes_.hop.size(); }
  const OperationSpec& Operation(size_t v) const { return spec_.values[v - 1].operation; }
  // Removes const from a view. The interpreter writes only to views that it made itself.
  static Matrix<T> Writable(Matrix<const T> x) { return {const_cast<T*>(x.data), x.rows, x.cols, x.stride}; }

  // Makes the operation of each value. Weights are drawn from one stream of random numbers per layer, and one for the
  // head.
  void MakeOperations() {
    const Rng rng(options_.seed);
    std::vector<WeightStream> streams;
    for (int i = 0; i < layers_; ++i) {
      const uint64_t seed = rng.Split(static_cast<uint64_t>(i)).Next();
      streams.push_back({Rng(seed), seed});
    }
    Rng head_stream = rng.Split(static_cast<uint64_t>(layers_));
    streams.push_back({head_stream, head_stream.Next()});
    operations_.emplace_back();
    for (size_t v = 1; v < count(); ++v) {
      const ValueSpec& value = spec_.values[v - 1];
      OperationSetup setup;
      setup.parameters = ParameterPrefix(value);
      for (const int operand : shapes_.operands[v]) setup.in.push_back(shapes_.width[static_cast<size_t>(operand)]);
      setup.out = shapes_.width[v];
      setup.edge_width = options_.edge_width;
      setup.drop_key = shapes_.drop_keys[v];
      if (const auto* drop = std::get_if<DropSpec>(&value.operation); drop != nullptr && !drop->after.empty()) {
        setup.dropped_before = std::get<DropSpec>(Operation(static_cast<size_t>(shapes_.operands[v][0]))).probability;
      }
      setup.stream = &streams[static_cast<size_t>(value.stream >= 0 ? value.stream : shapes_.LayerOf(v))];
      operations_.push_back(MakeOperation<T>(value.operation, setup));
    }
  }

  // Returns what the memory plan needs to know of the operation that computes value `v`.
  OperationTraits TraitsOf(size_t v) const {
    gnn::Operation<T>& operation = *operations_[v];
    OperationTraits traits;
    traits.flow = operation.flow();
    traits.works_in_place = operation.works_in_place();
    traits.keeps_output = operation.keeps_output();
    traits.scales = std::holds_alternative<DropSpec>(Operation(v));
    traits.adds = operation.adds();
    traits.sums = operation.sums();
    traits.overwrites_grad = operation.overwrites_grad();
    std::vector<Parameter<T>*> parameters;
    operation.Collect(parameters);
    traits.trains =
        std::any_of(parameters.begin(), parameters.end(), [](const Parameter<T>* p) { return p->trainable(); });
    for (size_t i = 0; i < shapes_.operands[v].size(); ++i) traits.scaled_operands.push_back(operation.Share(i).scaled);
    return traits;
  }

  // Returns the features of a hop's edges, for the operation of a value of that hop.
  Matrix<const T> EdgeRowsOf(size_t hop, const BlockView& block, State& state, const LayerContext& context) const {
    EdgesOfHop& edges = state.edges[hop];
    if (edges.gathered) return edges.rows;
    HONE_CHECK(context.edge_features != nullptr && context.edge_features->width == options_.edge_width &&
                   static_cast<int64_t>(block.edges.size()) == block.num_edges(),
               "a model that reads edge features gets them in its context, and the edges' positions in its samples "
               "(SamplerOptions::edges)");
    const Matrix<T> rows = edges.buffer.Resize(block.num_edges(), options_.edge_width);
    GatherEdgeRows<T>(*context.edge_features, block.edges, rows, context.threads);
    edges.rows = rows;
    edges.gathered = true;
    return edges.rows;
  }
  BlockView BlockOf(size_t v, const NeighborSample& sample) const { return sample.Block(layers_ - 1 - shapes_.hop[v]); }
  int64_t RowsOf(size_t v, const NeighborSample& sample) const {
    return sample.hop_nodes[static_cast<size_t>(shapes_.hop[v])];
  }
  // Returns whether the gradient of at least one operand is wanted.
  bool OperandWantsGradient(size_t v) const {
    return std::any_of(shapes_.operands[v].begin(), shapes_.operands[v].end(),
                       [&](int operand) { return plan_.values[static_cast<size_t>(operand)].wants_gradient; });
  }

  // Makes the arguments of a call. Its operands are stored in `state`, until the next call is made.
  OperationCall<T> Call(size_t v, const BlockView& block, State& state, const LayerContext& context_of_pass) const {
    state.operands.clear();
    for (const int operand : shapes_.operands[v]) state.operands.push_back(state.views[static_cast<size_t>(operand)]);
    OperationCall<T> call;
    call.block = block;
    call.operands = state.operands;
    call.out = state.views[v];
    call.state = state.operations[v].get();
    call.context = context_of_pass;
    call.context.layer = shapes_.LayerOf(v);
    const auto hop = static_cast<size_t>(shapes_.hop[v]);
    if (ReadsNeighbors(Operation(v))) call.sources = &state.sources[hop];
    if (options_.edge_width > 0 && WantsEdgeFeatures(Operation(v))) {
      call.context.edge_rows = EdgeRowsOf(hop, block, state, context_of_pass);
    }
    return call;
  }
  OperationCall<T> Call(size_t v, const NeighborSample& sample, State& state, const LayerContext& context) const {
    OperationCall<T> call = Call(v, ReadsNeighbors(Operation(v)) ? BlockOf(v, sample) : BlockView(), state, context);
    if (const size_t drop = plan_.values[v].scaled_by; drop != 0 && operations_[drop]->active(context.training)) {
      call.out_scale = operations_[drop]->scale(context.training);
    }
    return call;
  }

  // Computes a value, whose view in `state` then has `rows` rows.
  void RunForward(size_t v, const BlockView& block, int64_t rows, State& state, const LayerContext& context) {
    const SpecPlan::Value& value = plan_.values[v];
    if (value.added_in != 0) return;  // the Add computes this value in its own memory
    gnn::Operation<T>& operation = *operations_[v];
    if (!operation.active(context.training)) {
      state.views[v] = FirstRows(state.views[static_cast<size_t>(shapes_.operands[v][0])], rows);
      return;
    }
    // The view of a value that overwrites another value has the other's memory, with as many rows as this one.
    state.views[v] = value.storage == v ? state.values[v].Resize(rows, shapes_.width[v])
                                        : FirstRows(state.views[static_cast<size_t>(shapes_.operands[v][0])], rows);
    if (!operation.sums()) {
      operation.Forward(Call(v, block, state, context));
      return;
    }
    for (size_t i = 0; i < shapes_.operands[v].size(); ++i) {
      const auto operand = static_cast<size_t>(shapes_.operands[v][i]);
      if (plan_.values[operand].added_in == v) {
        state.views[operand] = state.views[v];
        operations_[operand]->ForwardAdd(Call(operand, BlockView(), state, context));
      } else {
        operation.ForwardOperand(Call(v, block, state, context), i);
      }
    }
  }
  // Returns the gradient of v if it is a part of its first use's gradient.
  Matrix<T> SharedGradient(size_t v, const SpecPlan::Use& use, const State& state) const {
    const Matrix<T> whole_grad = state.grads[use.value];
    return {whole_grad.data + operations_[use.value]->Share(use.operand).first_column, whole_grad.rows,
            shapes_.width[v], whole_grad.stride};
  }

  // Computes the part of a value's gradient that comes from one use of it: adds it to `grad` if `add`, else overwrites
  // `grad`.
  void AddGradientOfUse(const SpecPlan::Use& use, const NeighborSample& sample, bool add, Matrix<T> grad, State& state,
            const LayerContext& context) {
    gnn::Operation<T>& operation = *operations_[use.value];
    const Matrix<T> grad_of_use = state.grads[use.value];
    int64_t rows = grad_of_use.rows;
    if (operation.flow() == GradientFlow::kComputed) {
      const OperationCall<T> call = Call(use.value, sample, state, context);
      if (ReadsNeighbors(Operation(use.value))) rows = call.block.num_src;
      const bool needs_separate = add && !operation.accumulates();
      const Matrix<T> to = needs_separate ? state.separate.Resize(rows, grad.cols) : FirstRows(grad, rows);
      operation.BackwardOperand(call, grad_of_use, add && !needs_separate, to);
      if (needs_separate) AddTo<T>(to, FirstRows(grad, rows), context.threads);
    } else {
      const GradientShare<T> gradient_share = operation.Share(use.operand);
      const Matrix<const T> columns_of_use = {grad_of_use.data + gradient_share.first_column, grad_of_use.rows,
                                              grad.cols, grad_of_use.stride};
      if (!add && !gradient_share.scaled) {
        CopyTo<T>(columns_of_use, grad, context.threads);
      } else {
        if (!add) Zero(grad, 0);
        AddTo<T>(columns_of_use, grad, context.threads, gradient_share.factor);
      }
    }
    if (!add) Zero(grad, rows);
  }
  // Sets the rows from `from` on to zero.
  static void Zero(Matrix<T> x, int64_t grad_of_use) {
    for (int64_t i = grad_of_use; i < x.rows; ++i) std::fill_n(x.Row(i), x.cols, T(0));
  }

  // Passes.

  int PassOf(size_t v) const { return layers_ - 1 - shapes_.hop[v]; }  // -1: computed before the first pass
  int64_t WidthOf(const std::vector<size_t>& values) const {
    int64_t width = 0;
    for (const size_t v : values) width += shapes_.width[v];
    return width;
  }
  // Finds the values that each pass receives: those made earlier that this pass or a later one reads.
  void PlanPasses() {
    carried_.resize(static_cast<size_t>(layers_) + 1);
    for (int pass = 0; pass < layers_; ++pass) {
      for (size_t v = 0; v + 1 < count(); ++v) {
        if (PassOf(v) >= pass) continue;
        const bool read_later = std::any_of(plan_.values[v].uses.begin(), plan_.values[v].uses.end(),
                                            [&](const SpecPlan::Use& use) { return PassOf(use.value) >= pass; });
        if (read_later) carried_[static_cast<size_t>(pass)].push_back(v);
      }
    }
    carried_.back() = {count() - 1};
  }
  // Returns the working memory of layer-wise inference, made at the first call.
  State& PassState() {
    if (pass_state_ == nullptr) pass_state_ = MakeState();
    return static_cast<State&>(*pass_state_);
  }
  static LayerContext ForEvaluation(LayerContext context) {
    context.training = false;
    return context;
  }
  // Computes the values that belong to no pass, because no aggregation comes before them.
  void RunFirstValues(int64_t rows, State& state, const LayerContext& context) {
    for (size_t v = 1; v < count(); ++v) {
      if (PassOf(v) < 0) RunForward(v, BlockView(), rows, state, context);
    }
  }
  // Collects the values that pass `pass` receives, side by side.
  void CollectCarried(int pass, Matrix<T> out, State& state, const LayerContext& context) const {
    int64_t first_column = 0;
    for (const size_t v : carried_[static_cast<size_t>(pass)]) {
      CopyTo<T>(FirstRows(state.views[v], out.rows), {out.data + first_column, out.rows, shapes_.width[v], out.stride},
                context.threads);
      first_column += shapes_.width[v];
    }
  }
  // Runs a pass on the values that it receives, side by side in `carried`.
  void RunCarried(int pass, const BlockView& block, Matrix<const T> carried, Matrix<T> out,
                  const LayerContext& context_of_pass) {
    State& state = PassState();
    const LayerContext context = ForEvaluation(context_of_pass);
    for (EdgesOfHop& edges : state.edges) edges.gathered = false;
    int64_t first_column = 0;
    for (const size_t v : carried_[static_cast<size_t>(pass)]) {
      state.views[v] = Writable({carried.data + first_column, block.num_src, shapes_.width[v], carried.stride});
      first_column += shapes_.width[v];
    }
    for (size_t v = 1; v < count(); ++v) {
      if (PassOf(v) == pass) RunForward(v, block, block.num_dst, state, context);
    }
    CollectCarried(pass + 1, FirstRows(out, block.num_dst), state, context);
  }

  const ModelOptions options_;
  const ModelSpec& spec_;  // owned by the options
  const SpecShapes shapes_;
  const int layers_;
  std::vector<std::unique_ptr<gnn::Operation<T>>> operations_;  // indexed by value; null for "x"
  SpecPlan plan_;
  std::vector<std::vector<size_t>> carried_;  // indexed by pass: the values it receives; last: the logits
  std::unique_ptr<typename Model<T>::State> pass_state_;
  Buffer<T> projected_;
};

}  // namespace

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeSpecModel(const ModelOptions& options) {
  HONE_ASSIGN_OR_RETURN(SpecShapes shapes, CheckModelSpec(*options.spec, options.in_width, options.num_classes));
  if (shapes.layers != options.layers) {
    return Status::InvalidArgument("model '" + options.spec->name + "' has " + std::to_string(shapes.layers) +
                                   " layers, and " + std::to_string(options.layers) + " were asked for");
  }
  HONE_RETURN_IF_ERROR(CheckEdgeFeatures(*options.spec, options.edge_width));
  return std::unique_ptr<Model<T>>(std::make_unique<SpecModel<T>>(options, std::move(shapes)));
}
template Result<std::unique_ptr<Model<float>>> MakeSpecModel<float>(const ModelOptions&);
template Result<std::unique_ptr<Model<double>>> MakeSpecModel<double>(const ModelOptions&);

}  // namespace hone::gnn
