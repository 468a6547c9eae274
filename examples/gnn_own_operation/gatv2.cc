// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements GATv2 on the CPU, in one thread, row by row: this gives the same bits for any context.threads.
#include "gatv2.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace hone::gnn;  // NOLINT: an example, not a header

namespace {

// The layer is written once for float, in which it is trained, and for double, in which its gradients are checked.
template <typename T>
class GatV2Layer final : public Layer<T> {
 public:
  explicit GatV2Layer(const OpPlace& place) : place_(place), shape_(ShapeOf(place)) {
    att_ = {place.parameters + ".att", {shape_.heads, shape_.width}, {}, {}};
    std::mt19937_64 random(place.seed);
    const double bound = std::sqrt(6.0 / (shape_.width + 1.0));  // initial values by Glorot
    for (int32_t c = 0; c < shape_.columns(); ++c) {
      att_.value.push_back(static_cast<T>(bound * (2.0 * static_cast<double>(random() >> 11) * 0x1p-53 - 1.0)));
    }
    att_.gradient.assign(att_.value.size(), T(0));
    lin_edge_ = {place.parameters + ".lin_edge.weight", {shape_.columns(), shape_.edge_columns}, {}, {}};
    const double edge_bound = std::sqrt(6.0 / (shape_.columns() + shape_.edge_columns));
    for (int32_t i = 0; i < shape_.columns() * shape_.edge_columns; ++i) {
      lin_edge_.value.push_back(
          static_cast<T>(edge_bound * (2.0 * static_cast<double>(random() >> 11) * 0x1p-53 - 1.0)));
    }
    lin_edge_.gradient.assign(lin_edge_.value.size(), T(0));
  }
  std::string_view kind() const override { return "GATv2"; }
  int64_t in_width() const override { return place_.in; }
  int64_t out_width() const override { return place_.out; }
  std::vector<Parameter<T>*> parameters() override {
    if (shape_.edge_columns == 0) return {&att_};
    return {&att_, &lin_edge_};
  }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& layer_state,
               const LayerContext& context) override {
    auto& state = static_cast<State&>(layer_state);
    const auto places = static_cast<size_t>((block.num_edges() + block.num_dst) * shape_.heads);
    state.alpha.assign(places, T(0));
    state.factor.assign(places, T(1));
    ProjectEdges(block, context, state);
    std::vector<uint8_t> kept;
    for (int32_t i = 0; i < block.num_dst; ++i) {
      const Row row(block, i, shape_.heads);
      if (context.training && shape_.dropout > 0) {
        const int64_t columns = int64_t{row.count + 1} * shape_.heads;
        kept.resize(static_cast<size_t>(columns + 7) / 8);
        const double factor = DropoutRow(context, place_.site, i, columns, shape_.dropout, kept);
        for (int64_t c = 0; c < columns; ++c) {
          const bool is = (kept[static_cast<size_t>(c / 8)] >> (c % 8) & 1) != 0;
          state.factor[static_cast<size_t>(row.at + c)] = is ? static_cast<T>(factor) : T(0);
        }
      }
      for (int32_t h = 0; h < shape_.heads; ++h) {
        T* alpha = state.alpha.data() + row.at + h;
        const T* factor = state.factor.data() + row.at + h;
        T largest = -std::numeric_limits<T>::infinity(), sum = 0;
        for (int32_t s = 0; s <= row.count; ++s) {
          if (row.Skips(s)) continue;
          alpha[s * shape_.heads] = Score(x.Row(row.Source(s)), x.Row(i), EdgeTerm(state, row, s), h);
          largest = std::max(largest, alpha[s * shape_.heads]);
        }
        for (int32_t s = 0; s <= row.count; ++s) {
          T& a = alpha[s * shape_.heads];
          a = row.Skips(s) ? T(0) : std::exp(a - largest);
          sum += a;
        }
        T* to = out.Row(i) + h * shape_.width;
        std::fill_n(to, shape_.width, T(0));
        for (int32_t s = 0; s <= row.count; ++s) {
          T& a = alpha[s * shape_.heads];
          a /= sum;
          if (row.Skips(s)) continue;
          const T* left = x.Row(row.Source(s)) + h * shape_.width;
          const T weight = a * factor[s * shape_.heads];
          for (int32_t c = 0; c < shape_.width; ++c) to[c] += weight * left[c];
        }
      }
    }
  }

  void Backward(const BlockView& block, Matrix<const T> x, Matrix<T> grad_out, Matrix<T> grad_x,
                LayerState& layer_state, const LayerContext& context) override {
    auto& state = static_cast<State&>(layer_state);
    const Matrix<const T> edges = context.EdgeRows<T>();
    if (!grad_x.empty()) {
      for (int32_t s = 0; s < block.num_src; ++s) std::fill_n(grad_x.Row(s), place_.in, T(0));
    }
    std::vector<T> grad_alpha;
    for (int32_t i = 0; i < block.num_dst; ++i) {
      const Row row(block, i, shape_.heads);
      for (int32_t h = 0; h < shape_.heads; ++h) {
        const T* alpha = state.alpha.data() + row.at + h;
        const T* factor = state.factor.data() + row.at + h;
        const T* grad = grad_out.Row(i) + h * shape_.width;
        grad_alpha.assign(static_cast<size_t>(row.count) + 1, T(0));
        T total = 0;
        for (int32_t s = 0; s <= row.count; ++s) {
          if (row.Skips(s)) continue;
          const T* left = x.Row(row.Source(s)) + h * shape_.width;
          T dot = 0;
          for (int32_t c = 0; c < shape_.width; ++c) dot += grad[c] * left[c];
          grad_alpha[static_cast<size_t>(s)] = factor[s * shape_.heads] * dot;
          total += alpha[s * shape_.heads] * grad_alpha[static_cast<size_t>(s)];
        }
        for (int32_t s = 0; s <= row.count; ++s) {
          if (row.Skips(s)) continue;
          const int32_t source = row.Source(s);
          const T a = alpha[s * shape_.heads];
          const T grad_score = a * (grad_alpha[static_cast<size_t>(s)] - total);
          const T* left = x.Row(source) + h * shape_.width;
          const T* right = x.Row(i) + shape_.columns() + h * shape_.width;
          const T* term = EdgeTerm(state, row, s);
          for (int32_t c = 0; c < shape_.width; ++c) {
            const auto column = static_cast<size_t>(h * shape_.width + c);
            const T z = left[c] + right[c] + (term != nullptr ? term[column] : T(0));
            att_.gradient[column] += grad_score * (z > 0 ? z : Slope() * z);
            const T through = grad_score * att_.value[column] * (z > 0 ? T(1) : Slope());
            if (term != nullptr) {
              const T* features = edges.Row(row.first + s);
              T* to = lin_edge_.gradient.data() + column * static_cast<size_t>(shape_.edge_columns);
              for (int32_t f = 0; f < shape_.edge_columns; ++f) to[f] += through * features[f];
            }
            if (grad_x.empty()) continue;
            grad_x.Row(source)[column] += a * factor[s * shape_.heads] * grad[c] + through;
            grad_x.Row(i)[static_cast<size_t>(shape_.columns()) + column] += through;
          }
        }
      }
    }
  }

 private:
  struct State final : LayerState {
    // Softmax's weights and dropout's factors: for each row its slots and then the node itself, with one value per
    // head.
    std::vector<T> alpha, factor;
    std::vector<T> projected;  // [edges, columns]: W times the features of each edge; empty if edges have none
  };
  // A destination's slots. Slot `count` is the node itself, which no other slot names.
  struct Row {
    Row(const BlockView& block, int32_t i, int32_t heads) : row(i) {
      first = block.row_offsets[static_cast<size_t>(i)];
      count = block.row_offsets[static_cast<size_t>(i) + 1] - first;
      columns = block.columns.data() + first;
      at = int64_t{first + i} * heads;
    }
    int32_t Source(int32_t slot) const { return slot < count ? columns[slot] : row; }
    bool Skips(int32_t slot) const { return slot < count && columns[slot] == row; }
    int32_t row, count;
    int32_t first;  // the row's first edge in the block
    const int32_t* columns;
    int64_t at;  // position of the row's first value in alpha and factor
  };
  T Slope() const { return static_cast<T>(shape_.slope); }
  void ProjectEdges(const BlockView& block, const LayerContext& context, State& state) const {
    state.projected.clear();
    if (shape_.edge_columns == 0) return;
    const Matrix<const T> edges = context.EdgeRows<T>();
    for (int64_t e = 0; e < block.num_edges(); ++e) {
      for (int32_t column = 0; column < shape_.columns(); ++column) {
        const T* weights = lin_edge_.value.data() + column * shape_.edge_columns;
        T sum = 0;
        for (int32_t f = 0; f < shape_.edge_columns; ++f) sum += weights[f] * edges.Row(e)[f];
        state.projected.push_back(sum);
      }
    }
  }
  // Returns W times the features of a slot's edge, [columns]; null if edges have none, and for the node itself.
  const T* EdgeTerm(const State& state, const Row& row, int32_t slot) const {
    if (shape_.edge_columns == 0 || slot == row.count) return nullptr;
    return state.projected.data() + (int64_t{row.first} + slot) * shape_.columns();
  }
  T Score(const T* source, const T* self, const T* edge_term, int32_t h) const {
    const T* left = source + h * shape_.width;
    const T* right = self + shape_.columns() + h * shape_.width;
    const T* att = att_.value.data() + h * shape_.width;
    T sum = 0;
    for (int32_t c = 0; c < shape_.width; ++c) {
      const T z = left[c] + right[c] + (edge_term != nullptr ? edge_term[h * shape_.width + c] : T(0));
      sum += att[c] * (z > 0 ? z : Slope() * z);
    }
    return sum;
  }

  const OpPlace place_;
  const GatV2Shape shape_;
  Parameter<T> att_, lin_edge_;
};

class GatV2 final : public OpKind {
 public:
  explicit GatV2(MakeDevice device) : device_(device) {}
  std::string_view name() const override { return "gatv2"; }
  bool aggregates() const override { return true; }
  EdgeFeatureUse edge_features() const override { return EdgeFeatureUse::kIfThere; }
  std::vector<OpOption> options() const override {
    return {{.name = "heads", .usual = 1, .least = 1, .most = 64, .whole = true},
            {.name = "negative_slope", .usual = 0.2, .least = 0, .most = 1},
            {.name = "dropout", .usual = 0, .least = 0, .most = 0.99}};
  }
  hone::Result<int64_t> Width(int64_t in, int64_t width, const OpOptions& options) const override {
    const auto heads = static_cast<int64_t>(options.at("heads"));
    if (in % (2 * heads) != 0) {
      return hone::Status::InvalidArgument(
          "reads " + std::to_string(in) + " columns with " + std::to_string(heads) +
          " heads: give it [left | right], two linears of heads times as many columns each");
    }
    if (width != 0 && width != in / 2) {
      return hone::Status::InvalidArgument("makes as many columns as its left half has, " + std::to_string(in / 2) +
                                           ": leave `width` out");
    }
    return in / 2;
  }
  std::unique_ptr<Layer<float>> MakeLayer(const OpPlace& place) const override {
    return std::make_unique<GatV2Layer<float>>(place);
  }
  std::unique_ptr<Layer<double>> MakeDoubleLayer(const OpPlace& place) const override {
    return std::make_unique<GatV2Layer<double>>(place);
  }
  std::unique_ptr<DeviceOp> MakeDeviceOp(const OpPlace& place) const override {
    return device_ != nullptr ? device_(place) : nullptr;
  }

 private:
  MakeDevice device_;
};

}  // namespace

GatV2Shape ShapeOf(const OpPlace& place) {
  GatV2Shape shape;
  shape.heads = static_cast<int32_t>(place.Whole("heads"));
  shape.width = static_cast<int32_t>(place.out) / shape.heads;
  shape.slope = static_cast<float>(place.options.at("negative_slope"));
  shape.dropout = place.options.at("dropout");
  shape.edge_columns = static_cast<int32_t>(place.edge_columns);
  return shape;
}

std::unique_ptr<const OpKind> MakeGatV2(MakeDevice device) { return std::make_unique<GatV2>(device); }
