// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks that an operation of your own (op.h) keeps the rules that the engine relies on, on small random batches: what
// breaks them may train well for a while, and is then wrong where a batch is padded, on another number of threads, or
// when a step is replayed.
//
// A finding is evidence, with the numbers; an empty list is none of the contrary for batches of other shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/op.h"

namespace hone::gnn {

struct OpFinding {
  // padded-rows  rows from the batch's sizes on are read or written
  // one-order    the same batch gives other bits, by the number of threads or from run to run
  // device-sizes the host reads what is on the device, or a size is fixed when work is enqueued
  // overwrites   an output or a gradient depends on what its memory held (of a Layer: a parameter's gradient does not)
  // no-state     a batch's results change when another batch is under way
  // gradients    a gradient is not the derivative that finite differences in double give
  // as-the-cpu   the GPU's values are not the Layer's
  std::string rule;
  std::string what;  // a sentence with the numbers
};

struct OpCheck {
  int64_t in = 16;          // columns of the operand
  int64_t width = 0;        // as a spec gives it; 0: not given
  OpOptions options = {};   // options that differ from their usual values
  uint64_t seed = 1;        // seed of batches, rows and weights
  double tolerance = 1e-4;  // as-the-cpu in fp32: of the largest value; sums have another order
};

// Checks the Layer, in float and double. kInvalidArgument: the kind refuses these columns or options.
Result<std::vector<OpFinding>> CheckOp(const OpKind& kind, const OpCheck& check);

// Checks the DeviceOp on the GPU in use against the Layer, in fp32 and bf16 (there with a hundred times the tolerance).
// kInvalidArgument: as above, or the kind has no form for a GPU; kUnavailable without a GPU. Link hone::gnn_cuda.
Result<std::vector<OpFinding>> CheckOpOnDevice(const OpKind& kind, const OpCheck& check);

}  // namespace hone::gnn
