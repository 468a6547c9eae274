// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes to kernels the rows that they read and write.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// The dropout that a kernel applies as it loads a row of activations. threshold 0: no dropout.
struct DropoutOnLoad {
  uint32_t layer = 0;      // the layer's index, a part of the dropout mask's key
  uint32_t site = 0;       // which of the layer's dropouts this is, a part of the mask's key too
  uint32_t threshold = 0;  // drop probability in units of 1/65,536
  float scale = 1;         // factor of the kept elements
};

// The rows of a batch on which a function works.
struct RowsOnDevice {
  const RunState* state = nullptr;
  const BatchHeader* header = nullptr;
  const int32_t* nodes = nullptr;  // global ids of the rows, for dropout masks
  int number = 0;                  // the hop after which the nodes of these rows are known
  int32_t padded_rows = 0;
  int32_t width = 0;  // elements per row
};

}  // namespace hone::gnn::cuda
