// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What kernels are told of the rows that they read and write.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// What a reader applies to a row of Z. threshold 0: no dropout.
struct ActivationOnLoad {
  uint32_t layer = 0;      // of the mask's key
  uint32_t site = 0;
  uint32_t threshold = 0;  // of 65,536
  float scale = 1;
};

// Which rows a function is about.
struct RowsOnDevice {
  const RunState* state = nullptr;
  const BatchHeader* header = nullptr;
  const int32_t* nodes = nullptr;  // global ids of the rows, for masks
  int number = 0;                  // of the hop
  int32_t padded_rows = 0;
  int32_t width = 0;
};

}  // namespace hone::gnn::cuda
