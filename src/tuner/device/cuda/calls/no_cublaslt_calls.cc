// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces cublaslt_calls.cc for toolkits that were installed without cuBLAS's headers.
#include "tuner/device/cuda/calls/library_calls.h"

namespace hone {
namespace {

class NoMatmulCalls : public LibraryCalls {
 public:
  Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedCall&, const CallAddresses&) override {
    return Status::Unavailable(
        "this build has no cuBLASLt: install the CUDA toolkit's libcublas-dev package and build again");
  }
};

}  // namespace

std::unique_ptr<LibraryCalls> MakeMatmulCalls(std::shared_ptr<CudaContext>) {
  return std::make_unique<NoMatmulCalls>();
}

}  // namespace hone
