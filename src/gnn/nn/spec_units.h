// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A spec as the units that a GPU runs it by, each a kernel or a few: decided from the spec alone, without a device, so
// that a program can be told of before it is made.
//
// Most operations are a unit. A run of rowwise ones that read nobody but one another (the bias of a product, batch
// normalisation, activation, dropout, in this order) is one, for it is one pass over the rows; and where nobody but
// aggregates reads its rows and nothing is normalised, it is no pass at all, but done as they are read. The outermost
// hop, where nothing but aggregates of "x" reads it, is drawn and aggregated in one pass and its nodes get no numbers;
// otherwise they are numbered like those of the other hops, and their feature rows gathered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gnn/nn/spec_plan.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {

struct SpecUnit {
  enum class Kind : uint8_t {
    kInput,      // "x"
    kAggregate,  // of an inner hop
    kDrawn,      // an aggregate of the outermost hop, from the graph's features
    kAttention,  // with the product of its weight, without its bias
    kProduct,    // of a linear or a head, without its bias
    kBetween,    // bias, batch normalisation, activation and dropout, as far as there are
    kNormaliseRows,
    kAdd,
    kConcat,  // also of the seeds' rows alone
    kLogits,  // a copy to where the loss reads them
  };
  Kind kind = Kind::kInput;
  size_t value = 0;              // of the spec (SpecShapes' index) whose rows this makes
  std::vector<size_t> operands;  // units
  int hop = 0;                   // the row set
  int64_t width = 0;
  // Of kBetween, values of the spec; 0: none.
  size_t bias_of = 0, normalise = 0, activate = 0, drop = 0;
  bool read_through = false;  // of kBetween: by the aggregates that read it; then its rows are the operand's
  // Nothing but a bias, which is added in the operand's place.
  bool adds_bias_alone() const {
    return kind == Kind::kBetween && !read_through && normalise == 0 && activate == 0 && drop == 0;
  }
  // Makes what the loss reads, in fp32.
  bool makes_logits = false;
};

struct SpecUnits {
  std::vector<SpecUnit> units;   // 0 is "x", the last one makes the logits
  std::vector<size_t> unit_of;   // by value: the unit whose rows it is; of a value inside a run, that run's
  bool draws_outermost = false;  // otherwise its nodes are numbered
  int input_hop = -1;            // the row set at which rows of "x" are gathered; -1: nobody reads them
  SpecPlan plan;                 // of the units: uses and gradients
  bool needs_degrees = false;    // an inner hop has symmetric scales
};

// `shapes` are the spec's (CheckModelSpec).
SpecUnits LowerToUnits(const ModelSpec& spec, const SpecShapes& shapes);

// A line a unit, for a person: "h0, r0, d0: bias, activation and dropout in one pass".
std::vector<std::string> DescribeUnits(const ModelSpec& spec, const SpecUnits& lowered);

}  // namespace hone::gnn
