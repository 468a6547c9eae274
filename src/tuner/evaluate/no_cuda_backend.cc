// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// In builds without the CUDA device, this file replaces cuda_backend.cc.
#include "tuner/evaluate/backend.h"

namespace hone {

Result<std::unique_ptr<Backend>> MakeCudaBackend(const EvaluatorOptions&, int) {
  return Status::Unavailable("this build of hone has no CUDA device: install the CUDA toolkit (12.8 or newer) and build again with `make build CMAKE_FLAGS=-DHONE_CUDA=ON`");
}

}  // namespace hone
