// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs `hone-gnn` as a user would.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/process/subprocess.h"

namespace hone::gnn {

struct Outcome {
  int status = -1;
  std::string out, err;
};

class HoneGnn : public testing::Test {
 protected:
  // 1,500 nodes: an epoch takes some tens of milliseconds.
  static constexpr const char* kGraph = "synthetic:arxiv?nodes=1500&seed=1";

  static std::vector<std::string> Arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HONE_BINARY_DIR "/bin/hone-gnn");
    return arguments;
  }
  // Hides the machine's GPUs: these tests are about the CPU, on any machine.
  static std::vector<std::string> Environment() { return {"PATH=/usr/bin:/bin", "CUDA_VISIBLE_DEVICES="}; }
  Outcome Run(std::vector<std::string> arguments) {
    return RunProgram(Arguments(std::move(arguments)), Environment());
  }
  Outcome RunProgram(std::vector<std::string> argv, std::vector<std::string> environment, std::string input = "") {
    SubprocessOptions options;
    options.stdin_text = std::move(input);
    options.argv = std::move(argv);
    options.environment = std::move(environment);
    options.limit_seconds = 300;
    Result<SubprocessResult> result = RunSubprocess(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    EXPECT_EQ(result->exit.signal, 0) << result->exit.Describe();
    return {result->exit.exit_status, result->out, result->err};
  }
  // Runs a training of kGraph that is small enough for tests, with the arguments `more` added.
  Outcome Train(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",   kGraph, "--fanout", "4,4",  "--hidden", "16",
                                          "--batch", "128",  "--lr",     "0.01", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
};

}  // namespace hone::gnn
