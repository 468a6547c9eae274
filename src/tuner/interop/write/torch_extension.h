// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the winner of a run as a PyTorch extension around the generated header (cuda_header.h): a binding that checks
// its arguments, and a setup.py and a load.py that build it.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/interop/write/kernel_package.h"

namespace hone {

struct GeneratedFile {
  std::string name;  // file name
  std::string text;
  std::string what;  // what the file is, for a list of files that people read
};

// Where a dimension's size comes from: an extent of a tensor that the caller passes.
struct DimSource {
  std::string dim;     // the dimension's name in the task
  std::string tensor;  // empty: no tensor has the dimension; the caller passes the size
  int axis = 0;        // the tensor's axis whose extent is used
  int64_t divisor = 1;  // the size is extent / divisor
  std::string other;    // not empty: the name of another dimension; the size is the extent divided by that dimension's size
};
// Returns where the size of each dimension comes from, in the task's order. Only inputs and in-place tensors count. An
// extent equal to the dimension is preferred to a multiple of it, and a multiple to a product with another dimension.
std::vector<DimSource> FindDimensions(const Task& task);

// Returns hone_TASK_torch.cu, setup.py and load.py. The generated function requires that tensors have the task's dtypes
// and shapes, are contiguous (or have the task's strides) and are on one device. It allocates outputs, updates in-place
// tensors and runs on the current stream.
Result<std::vector<GeneratedFile>> TorchExtension(const KernelPackage& package);

}  // namespace hone
