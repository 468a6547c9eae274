// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/lint/lint_device.h"

namespace hone {

Result<LintDevice> OpenCudaLintDevice(const EvaluatorOptions&, int) {
  return Status::Unavailable("this build of hone has no CUDA device: install the CUDA toolkit (12.8 or newer) and build again with `make build CMAKE_FLAGS=-DHONE_CUDA=ON`, or use --device sim");
}

}  // namespace hone
