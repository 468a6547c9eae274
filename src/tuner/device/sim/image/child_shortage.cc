// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/child_shortage.h"

#include <chrono>
#include <sstream>
#include <string>
#include <thread>

namespace hone::sim {
namespace {

constexpr int kRoundsWithProbe = 3;

}  // namespace

bool ReportsNoChild(const SubprocessResult& result) {
  if (result.exit.success() || result.timed_out) return false;
  std::istringstream lines(result.err);
  std::string line;
  while (std::getline(lines, line)) {
    const size_t fatal = line.find(": fatal error: ");
    // The driver's message begins with a program's name; a diagnostic about a source begins with its position.
    if (fatal == std::string::npos || line.find(':') != fatal) continue;
    for (const char* message : {"fork: Resource temporarily unavailable", "fork: Cannot allocate memory"}) {
      if (line.find(message, fatal) != std::string::npos) return true;
    }
  }
  return false;
}

Result<SubprocessResult> RunDespiteShortage(const std::function<Result<SubprocessResult>()>& run,
                                            const std::function<Result<SubprocessResult>()>& probe,
                                            const ChildShortageRetry& retry) {
  const auto wait = [&](double seconds) {
    if (retry.wait) return retry.wait(seconds);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  double pause = retry.first_wait_seconds;
  Result<SubprocessResult> result = run();
  for (int attempt = 1; attempt < retry.tries && result.ok() && ReportsNoChild(*result); ++attempt) {
    wait(pause);
    pause *= 2;
    result = run();
  }
  for (int round = 0; round < kRoundsWithProbe && result.ok() && ReportsNoChild(*result); ++round) {
    const Result<SubprocessResult> probed = probe();
    if (!probed.ok()) return probed.status();
    if (ReportsNoChild(*probed)) {
      return Status::Unavailable(
          "the compiler could not start a process of its own (" + result->err.substr(0, result->err.find('\n')) +
          "): the machine has no room for more processes of this user; end some, raise `ulimit -u`, or use fewer --jobs");
    }
    result = run();
  }
  return result;
}

}  // namespace hone::sim
