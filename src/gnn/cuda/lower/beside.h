// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Work of a program that nobody in its chain waits for, such as gradients of weights, beside the chain: a stream of
// its own, which a capture turns into a branch of the graph.
#pragma once

#include <memory>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/lower/program.h"

namespace hone::gnn::cuda {

// Products with a workspace of their own, so that they may run while others do. While memory is only being counted
// (AllocationCount) they are the context's, and a workspace is counted.
class OwnProducts {
 public:
  Status Make(const ProgramContext& context);
  MatmulLibrary& library() const { return *library_; }

 private:
  std::unique_ptr<MatmulLibrary> own_;
  MatmulLibrary* library_ = nullptr;
  DeviceArray<unsigned char> counted_;
};

class Beside {
 public:
  enum class Priority { kLeast, kChain };  // kChain: of the step's compute, so that it does not wait for an outermost hop
  Status Make(const ProgramContext& context, Priority priority = Priority::kLeast);
  MatmulLibrary& products() const { return products_.library(); }
  // The stream, on which work from now on comes after all that `chain` has had so far.
  Result<cudaStream_t> Fork(cudaStream_t chain);
  // What `chain` gets from now on comes after all work beside it. Owed at the end of whatever forked.
  Status Join(cudaStream_t chain);

 private:
  OwnProducts products_;
  Stream stream_;
  Event fork_, join_;
};

}  // namespace hone::gnn::cuda
