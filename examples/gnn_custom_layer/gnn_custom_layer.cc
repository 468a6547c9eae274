// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows a graph layer of your own: written, checked against finite differences, and trained in a stack with one of
// Hone's.
//
// MixConv learns how much of the neighbors' rows to mix in: out_i = ((1 - g) x_i + g mean(x of i's neighbors)) W^T,
// with one number g = sigmoid(gate). In training it drops a tenth of the mixed elements. The graph has two communities
// whose nodes have very noisy features, so neighbors help, and g grows. Prints the loss, the accuracy and g; exit
// status 1 if the layer did not learn.
//
// The numbers (1) to (6) below mark what the contract in hone/gnn/layer.h asks of a layer.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "hone/gnn/layer.h"
#include "hone/gnn/model.h"
#include "hone/gnn/neighbor_sampler.h"
#include "hone/gnn/optimizer.h"

using namespace hone::gnn;  // NOLINT: an example, not a header

namespace {

// The layer is written once for float, in which it is trained, and for double, in which its gradients are checked.
template <typename T>
class MixConv final : public Layer<T> {
 public:
  MixConv(int64_t in, int64_t out, const std::string& name, std::mt19937& random) : in_(in), out_(out) {
    weight_ = {name + ".weight", {out, in}, std::vector<T>(static_cast<size_t>(out * in)), {}};
    gate_ = {name + ".gate", {1}, {T(0)}, {T(0)}};
    std::uniform_real_distribution<double> draw(-1 / std::sqrt(in), 1 / std::sqrt(in));
    for (T& value : weight_.value) value = static_cast<T>(draw(random));
    // (1) a gradient of the value's size makes the parameter trainable
    weight_.gradient.assign(weight_.value.size(), T(0));
  }

  std::string_view kind() const override { return "MixConv"; }
  int64_t in_width() const override { return in_; }
  int64_t out_width() const override { return out_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_, &gate_}; }

  // (2) What backward needs from forward is in a state that the caller keeps. The layer itself does not change, so
  // several batches may be in flight.
  struct State final : LayerState {
    std::vector<T> mean;   // [num_dst, in]
    std::vector<T> mixed;  // [num_dst, in], after dropout
    std::vector<T> kept;   // [num_dst, in]: 0, or the factor of what dropout kept
  };
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& layer_state,
               const LayerContext& context) override {
    auto& state = static_cast<State&>(layer_state);
    const T g = Gate();
    const auto size = static_cast<size_t>(block.num_dst * in_);
    state.mean.assign(size, T(0));
    state.mixed.resize(size);
    state.kept.assign(size, T(1));
    std::vector<uint8_t> bits(static_cast<size_t>(in_ + 7) / 8);
    // (3) Rows of x are read only as the block says: rows beyond num_src must not be read.
    for (int32_t i = 0; i < block.num_dst; ++i) {
      T* mean = state.mean.data() + i * in_;
      T* mixed = state.mixed.data() + i * in_;
      const int32_t first = block.row_offsets[static_cast<size_t>(i)];
      const int32_t last = block.row_offsets[static_cast<size_t>(i) + 1];
      for (int32_t e = first; e < last; ++e) {
        const T* source = x.Row(block.columns[static_cast<size_t>(e)]);
        for (int64_t c = 0; c < in_; ++c) mean[c] += source[c] / static_cast<T>(last - first);
      }
      T* kept = state.kept.data() + i * in_;
      if (context.training) {
        // (4) A mask depends on the context's key and the node, so that it is the same in any row, thread and device.
        const double factor = DropoutRow(context, kSite, i, in_, 0.1, bits);
        for (int64_t c = 0; c < in_; ++c) {
          kept[c] = static_cast<T>((bits[static_cast<size_t>(c / 8)] >> (c % 8) & 1) != 0 ? factor : 0.0);
        }
      }
      // Source i and destination i are the same node.
      for (int64_t c = 0; c < in_; ++c) mixed[c] = kept[c] * ((1 - g) * x.Row(i)[c] + g * mean[c]);
      for (int64_t o = 0; o < out_; ++o) {
        T sum = 0;
        for (int64_t c = 0; c < in_; ++c) sum += mixed[c] * Weight(o)[c];
        out.Row(i)[o] = sum;
      }
    }
  }

  void Backward(const BlockView& block, Matrix<const T> x, Matrix<T> grad_out, Matrix<T> grad_x,
                LayerState& layer_state, const LayerContext&) override {
    auto& state = static_cast<State&>(layer_state);
    const T g = Gate();
    T grad_g = 0;
    // (5) grad_x is overwritten, and is empty in the first layer; parameters' gradients are added to.
    if (!grad_x.empty()) {
      for (int32_t s = 0; s < block.num_src; ++s) std::fill_n(grad_x.Row(s), in_, T(0));
    }
    std::vector<T> grad_mixed(static_cast<size_t>(in_));
    // (6) One thread computes the rows in order, which gives the same bits for any context.threads. A layer that
    // spreads its work over threads gives each output row one writer, and adds partial sums in a fixed order.
    for (int32_t i = 0; i < block.num_dst; ++i) {
      const T* mixed = state.mixed.data() + i * in_;
      const T* mean = state.mean.data() + i * in_;
      std::fill(grad_mixed.begin(), grad_mixed.end(), T(0));
      for (int64_t o = 0; o < out_; ++o) {
        const T d = grad_out.Row(i)[o];
        for (int64_t c = 0; c < in_; ++c) {
          weight_.gradient[static_cast<size_t>(o * in_ + c)] += d * mixed[c];
          grad_mixed[static_cast<size_t>(c)] += d * Weight(o)[c];
        }
      }
      const T* kept = state.kept.data() + i * in_;
      for (int64_t c = 0; c < in_; ++c) grad_mixed[static_cast<size_t>(c)] *= kept[c];
      for (int64_t c = 0; c < in_; ++c) grad_g += grad_mixed[static_cast<size_t>(c)] * (mean[c] - x.Row(i)[c]);
      if (grad_x.empty()) continue;
      const int32_t first = block.row_offsets[static_cast<size_t>(i)];
      const int32_t last = block.row_offsets[static_cast<size_t>(i) + 1];
      for (int64_t c = 0; c < in_; ++c) grad_x.Row(i)[c] += (1 - g) * grad_mixed[static_cast<size_t>(c)];
      for (int32_t e = first; e < last; ++e) {
        T* source = grad_x.Row(block.columns[static_cast<size_t>(e)]);
        for (int64_t c = 0; c < in_; ++c)
          source[c] += g * grad_mixed[static_cast<size_t>(c)] / static_cast<T>(last - first);
      }
    }
    gate_.gradient[0] += grad_g * g * (1 - g);
  }

 private:
  T Gate() const { return 1 / (1 + std::exp(-gate_.value[0])); }
  const T* Weight(int64_t o) const { return weight_.value.data() + o * in_; }

  static constexpr uint8_t kSite = 128;

  int64_t in_, out_;
  Parameter<T> weight_, gate_;
};

// A graph of two communities of 200 nodes. Most of a node's ten in-neighbors are of its own community. Of the features,
// one is true and very noisy.
struct Toy {
  static constexpr int32_t kNodes = 400, kDegree = 10, kWidth = 8;
  std::vector<int64_t> row_offsets = {0};
  std::vector<NodeId> columns;
  std::vector<float> features;
  explicit Toy(std::mt19937& random) {
    std::normal_distribution<float> noise(0, 2);
    for (int32_t v = 0; v < kNodes; ++v) {
      for (int e = 0; e < kDegree; ++e) {
        const bool own = random() % 10 != 0;
        const auto other = static_cast<NodeId>(random() % (kNodes / 2));
        columns.push_back((own ? Label(v) : 1 - Label(v)) * (kNodes / 2) + other);
      }
      row_offsets.push_back(static_cast<int64_t>(columns.size()));
      for (int c = 0; c < kWidth; ++c) features.push_back(noise(random) + (c == 0 ? 2.0f * Label(v) - 1 : 0));
    }
  }
  static int32_t Label(NodeId v) { return v / (kNodes / 2); }
};

template <typename T>
std::vector<T> Gather(const Toy& toy, const NeighborSample& sample) {
  std::vector<T> x;
  for (const NodeId v : sample.nodes) {
    x.insert(x.end(), toy.features.begin() + v * Toy::kWidth, toy.features.begin() + (v + 1) * Toy::kWidth);
  }
  return x;
}

template <typename T>
Matrix<T> View(std::vector<T>& values, int64_t cols) {
  return {values.data(), static_cast<int64_t>(values.size()) / cols, cols, cols};
}

// Returns the relative difference between backward's derivative of sum(logits) by the gate and a central difference.
double GateError(const Toy& toy, const NeighborSample& sample) {
  std::mt19937 random(3);
  MixConv<double> layer(Toy::kWidth, 2, "mix", random);
  const auto state = layer.MakeState();
  const BlockView block = sample.Block(0);
  std::vector<double> x = Gather<double>(toy, sample), out(static_cast<size_t>(block.num_dst) * 2);
  const LayerContext context{.key = {}, .layer = 0, .training = true, .nodes = sample.nodes, .threads = 1};
  double& gate = layer.parameters()[1]->value[0];
  const auto objective = [&](double at) {
    gate = at;
    layer.Forward(block, View(x, Toy::kWidth), View(out, 2), *state, context);
    double sum = 0;
    for (const double value : out) sum += value;
    return sum;
  };
  const double expected = (objective(0.3 + 1e-6) - objective(0.3 - 1e-6)) / 2e-6;
  objective(0.3);
  std::vector<double> ones(out.size(), 1.0);
  layer.Backward(block, View(x, Toy::kWidth), View(ones, 2), {}, *state, context);
  return std::abs(layer.parameters()[1]->gradient[0] - expected) / std::max(1.0, std::abs(expected));
}

}  // namespace

int main() {
  std::mt19937 random(1);
  const Toy toy(random);
  auto sampler = MakeNeighborSampler({Toy::kNodes, toy.row_offsets, toy.columns}, {.fanouts = {8, 8}});
  if (!sampler.ok()) return std::fprintf(stderr, "%s\n", sampler.status().message().c_str()), 3;

  ModelOptions options;
  options.kind = "mix";
  options.in_width = Toy::kWidth;
  options.num_classes = 2;
  options.layers = 2;
  options.dropout = 0.1;
  std::vector<std::unique_ptr<Layer<float>>> layers;
  layers.push_back(std::make_unique<MixConv<float>>(Toy::kWidth, 16, "convs.0", random));
  layers.push_back(MakeSageConv<float>({.in_width = 16, .out_width = 2}, "convs.1", 1));
  auto model = MakeStackModel<float>(options, std::move(layers));
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().message().c_str()), 2;

  Adam<float> adam((*model)->parameters(), {.learning_rate = 0.02});
  const auto state = (*model)->MakeState();
  NeighborSample sample;
  double loss = 0, accuracy = 0;
  for (uint32_t step = 0; step < 120; ++step) {
    std::vector<NodeId> seeds;
    for (int i = 0; i < 64; ++i) seeds.push_back(static_cast<NodeId>(PermutedIndex(1, step, Toy::kNodes, i)));
    const BatchKey key{.seed = 1, .epoch = 0, .step = step, .shard = 0};
    if (const hone::Status status = (*sampler)->Sample(seeds, key, sample); !status.ok()) {
      return std::fprintf(stderr, "%s\n", status.message().c_str()), 3;
    }
    std::vector<float> x = Gather<float>(toy, sample), logits(seeds.size() * 2);
    const LayerContext context{.key = key, .layer = 0, .training = true, .nodes = sample.nodes, .threads = 2};
    adam.ZeroGradients(1);
    (*model)->Forward(sample, View(x, Toy::kWidth), View(logits, 2), *state, context);
    // Computes the cross-entropy of two classes; its gradient overwrites the logits.
    double batch_loss = 0;
    int correct = 0;
    for (size_t i = 0; i < seeds.size(); ++i) {
      const int32_t label = Toy::Label(seeds[i]);
      const double margin = static_cast<double>(logits[2 * i + static_cast<size_t>(label)]) -
                            static_cast<double>(logits[2 * i + 1 - static_cast<size_t>(label)]);
      const double wrong = 1 / (1 + std::exp(margin));
      batch_loss -= std::log1p(-wrong) / static_cast<double>(seeds.size());
      correct += margin > 0 ? 1 : 0;
      const auto gradient = static_cast<float>(wrong / static_cast<double>(seeds.size()));
      logits[2 * i + static_cast<size_t>(label)] = -gradient;
      logits[2 * i + 1 - static_cast<size_t>(label)] = gradient;
    }
    (*model)->Backward(sample, View(x, Toy::kWidth), View(logits, 2), *state, context);
    adam.Step(1);
    // Loss and accuracy are moving means over about ten steps.
    loss = step == 0 ? batch_loss : 0.9 * loss + 0.1 * batch_loss;
    accuracy = step == 0 ? correct / 64.0 : 0.9 * accuracy + 0.1 * correct / 64.0;
    if (step % 40 == 0 || step == 119) std::printf("step %3u  loss %.3f  accuracy %.2f\n", step + 1, loss, accuracy);
  }
  const float gate = 1 / (1 + std::exp(-(*model)->parameters()[1]->value[0]));
  const double error = GateError(toy, sample);
  std::printf("the gate went from 0.50 to %.2f; its gradient differs from a finite difference by %.1e\n",
              static_cast<double>(gate), error);
  return accuracy > 0.9 && gate > 0.5f && error < 1e-6 ? 0 : 1;
}
