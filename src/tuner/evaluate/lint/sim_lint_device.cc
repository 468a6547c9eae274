// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/sim_compiler.h"
#include "tuner/device/sim/sim_session.h"
#include "tuner/evaluate/lint/lint_device.h"

namespace hone {

Result<LintDevice> OpenSimLintDevice(const EvaluatorOptions& options, const std::string& gpu) {
  LintDevice device;
  SimCompilerOptions compiler;
  compiler.cache_directory = options.cache_directory;
  compiler.limit_seconds = options.compile_limit_seconds;
  HONE_ASSIGN_OR_RETURN(device.compiler, MakeSimCompiler(compiler));
  SimSessionOptions session;
  session.gpu = gpu;
  if (!options.executable.empty()) session.child_command = {options.executable, "__sim-child"};
  HONE_ASSIGN_OR_RETURN(device.session, MakeSimSession(session));
  return device;
}

}  // namespace hone
