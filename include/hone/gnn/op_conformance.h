// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks that an operation of your own (op.h) keeps the rules that the engine relies on, on small random batches. An
// operation that breaks a rule may train well for a while, and then give wrong results where a batch is padded, where
// the number of threads differs, or when a step is replayed.
//
// A finding is evidence, with the numbers. An empty list does not prove that batches of other shapes are right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/op.h"

namespace hone::gnn {

struct OpFinding {
  // padded-rows  rows beyond the batch's sizes are read or written
  // one-order    the same batch gives other bits with another number of threads, or from run to run
  // device-sizes the host reads device memory, or a size is fixed when work is enqueued
  // overwrites   an output or a gradient depends on what its memory held before. (A Layer adds to its parameters'
  //              gradients: there the finding is that it does not.)
  // no-state     a batch's results change when another batch is in flight
  // gradients    a gradient is not the derivative that finite differences in double give
  // as-the-cpu   the GPU's values differ from the Layer's
  std::string rule;
  std::string what;  // a sentence with the numbers
};

struct OpCheck {
  int64_t in = 16;           // columns of the operand
  int64_t width = 0;         // the operation's width, as a spec gives it; 0: not given
  int64_t edge_columns = 0;  // columns of the edges' features; only for a kind that reads them; 0: the edges have none
  OpOptions options = {};    // options that differ from their usual values
  uint64_t seed = 1;         // seed of batches, rows and weights
  double tolerance =
      1e-4;  // as-the-cpu in fp32: largest difference, relative to the largest value; the GPU adds in another order
};

// Checks the Layer, in float and double. kInvalidArgument: the kind refuses these columns or options.
Result<std::vector<OpFinding>> CheckOp(const OpKind& kind, const OpCheck& check);

// Checks the DeviceOp on the current GPU against the Layer, in fp32 and in bf16 (with 100 times the tolerance).
// kInvalidArgument: as for CheckOp, or the kind has no form for a GPU. kUnavailable: there is no GPU. Link
// hone::gnn_cuda.
Result<std::vector<OpFinding>> CheckOpOnDevice(const OpKind& kind, const OpCheck& check);

}  // namespace hone::gnn
