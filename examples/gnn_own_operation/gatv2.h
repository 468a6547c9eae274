// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares GATv2 (Brody, Alon and Yahav 2022), with dropout of its attention, as an operation of your own:
//
//   e(j -> i) = att . leaky_relu(left_j + right_i + W edge_ij)   for the neighbors j of i, and for i itself
//   out_i     = sum over j of softmax_j(e) * left_j              in training some weights are dropped, the others
//   scaled up
//
// for each head. edge_ij are the features of the edge, if the graph's edges have some; the term is left out otherwise,
// and for i itself, to which no edge leads. The operand is [left | right]: two linears side by side, which are the
// engine's own operations:
//
//   {name = "left",  op = "linear", of = "x", width = 32},
//   {name = "right", op = "linear", of = "x", width = 32},
//   {name = "both",  op = "concat", of = ["left", "right"]},
//   {name = "out",   op = "gatv2",  of = "both", heads = 4, dropout = 0.1},
//
// The parameters are "out.att" [heads, width of a head] and, for edges with features, W: "out.lin_edge.weight" [heads *
// width of a head, features of an edge].
#pragma once

#include <memory>

#include "hone/gnn/op.h"

struct GatV2Shape {
  int32_t heads = 1, width = 0;  // width: columns of one head
  int32_t edge_columns = 0;      // features of an edge
  float slope = 0.2f;            // of leaky_relu below zero
  double dropout = 0;
  int32_t columns() const { return heads * width; }
};
GatV2Shape ShapeOf(const hone::gnn::OpPlace& place);

// Makes the kind, with its form for the CPU (gatv2.cc). `device` makes the form for a GPU; null: there is none.
using MakeDevice = std::unique_ptr<hone::gnn::DeviceOp> (*)(const hone::gnn::OpPlace&);
std::unique_ptr<const hone::gnn::OpKind> MakeGatV2(MakeDevice device);

// Makes the form for a GPU (gatv2_device.cu).
std::unique_ptr<hone::gnn::DeviceOp> MakeGatV2OnDevice(const hone::gnn::OpPlace& place);
