// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowers a spec to the units that a GPU runs, each of which is one kernel or a few. Needs only the spec and no device,
// so that a program can be described before it is made.
//
// Most operations are one unit. A run of rowwise operations that only read one another (the bias of a product, batch
// normalisation, activation, dropout, in this order) is one unit, because it is one pass over the rows. If only
// aggregates read the run's rows and it has no normalisation, it needs no pass: the aggregates apply it as they read.
// In a step on a GPU, so do sums of two values, and attentions if the run has no bias.
// If only aggregates of "x" read the outermost hop, this hop is drawn and aggregated in one pass, and its nodes get no
// local ids. In a step on a GPU, attentions of "x" and those that are composed (SpecUnit::composed) do the same.
// Otherwise its nodes are numbered like those of the other hops, and their feature rows are gathered.
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
    kAggregate,  // over an inner hop
    kDrawn,      // an aggregate of the outermost hop, drawn and read from the graph's features in one pass
    kAttention,  // with the product of its weight, but without its bias
    kProduct,    // the product of a Linear or a head, without its bias
    kBetween,    // bias, batch normalisation, activation and dropout, as far as present
    kNormaliseRows,
    kAdd,
    kConcat,  // also a Collect, for the seeds' rows alone
    kOwn,     // a registered operation (hone/gnn/op.h), by its DeviceOp
    kLogits,  // a copy of the logits to where the loss reads them
  };
  Kind kind = Kind::kInput;
  size_t value = 0;              // value of the spec (SpecShapes' index) whose rows this unit makes
  std::vector<size_t> operands;  // indexes of units
  int hop = 0;                   // the row set
  int64_t width = 0;
  // For kBetween: the values of the spec that the run consists of; 0: none.
  size_t bias_of = 0, normalise = 0, activate = 0, drop = 0;
  // If true, the unit reads rows of the next hop (an aggregation, attention, or a registered operation that
  // aggregates).
  bool reads_hop = false;
  // For kBetween, true: the aggregates that read the run apply it as they read, and its rows are those of its operand.
  bool read_through = false;
  // For kBetween, true: the sums that read the run apply it as they read, and so do the concatenations if the run is a
  // bias alone. Its rows are those of its operand.
  bool summed_through = false;
  // For kBetween, true: the attentions that read the run apply it as they read. Its rows are those of its operand.
  bool attended_through = false;
  // Returns whether the unit has no pass of its own, because its readers apply the run.
  bool no_pass() const { return read_through || summed_through || attended_through; }
  // Returns whether the run has nothing but a bias.
  bool is_bias() const { return kind == Kind::kBetween && normalise == 0 && activate == 0 && drop == 0; }
  // Returns whether the unit is only a bias, which is added in the operand's memory.
  bool adds_bias_alone() const { return is_bias() && !no_pass(); }
  // If true, the unit writes what the loss reads, in fp32.
  bool makes_logits = false;
  // For kAttention over the outermost hop, not 0: the attention reads rows of "x" and not those of the Linear of "x"
  // that is its operand in the spec, because the Linear's weight is multiplied into the attention's. `composed` is the
  // kProduct unit of the Linear, and `composed_bias` the unit of its bias (0: none). `operands` then has "x".
  size_t composed = 0, composed_bias = 0;
  // For kAttention over the outermost hop, true: the hop is drawn and its nodes get no local ids, because the attention
  // reads the graph's features by node. `operands` then has "x".
  bool drawn = false;
  // For kAttention over an inner hop, true: the product comes before the attention, over sources, and not after it. The
  // attention then reads and writes only a head's own columns for each head.
  bool projected = false;
};

struct SpecUnits {
  std::vector<SpecUnit> units;  // units[0] is "x", the last one gives the logits
  std::vector<size_t> unit_of;  // by value: the unit that makes its rows; for a value inside a run, the run's unit
  // If true, the outermost hop is drawn by those who read it, all of which read the graph's features; if false, its
  // nodes are numbered.
  bool draws_outermost = false;
  int input_hop = -1;          // the row set at which rows of "x" are gathered; -1: no unit reads them
  SpecPlan plan;               // uses and gradients of the units
  bool needs_degrees = false;  // true: an aggregate of an inner hop has symmetric scales
};

// Lowers a spec. `shapes` are the spec's (CheckModelSpec). `for_steps`: where an attention over the outermost hop reads
// a Linear of "x", the two are composed (SpecUnit::composed) if that leaves rows of the outermost hop out of the Linear
// and reads narrower rows; an attention may be SpecUnit::drawn or projected, and a run summed_through or
// attended_through. A step on a GPU is lowered so; exact inference, which has every node's row anyway, is not.
SpecUnits LowerToUnits(const ModelSpec& spec, const SpecShapes& shapes, bool for_steps = false);

// Returns one line per unit, for people: "h0, r0, d0: bias, activation and dropout in one pass".
std::vector<std::string> DescribeUnits(const ModelSpec& spec, const SpecUnits& lowered);

}  // namespace hone::gnn
