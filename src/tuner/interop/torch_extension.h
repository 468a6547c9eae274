// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the winner of a run as a PyTorch extension around the generated header: a binding that checks its arguments,
// and the two usual ways to build it.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/interop/kernel_package.h"

namespace hone {

struct GeneratedFile {
  std::string name;
  std::string text;
  std::string what;  // a few words for people
};

// The way a dimension is computed from the tensors that a caller passes.
struct DimSource {
  std::string dim;
  std::string tensor;  // empty: no tensor has it; the caller passes it
  int axis = 0;
  int64_t divisor = 1;  // extent / divisor
  std::string other;    // not empty: extent / this dimension, which another tensor has
};
// Finds dimensions, in the task's order, from inputs and in-place tensors. An extent equal to a dimension is preferred
// to a multiple of it, and a multiple to a product with another dimension.
std::vector<DimSource> FindDimensions(const Task& task);

// Writes hone_TASK_torch.cu, setup.py, load.py. Tensors must have the task's dtypes and shapes, be contiguous (or have
// the task's strides) and be on one device; outputs are allocated; in-place tensors are updated; the current stream is
// used.
Result<std::vector<GeneratedFile>> TorchExtension(const KernelPackage& package);

}  // namespace hone
