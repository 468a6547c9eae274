// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/lint/lint_device.h"

namespace hone {

Result<LintDevice> OpenCudaLintDevice(const EvaluatorOptions& options, int ordinal) {
  LintDevice device;
  HONE_ASSIGN_OR_RETURN(device.session, MakeCudaSession({.ordinal = ordinal}));
  const DeviceFacts& facts = device.session->facts();
  NvrtcCompilerOptions nvrtc;
  nvrtc.cuda_home = options.cuda_home;
  if (!options.cutlass_home.empty()) nvrtc.cutlass_include = options.cutlass_home + "/include";
  nvrtc.architecture = NvrtcArchitecture(facts.cc_major, facts.cc_minor);
  nvrtc.limit_seconds = options.compile_limit_seconds;
  if (!options.executable.empty()) nvrtc.zygote_argv = {options.executable, "__nvrtc-zygote"};
  HONE_ASSIGN_OR_RETURN(device.compiler, MakeNvrtcCompiler(nvrtc));
  return device;
}

}  // namespace hone
