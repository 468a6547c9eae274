// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of generated code: programs compiled by the host compiler against the stand-in for CUDA (fake/), and run.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone::testing {

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

// Apart from the stand-in for CUDA: nvcc uses it beside the real thing.
inline std::string FakeTorchDirectory() { return std::string(HONE_SOURCE_DIR) + "/src/tuner/interop/fake_torch"; }
inline std::string FakeCudaDirectory() { return std::string(HONE_SOURCE_DIR) + "/src/tuner/interop/fake"; }

// Compiles and links `sources` (in `directory`) with the host compiler; gives its messages, empty when it was content.
inline std::string CompileForHost(const std::string& directory, const std::vector<std::string>& sources,
                                  const std::string& program) {
  std::vector<std::string> argv = {HONE_HOST_COMPILER,          "-std=c++17", "-O0",  "-w", "-I" + FakeCudaDirectory(),
                                   "-I" + FakeTorchDirectory(), "-o",         program};
  // The stand-in runs .cu files as C++.
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
