// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This is the main function of the test program, which its tests also start as the simulator's child, as the profiling
// process, and as the process that a sanitizer watches.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/judge/judge_fixture.h"
#include "tuner/device/sim/sim_child.h"
#include "tuner/evaluate/profiling/profile_process.h"
#include "tuner/evaluate/sanitizing/sanitizer_process.h"

namespace hone {
namespace {

// A CountingSession is a fake device in host memory, whose counters can be read or are refused.
class CountingSession : public FakeSession {
 public:
  CountingSession(FakeDevice device, bool allowed, bool by_ncu) : FakeSession(std::move(device)), allowed_(allowed), by_ncu_(by_ncu) {}
  Result<ProfileOutcome> Profile(const ProfileRequest& request) override {
    ProfileOutcome outcome;
    outcome.source = by_ncu_ ? "ncu" : "cupti";
    if (!allowed_ && !by_ncu_) {
      outcome.unavailable = "the driver lets only administrators read performance counters (ERR_NVGPUCTRPERM): load the nvidia module "
                            "with NVreg_RestrictProfilingToAdminUsers=0";
      return outcome;
    }
    HONE_RETURN_IF_ERROR(request.prepare());
    HONE_ASSIGN_OR_RETURN(outcome.launch, Launch(*request.program, {.plan = request.plan, .bindings = request.bindings}));
    for (const ResolvedStep& step : request.plan->steps) {
      KernelProfile kernel;
      kernel.kernel = step.kernel;
      if (!by_ncu_) kernel.values["occupancy"] = 50;
      outcome.kernels.push_back(std::move(kernel));
    }
    return outcome;
  }

 private:
  bool allowed_, by_ncu_;
};

int RunProfile(int argc, char** argv) {
  std::string job, out;
  bool by_ncu = false;
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "--job") == 0) job = argv[++i];
    else if (std::strcmp(argv[i], "--out") == 0) out = argv[++i];
    else if (std::strcmp(argv[i], "--by-ncu") == 0) by_ncu = true;
  }
  const std::string device = argv[2];
  if (device == "no-device") return ProfileMain(job, out, Status::Unavailable("the device went for a walk"));
  FakeDevice fake;
  fake.kernels["oracle"].run = ScaleOracle;
  fake.kernels["honest"].run = Scale;
  return ProfileMain(job, out, std::unique_ptr<DeviceSession>(new CountingSession(std::move(fake), device == "counts", by_ncu)));
}

Result<std::unique_ptr<DeviceSession>> NoSession() { return Status::Unavailable("the device went for a walk"); }

int RunSanitize(int argc, char** argv) {
  std::string job, out;
  for (int i = 3; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--job") == 0) job = argv[i + 1];
    if (std::strcmp(argv[i], "--out") == 0) out = argv[i + 1];
  }
  if (std::strcmp(argv[2], "no-device") == 0) return SanitizeMain(job, out, [] { return NoSession(); }, {});
  FakeDevice fake;
  fake.kernels["honest"].run = Scale;
  SandboxPolicy policy;
  policy.read_paths = SystemReadPaths();
  policy.write_paths = {out.substr(0, out.rfind('/'))};
  const std::optional<SandboxPolicy> confined = std::strcmp(argv[2], "confined") == 0 ? std::optional(policy) : std::nullopt;
  const auto make_session = [&]() -> Result<std::unique_ptr<DeviceSession>> { return std::unique_ptr<DeviceSession>(new FakeSession(std::move(fake))); };
  return SanitizeMain(job, out, make_session, confined);
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "__sim-child") == 0) return hone::SimChildMain(std::atoi(argv[3]));
  if (argc > 2 && std::strcmp(argv[1], "__profile") == 0) return hone::RunProfile(argc, argv);
  if (argc > 2 && std::strcmp(argv[1], "__sanitize") == 0) return hone::RunSanitize(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
