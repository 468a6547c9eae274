// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A spec in units (nn/spec_units.h) with the places of its parameters, which is what programs of it are built from.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/lower/norm_between.h"
#include "gnn/nn/spec_units.h"
#include "hone/gnn/op.h"

namespace hone::gnn::cuda {

// A parameter of a registered operation, in the flat parameters or, if `buffer`, the buffers.
struct OwnParameter {
  int64_t at = 0;
  bool buffer = false;
};

// Where a unit's parameters lie, in the flat parameters and, where it says so, buffers.
struct UnitPlaces {
  int64_t weight = 0, bias = -1;
  int64_t att_src = 0, att_dst = 0;
  NormPlaces norm;   // running statistics: buffers
  int64_t eps = -1;  // a buffer; below zero: none
  std::vector<OwnParameter> own;  // in the order of the operation's Layer
};

// Indices `u` are units', `value` the spec's (SpecShapes).
struct LoweredSpec {
  std::shared_ptr<const ModelSpec> spec;
  SpecShapes shapes;
  SpecUnits lowered;
  std::vector<UnitPlaces> places;  // by unit

  const OperationSpec& Operation(size_t value) const { return spec->values[value - 1].operation; }
  const SpecUnit& Unit(size_t u) const { return lowered.units[u]; }
  int64_t Padded(size_t u) const { return RoundUp<int64_t>(Unit(u).width, 8); }
  const AttentionSpec& Attention(size_t u) const { return std::get<AttentionSpec>(Operation(Unit(u).value)); }
  // What a kOwn unit's operation is made for.
  OpPlace OwnPlace(size_t u) const;
  // Whether somebody needs the gradient of the unit's rows; of "x" nobody does.
  bool Wants(size_t u) const { return u != 0 && lowered.plan.values[u].wants_gradient; }
};

// Reserves the parameters of all units under the names of checkpoints, and sets model.places.
ParameterLayout LayOutParameters(LoweredSpec& model);

}  // namespace hone::gnn::cuda
