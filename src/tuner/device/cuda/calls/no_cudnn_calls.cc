// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces cudnn_calls.cc for toolkits that were installed without cuDNN's headers.
#include "tuner/device/cuda/calls/library_calls.h"

namespace hone {
namespace {

class NoConvolutionCalls : public LibraryCalls {
 public:
  Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedCall&, const CallAddresses&) override {
    return Status::Unavailable(
        "this build has no cuDNN: install its headers (the package libcudnn9-dev-cuda-13) and build again, or write a "
        "kernel in place of the [[call]]");
  }
};

}  // namespace

std::unique_ptr<LibraryCalls> MakeConvolutionCalls(std::shared_ptr<CudaContext>) {
  return std::make_unique<NoConvolutionCalls>();
}

}  // namespace hone
