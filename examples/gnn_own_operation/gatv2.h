// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// GATv2 (Brody, Alon and Yahav 2022) with dropout of its attention, as an operation of one's own:
//
//   e(j -> i) = att . leaky_relu(left_j + right_i)        for the neighbors j of i, and for i itself
//   out_i     = sum over j of softmax_j(e) * left_j       in training each weight dropped, the others scaled up
//
// head by head. Its operand is [left | right], two linears side by side, which are the engine's:
//
//   {name = "left",  op = "linear", of = "x", width = 32},
//   {name = "right", op = "linear", of = "x", width = 32},
//   {name = "both",  op = "concat", of = ["left", "right"]},
//   {name = "out",   op = "gatv2",  of = "both", heads = 4, dropout = 0.1},
//
// The parameter is "out.att" [heads, width of a head].
#pragma once

#include <memory>

#include "hone/gnn/op.h"

struct GatV2Shape {
  int32_t heads = 1, width = 0;  // of a head
  float slope = 0.2f;            // of leaky_relu below zero
  double dropout = 0;
  int32_t columns() const { return heads * width; }
};
GatV2Shape ShapeOf(const hone::gnn::OpPlace& place);

// gatv2.cc: the kind, and its form for the CPU. `device`: makes the form for a GPU; null: there is none.
using MakeDevice = std::unique_ptr<hone::gnn::DeviceOp> (*)(const hone::gnn::OpPlace&);
std::unique_ptr<const hone::gnn::OpKind> MakeGatV2(MakeDevice device);

// gatv2_device.cu
std::unique_ptr<hone::gnn::DeviceOp> MakeGatV2OnDevice(const hone::gnn::OpPlace& place);
