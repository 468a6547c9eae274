// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The winner of a run as a PyTorch extension around the generated header: a binding that checks what it is given, and
// the two usual ways to build one.
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

// How a dimension is found from the tensors a caller passes.
struct DimSource {
  std::string dim;
  std::string tensor;  // empty: no tensor tells; the caller passes it
  int axis = 0;
  int64_t divisor = 1;  // extent / divisor
  std::string other;    // not empty: extent / this dimension, which another tensor tells
};
// Dimensions in the task's order, from inputs and in-place tensors. An extent that is a dimension itself is preferred
// to one that is a multiple of it, and that to a product with another dimension.
std::vector<DimSource> FindDimensions(const Task& task);

// hone_TASK_torch.cu, setup.py, load.py. Tensors must have the task's dtypes and shapes, be contiguous (or have the
// task's strides) and lie on one device; outputs are allocated; in-place tensors are updated; the current stream is
// used.
Result<std::vector<GeneratedFile>> TorchExtension(const KernelPackage& package);

}  // namespace hone
