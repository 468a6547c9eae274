// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host reference computes expected outputs in a process on the host, where other tasks have an oracle that is a
// kernel. tuner/torch implements it for tasks made of a PyTorch module.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/device/shared_block.h"

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

  // As Compute, for a reference whose process uses the same device: inputs and results stay on it, in a block that
  // the judge makes and that process maps. The reference keeps the block, and the process its mapping, for later
  // calls. Results there are doubles.
  //   most_kept  size in bytes of the largest block that is kept
  //   share  makes a block of at least this many bytes; its errors are DeviceSession::Share's
  //   mine   whether a kept block belongs to the device of this call
  //   fill, take  copy a tensor to and from an address in the block, without waiting
  //   wait   waits until tensors are copied
  //   wipe   overwrites a part of the block. It is called for everything that was used before ComputeOnDevice returns,
  //          even after an error, so that no candidate can find inputs or results there
  // Returns false, and has called neither fill nor take, if the process or the device cannot do this: then Compute can.
  struct OnDevice {
    int64_t most_kept = 0;
    std::function<Result<std::unique_ptr<SharedBlock>>(int64_t bytes)> share;
    std::function<bool(const SharedBlock& block)> mine;
    std::function<Status(const std::string& tensor, uint64_t address)> fill, take;
    std::function<Status()> wait;
    std::function<Status(uint64_t address, int64_t bytes)> wipe;
  };
  virtual Result<bool> ComputeOnDevice(const Dims& dims, const OnDevice& calls) {
    (void)dims, (void)calls;
    return false;
  }

  // What one operator of the reference does in a call at some sizes, all its calls together. `flops`: of products and
  // convolutions; 0 for others. Returned by Operators, in the order of the calls.
  struct OperatorWork {
    std::string name;
    int64_t calls = 1;
    double bytes = 0, flops = 0;  // bytes: read and written
  };
  // Returns what the reference's operators do, from shapes alone. kInvalidArgument: that cannot be found at these sizes.
  virtual Result<std::vector<OperatorWork>> Operators(const Dims& dims) {
    (void)dims;
    return Status::InvalidArgument("this reference has no operators");
  }

  // Returns whether the reference's process has ended, after which every call fails.
  virtual bool lost() const { return false; }

  // Returns whether the reference's process holds a GPU.
  virtual bool uses_gpu() const { return false; }

  // Returns the name and version of the software that computes: "PyTorch 2.11.0 on the CPU".
  virtual std::string Name() const = 0;
};

}  // namespace hone
