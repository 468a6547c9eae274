// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the evaluator in a program of your own: which of these kernels is right, and which is the fastest?
//
//   example_judge_kernel HONE TASK KERNEL.cu …
//
// HONE is the program `hone`. The evaluator starts it again as compilers and workers, so that a candidate that crashes
// or hangs loses its own verdict and does not end this process. TASK is a folder with a task.toml. The kernels are
// judged on the simulated GPU, so that the example runs anywhere; its times are modelled. Exit status 1 if no kernel is
// right, 2 if a kernel could not be judged.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace {

int Fail(const hone::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return Fail(hone::Status::InvalidArgument("usage: example_judge_kernel HONE TASK KERNEL.cu …"));

  hone::EvaluatorOptions options;
  options.device = "sim";
  options.executable = std::filesystem::absolute(argv[1]);
  options.use_cache = false;                     // true needs a cache_directory, in which compiled kernels are kept
  options.environment = {"PATH=/usr/bin:/bin"};  // where the simulator finds g++
  hone::Result<std::unique_ptr<hone::Evaluator>> evaluator = hone::MakeEvaluator(options);
  if (!evaluator.ok()) return Fail(evaluator.status());
  hone::Result<hone::Task> task = hone::LoadTask(argv[2]);
  if (!task.ok()) return Fail(task.status());

  std::string fastest = "none";
  double best = 0;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i]);
    if (!file) return Fail(hone::Status::NotFound(std::string("cannot read ") + argv[i]));
    hone::EvaluationRequest request;
    request.source.assign(std::istreambuf_iterator<char>(file), {});
    request.name = argv[i];
    // A wrong or broken kernel has an evaluation with a verdict; a Status means that the environment failed.
    hone::Result<hone::Evaluation> evaluation = (*evaluator)->Evaluate(*task, request);
    if (!evaluation.ok()) return Fail(evaluation.status());
    const double speedup = evaluation->geomean_speedup.value_or(0);  // set only if the verdict is ok
    std::printf("%s: %s %s %.3fx of the seed\n", argv[i], std::string(hone::VerdictName(evaluation->verdict)).c_str(),
                evaluation->detail.c_str(), speedup);
    if (speedup > best) {
      best = speedup;
      fastest = argv[i];
    }
  }
  std::printf("fastest: %s\n", fastest.c_str());
  return best > 0 ? 0 : 1;
}
