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
  }
  std::string_view kind() const override { return "GATv2"; }
  int64_t in_width() const override { return place_.in; }
  int64_t out_width() const override { return place_.out; }
  std::vector<Parameter<T>*> parameters() override { return {&att_}; }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& layer_state,
               const LayerContext& context) override {
    auto& state = static_cast<State&>(layer_state);
    const auto places = static_cast<size_t>((block.num_edges() + block.num_dst) * shape_.heads);
    state.alpha.assign(places, T(0));
    state.factor.assign(places, T(1));
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
          alpha[s * shape_.heads] = Score(x.Row(row.Source(s)), x.Row(i), h);
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
                LayerState& layer_state, const LayerContext&) override {
    auto& state = static_cast<State&>(layer_state);
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
          for (int32_t c = 0; c < shape_.width; ++c) {
            const auto column = static_cast<size_t>(h * shape_.width + c);
            const T z = left[c] + right[c];
            att_.gradient[column] += grad_score * (z > 0 ? z : Slope() * z);
            if (grad_x.empty()) continue;
            const T through = grad_score * att_.value[column] * (z > 0 ? T(1) : Slope());
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
  };
  // A destination's slots. Slot `count` is the node itself, which no other slot names.
  struct Row {
    Row(const BlockView& block, int32_t i, int32_t heads) : row(i) {
      const int32_t first = block.row_offsets[static_cast<size_t>(i)];
      count = block.row_offsets[static_cast<size_t>(i) + 1] - first;
      columns = block.columns.data() + first;
      at = int64_t{first + i} * heads;
    }
    int32_t Source(int32_t slot) const { return slot < count ? columns[slot] : row; }
    bool Skips(int32_t slot) const { return slot < count && columns[slot] == row; }
    int32_t row, count;
    const int32_t* columns;
    int64_t at;  // position of the row's first value in alpha and factor
  };
  T Slope() const { return static_cast<T>(shape_.slope); }
  T Score(const T* source, const T* self, int32_t h) const {
    const T* left = source + h * shape_.width;
    const T* right = self + shape_.columns() + h * shape_.width;
    const T* att = att_.value.data() + h * shape_.width;
    T sum = 0;
    for (int32_t c = 0; c < shape_.width; ++c) {
      const T z = left[c] + right[c];
      sum += att[c] * (z > 0 ? z : Slope() * z);
    }
    return sum;
  }

  const OpPlace place_;
  const GatV2Shape shape_;
  Parameter<T> att_;
};

class GatV2 final : public OpKind {
 public:
  explicit GatV2(MakeDevice device) : device_(device) {}
  std::string_view name() const override { return "gatv2"; }
  bool aggregates() const override { return true; }
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
  return shape;
}

std::unique_ptr<const OpKind> MakeGatV2(MakeDevice device) { return std::make_unique<GatV2>(device); }
