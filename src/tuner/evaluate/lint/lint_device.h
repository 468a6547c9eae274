// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A LintDevice is a session and its compiler in this process. There is one implementation per kind of device; builds
// without the CUDA device get no_cuda_lint_device.cc, which returns an error that says so.
#pragma once

#include <memory>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/device/compiler.h"
#include "tuner/device/device_session.h"

namespace hone {

struct LintDevice {
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<DeviceSession> session;  // destroyed first
};

// Opens the GPU number `ordinal`.
Result<LintDevice> OpenCudaLintDevice(const EvaluatorOptions& options, int ordinal);
// Opens a simulated GPU; `gpu` is its name, such as "h200".
Result<LintDevice> OpenSimLintDevice(const EvaluatorOptions& options, const std::string& gpu);

}  // namespace hone
