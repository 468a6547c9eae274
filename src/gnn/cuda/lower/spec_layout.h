// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A LoweredSpec is a spec as units (nn/spec_units.h), with the places of its parameters. Programs are built from it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/lower/norm_between.h"
#include "gnn/nn/spec_units.h"
#include "hone/gnn/op.h"

namespace hone::gnn::cuda {

// A parameter of a registered operation: its offset in the flat parameters or, if `buffer`, in the flat buffers.
struct OwnParameter {
  int64_t at = 0;
  bool buffer = false;
};

// The offsets of a unit's parameters in the flat parameters or, where the field says so, in the flat buffers. Below
// zero: the unit has no such parameter.
struct UnitPlaces {
  int64_t weight = 0, bias = -1;
  int64_t att_src = 0, att_dst = 0;
  NormPlaces norm;                // its running statistics lie in the buffers
  int64_t eps = -1;               // lies in the buffers; below zero: none
  std::vector<OwnParameter> own;  // in the order of the operation's Layer
};

// In LoweredSpec, `u` is the index of a unit, `value` that of a value of the spec (SpecShapes).
struct LoweredSpec {
  std::shared_ptr<const ModelSpec> spec;
  SpecShapes shapes;
  int64_t edge_width = 0;  // ModelOptions::edge_width
  SpecUnits lowered;
  std::vector<UnitPlaces> places;  // indexed by unit

  const OperationSpec& Operation(size_t value) const { return spec->values[value - 1].operation; }
  const SpecUnit& Unit(size_t u) const { return lowered.units[u]; }
  int64_t Padded(size_t u) const { return RoundUp<int64_t>(Unit(u).width, 8); }
  const AttentionSpec& Attention(size_t u) const { return std::get<AttentionSpec>(Operation(Unit(u).value)); }
  // Returns the arguments with which the operation of a kOwn unit is made.
  OpPlace OwnPlace(size_t u) const;
  // Returns whether the gradient of the unit's rows is needed; that of "x" never is.
  bool Wants(size_t u) const { return u != 0 && lowered.plan.values[u].wants_gradient; }
};

// Reserves the parameters of all units under the names of checkpoints, and sets model.places.
ParameterLayout LayOutParameters(LoweredSpec& model);

}  // namespace hone::gnn::cuda
