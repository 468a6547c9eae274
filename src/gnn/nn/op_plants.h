// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines an operation that is right, or that breaks one rule of hone/gnn/op.h, for tests of the check that must find
// it: out_i = w * (sum of the neighbors' rows), column by column. If edges have features, each edge adds those to its
// neighbor's row: feature c % columns to column c.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hone/gnn/op.h"

namespace hone::gnn {

enum class Plant {
  kNone,
  kWritesPaddedRows,
  kSumsByThread,      // the order of a sum depends on the threads
  kReadsSizes,        // DeviceOp only: the host reads sizes from device memory
  kAddsGradient,      // the gradient of x is added to grad_x and does not overwrite it
  kKeepsState,        // the operation keeps state of the batch
  kWrongGradient,     // the gradient of w is wrong
  kReadsPaddedEdges,  // Layer only: the features behind those of the batch's edges are read
};

template <typename T>
class PlantedSum final : public Layer<T> {
 public:
  PlantedSum(const OpPlace& place, Plant plant) : columns_(place.in), edge_columns_(place.edge_columns), plant_(plant) {
    weight_ = {place.parameters + ".weight", {columns_}, {}, std::vector<T>(static_cast<size_t>(columns_), T(0))};
    for (int64_t c = 0; c < columns_; ++c) weight_.value.push_back(T(1) + static_cast<T>(c % 5) / T(8));
  }
  std::string_view kind() const override { return "PlantedSum"; }
  int64_t in_width() const override { return columns_; }
  int64_t out_width() const override { return columns_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_}; }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& state,
               const LayerContext& context) override {
    std::vector<T>& sums = plant_ == Plant::kKeepsState ? kept_ : static_cast<State&>(state).sums;
    sums.assign(static_cast<size_t>(block.num_dst * columns_), T(0));
    const Matrix<const T> edges = context.EdgeRows<T>();
    HONE_CHECK(edge_columns_ == 0 || (edges.rows == block.num_edges() && edges.cols == edge_columns_),
               "a row of features for each edge of the block");
    // A row's slots are summed in parts. The number of parts must not depend on the number of threads.
    const int parts = plant_ == Plant::kSumsByThread ? context.threads : 2;
    for (int32_t i = 0; i < block.num_dst; ++i) {
      const int32_t first = block.row_offsets[static_cast<size_t>(i)];
      const int32_t count = block.row_offsets[static_cast<size_t>(i) + 1] - first;
      T* row = sums.data() + i * columns_;
      for (int part = 0; part < parts; ++part) {
        std::vector<T> sum(static_cast<size_t>(columns_), T(0));
        for (int32_t e = count * part / parts; e < count * (part + 1) / parts; ++e) {
          const T* source = x.Row(block.columns[static_cast<size_t>(first + e)]);
          const T* edge =
              edge_columns_ > 0 ? edges.Row(plant_ == Plant::kReadsPaddedEdges ? first + e + 1 : first + e) : nullptr;
          for (int64_t c = 0; c < columns_; ++c) {
            sum[static_cast<size_t>(c)] += source[c] + (edge != nullptr ? edge[c % edge_columns_] : T(0));
          }
        }
        for (int64_t c = 0; c < columns_; ++c) row[c] += sum[static_cast<size_t>(c)];
      }
      for (int64_t c = 0; c < columns_; ++c) out.Row(i)[c] = Weight(c) * row[c];
    }
    if (plant_ == Plant::kWritesPaddedRows) std::fill_n(out.Row(block.num_dst), columns_, T(0));
  }

  void Backward(const BlockView& block, Matrix<const T>, Matrix<T> grad_out, Matrix<T> grad_x, LayerState& state,
                const LayerContext&) override {
    const std::vector<T>& sums = plant_ == Plant::kKeepsState ? kept_ : static_cast<State&>(state).sums;
    if (!grad_x.empty() && plant_ != Plant::kAddsGradient) {
      for (int32_t s = 0; s < block.num_src; ++s) std::fill_n(grad_x.Row(s), columns_, T(0));
    }
    for (int32_t i = 0; i < block.num_dst; ++i) {
      for (int64_t c = 0; c < columns_; ++c) {
        const T g = grad_out.Row(i)[c];
        const size_t at = static_cast<size_t>(i * columns_ + c);
        if (at < sums.size()) weight_.gradient[static_cast<size_t>(c)] += g * sums[at];
        if (plant_ == Plant::kWrongGradient) weight_.gradient[static_cast<size_t>(c)] += g;
        if (grad_x.empty()) continue;
        for (int32_t e = block.row_offsets[static_cast<size_t>(i)]; e < block.row_offsets[static_cast<size_t>(i) + 1];
             ++e) {
          grad_x.Row(block.columns[static_cast<size_t>(e)])[c] += Weight(c) * g;
        }
      }
    }
  }

 private:
  struct State final : LayerState {
    std::vector<T> sums;
  };
  T Weight(int64_t c) const { return weight_.value[static_cast<size_t>(c)]; }

  int64_t columns_, edge_columns_;
  Plant plant_;
  Parameter<T> weight_;
  std::vector<T> kept_;  // state of a batch, for kKeepsState
};

class PlantedKind final : public OpKind {
 public:
  using DeviceForm = std::function<std::unique_ptr<DeviceOp>(const OpPlace&)>;
  explicit PlantedKind(Plant on_cpu, DeviceForm on_device = {}, EdgeFeatureUse use = EdgeFeatureUse::kIfThere)
      : on_cpu_(on_cpu), on_device_(std::move(on_device)), use_(use) {}
  std::string_view name() const override { return "planted_sum"; }
  bool aggregates() const override { return true; }
  EdgeFeatureUse edge_features() const override { return use_; }
  Result<int64_t> Width(int64_t in, int64_t width, const OpOptions&) const override {
    if (width != 0 && width != in) return Status::InvalidArgument("keeps the columns that it reads: leave `width` out");
    return in;
  }
  std::unique_ptr<Layer<float>> MakeLayer(const OpPlace& place) const override {
    return std::make_unique<PlantedSum<float>>(place, on_cpu_);
  }
  std::unique_ptr<Layer<double>> MakeDoubleLayer(const OpPlace& place) const override {
    return std::make_unique<PlantedSum<double>>(place, on_cpu_);
  }
  std::unique_ptr<DeviceOp> MakeDeviceOp(const OpPlace& place) const override {
    return on_device_ ? on_device_(place) : nullptr;
  }

 private:
  Plant on_cpu_;
  DeviceForm on_device_;
  EdgeFeatureUse use_;
};

}  // namespace hone::gnn
