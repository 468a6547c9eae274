// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces library_calls.cc for toolkits that were installed without cuBLAS's headers.
#include "tuner/device/cuda/library_calls.h"

namespace hone {
namespace {

class NoLibraryCalls : public LibraryCalls {
 public:
  Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedMatmul&, const MatmulAddresses&) override {
    return Status::Unavailable(
        "this build has no cuBLASLt: install the CUDA toolkit's libcublas-dev package and build again");
  }
};

}  // namespace

std::unique_ptr<LibraryCalls> MakeLibraryCalls(std::shared_ptr<CudaContext>) {
  return std::make_unique<NoLibraryCalls>();
}

}  // namespace hone
