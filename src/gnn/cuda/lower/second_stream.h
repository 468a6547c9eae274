// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs work on a second stream if nothing later in a program's chain of kernels waits for it, such as gradients of
// weights. Capturing the step turns that stream into a branch of the graph.
#pragma once

#include <memory>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// A matrix library with its own workspace, so that its products may run while others do. While memory is only being
// counted (AllocationCount), library() is the context's, and the workspace is counted.
class OwnProducts {
 public:
  Status Make(const ProgramContext& context);
  MatmulLibrary& library() const { return *library_; }

 private:
  std::unique_ptr<MatmulLibrary> own_;  // the library handle that belongs to this stream
  MatmulLibrary* library_ = nullptr;
  DeviceArray<unsigned char> counted_;
};

// The second stream of one program.
class SecondStream {
 public:
  // kLeast gives way to the step's compute. kChain is the priority of the compute, so the stream does not wait for an
  // outermost hop.
  enum class Priority { kLeast, kChain };
  Status Make(const ProgramContext& context, Priority priority = Priority::kLeast);
  MatmulLibrary& products() const { return products_.library(); }
  // Returns the second stream. Work enqueued on it from now on waits for everything that `chain` holds so far.
  Result<cudaStream_t> Fork(cudaStream_t chain);
  // Makes `chain` wait for all work on the second stream. Every Fork must be followed by a Join before the step ends.
  Status Join(cudaStream_t chain);

 private:
  OwnProducts products_;
  Stream stream_;
  Event fork_, join_;
};

}  // namespace hone::gnn::cuda
