// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/spec_layout.h"

#include <string>

#include "gnn/spec/own_operations.h"
#include "gnn/spec/spec_words.h"

namespace hone::gnn::cuda {
namespace {

using Kind = SpecUnit::Kind;

void PlaceUnit(size_t u, LoweredSpec& model, ParameterLayout& layout) {
  const SpecUnit& unit = model.Unit(u);
  UnitPlaces& at = model.places[u];
  const auto prefix = [&](size_t value) { return ParametersOf(model.spec->values[value - 1]); };
  const auto place_weight = [&](const std::string& name, int64_t rows) {
    // A composed attention keeps the weight that it has in the spec.
    const size_t operand = unit.composed != 0 ? unit.composed : unit.operands[0];
    const int64_t in = model.Unit(operand).width, padded = model.Padded(operand);
    at.weight = layout.Reserve(RoundUp<int64_t>(rows, 8) * padded);
    layout.PlaceMatrix(name, rows, in, at.weight, padded);
  };
  switch (unit.kind) {
    case Kind::kProduct:
      place_weight(prefix(unit.value) + ".weight", unit.width);
      break;
    case Kind::kAttention: {
      const AttentionSpec& attention = model.Attention(u);
      const int64_t rows = attention.concatenate ? unit.width : attention.heads * unit.width;
      place_weight(prefix(unit.value) + ".lin.weight", rows);
      at.att_src = layout.ReserveVector(prefix(unit.value) + ".att_src", rows);
      at.att_dst = layout.ReserveVector(prefix(unit.value) + ".att_dst", rows);
      break;
    }
    case Kind::kBetween:
      if (unit.bias_of != 0) at.bias = layout.ReserveVector(prefix(unit.bias_of) + ".bias", unit.width);
      if (unit.normalise != 0) at.norm = PlaceNorm(layout, prefix(unit.normalise) + ".", unit.width);
      break;
    case Kind::kNormaliseRows:
      at.norm.weight = layout.ReserveVector(prefix(unit.value) + ".weight", unit.width);
      at.norm.bias = layout.ReserveVector(prefix(unit.value) + ".bias", unit.width);
      break;
    case Kind::kOwn: {
      // The operation's Layer is made to learn which parameters it has, and not kept.
      const OpPlace place = model.OwnPlace(u);
      const auto& kind = std::get<OwnSpec>(model.Operation(unit.value)).kind;
      const std::unique_ptr<Layer<float>> layer = FindOp(kind)->MakeLayer(place);
      for (const Parameter<float>* parameter : layer->parameters()) {
        const auto size = static_cast<int64_t>(parameter->value.size());
        const bool buffer = !parameter->trainable();
        at.own.push_back({layout.ReserveVector(parameter->name, size, buffer), buffer});
      }
      break;
    }
    case Kind::kAdd:
      if (std::get<AddSpec>(model.Operation(unit.value)).eps) {
        at.eps = layout.ReserveVector(prefix(unit.value) + ".eps", 1, /*buffer=*/true);
      }
      break;
    default:
      break;
  }
}

}  // namespace

OpPlace LoweredSpec::OwnPlace(size_t u) const {
  const SpecUnit& unit = Unit(u);
  return PlaceOf(std::get<OwnSpec>(Operation(unit.value)), ParametersOf(spec->values[unit.value - 1]),
                 Unit(unit.operands[0]).width, unit.width, edge_width, shapes.drop_keys[unit.value], 0);
}

ParameterLayout LayOutParameters(LoweredSpec& model) {
  ParameterLayout layout;
  model.places.assign(model.lowered.units.size(), {});
  for (size_t u = 1; u < model.lowered.units.size(); ++u) PlaceUnit(u, model, layout);
  return layout;
}

}  // namespace hone::gnn::cuda
