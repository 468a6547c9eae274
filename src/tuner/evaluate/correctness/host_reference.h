// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host reference computes expected outputs in a process on the host, where other tasks have an oracle that is a
// kernel. tuner/torch implements it for tasks made of a PyTorch module.
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
  //   precision  "float64", or one in which the linter imitates a kernel: "float32", "tf32" (float32, with factors of
  //              products rounded to TF32), "bfloat16", "float16"
  // Returns kInvalidArgument, with a sentence, if the task is at fault, and kTimedOut or kUnavailable if the process
  // did not answer.
  using Fill = std::function<Status(const std::string& tensor, void* elements)>;
  using Take = std::function<Status(const std::string& tensor, const double* values)>;
  virtual Status Compute(const Dims& dims, const Fill& fill, const Take& take, std::string_view precision = "float64") = 0;

  // As Compute, for a reference whose process holds the device: inputs and results stay on it, in memory of that
  // process. The pointers are device addresses there, and results are doubles.
  //   map    maps that memory here by the driver's handle and returns its address; not called where there is none
  //   unmap  ends this; called before ComputeOnDevice returns, even after an error
  //   fill, take  copy a tensor to and from an address
  // Returns false, and has called neither fill nor take, if the process or the device cannot do this: then Compute can.
  struct OnDevice {
    std::function<Result<uint64_t>(const std::string& handle)> map;
    std::function<Status(uint64_t address)> unmap;
    std::function<Status(const std::string& tensor, uint64_t address)> fill, take;
  };
  virtual Result<bool> ComputeOnDevice(const Dims& dims, const OnDevice& calls) {
    (void)dims, (void)calls;
    return false;
  }

  // Returns whether the reference's process has ended, after which every call fails.
  virtual bool lost() const { return false; }

  // Returns whether the reference's process holds a GPU.
  virtual bool uses_gpu() const { return false; }

  // Returns the name and version of the software that computes: "PyTorch 2.11.0 on the CPU".
  virtual std::string Name() const = 0;
};

}  // namespace hone
