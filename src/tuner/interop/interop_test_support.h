// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles programs with the host compiler against the fake CUDA (fake/) and runs them, for tests of generated code.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/process/subprocess.h"

namespace hone::testing {

// Runs a program with a minimal environment and a limit of 120 seconds. `directory`: where it runs; empty: here.
inline SubprocessResult RunProgram(std::vector<std::string> argv, const std::string& directory = {}) {
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = {"PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin"};
  options.working_directory = directory;
  options.limit_seconds = 120;
  Result<SubprocessResult> result = RunSubprocess(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : SubprocessResult{};
}

// Returns the folder of the fake PyTorch. It is separate from the fake CUDA, since nvcc uses it with the real toolkit.
inline std::string FakeTorchDirectory() { return std::string(HONE_SOURCE_DIR) + "/src/tuner/interop/fake_torch"; }
// Returns the folder of the fake CUDA runtime.
inline std::string FakeCudaDirectory() { return std::string(HONE_SOURCE_DIR) + "/src/tuner/interop/fake"; }

// Compiles and links `sources`, files in `directory`, with the host compiler to the file `program`. Returns the
// compiler's messages; empty: it succeeded.
inline std::string CompileForHost(const std::string& directory, const std::vector<std::string>& sources,
                                  const std::string& program) {
  std::vector<std::string> argv = {HONE_HOST_COMPILER,          "-std=c++17", "-O0",  "-w", "-I" + FakeCudaDirectory(),
                                   "-I" + FakeTorchDirectory(), "-o",         program};
  // With the fake runtime, .cu files are C++.
  argv.insert(argv.end(), {"-x", "c++"});
  argv.insert(argv.end(), sources.begin(), sources.end());
  const SubprocessResult result = RunProgram(argv, directory);
  return result.exit.success() ? "" : result.exit.Describe() + "\n" + result.err;
}

inline void Write(const std::string& path, const std::string& text) {
  const Status status = WriteFileAtomicallyUnflushed(path, text);
  ASSERT_TRUE(status.ok()) << status.message();
}

}  // namespace hone::testing
