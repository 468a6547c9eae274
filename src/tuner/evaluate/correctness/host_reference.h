// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host reference computes expected outputs in a process of the host instead of a kernel, such as that of a PyTorch
// module in tuner/torch.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

class HostReference {
 public:
  virtual ~HostReference() = default;

  // Computes the outputs of one case. Thread-safe: calls wait for one another.
  //   fill  called for each in and inout tensor with host memory for its elements, dense and row-major, of its dtype
  //   take  called for each out and inout tensor with its values as doubles, dense and row-major
  //   precision  "float64", or another in which the linter tries what a kernel might do: "float32", "tf32" (float32 whose
  //              products round their factors), "bfloat16", "float16"
  // kInvalidArgument: the task is at fault, in a sentence. kTimedOut, kUnavailable: the process did not answer.
  using Fill = std::function<Status(const std::string& tensor, void* elements)>;
  using Take = std::function<Status(const std::string& tensor, const double* values)>;
  virtual Status Compute(const Dims& dims, const Fill& fill, const Take& take, std::string_view precision = "float64") = 0;

  // Returns whether its process has ended: every further call fails.
  virtual bool lost() const { return false; }

  // Returns whether its process holds a GPU.
  virtual bool uses_gpu() const { return false; }

  // Names the software that computes, with its version: "PyTorch 2.11.0 on the CPU".
  virtual std::string Name() const = 0;
};

}  // namespace hone
