// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This is the main function of the test program, which its tests also start as a worker. It runs the real WorkerMain
// over a fake device in host memory. The fake's kernels do to the process what a bad candidate or a failing machine
// does.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/process/frames.h"
#include "tests/judge/judge_fixture.h"
#include "tuner/evaluate/host_mode/host_mode_session.h"
#include "tuner/evaluate/worker/worker_main.h"

namespace hone {
namespace {

constexpr int kSocket = 3;

[[noreturn]] void HangForEver() {
  for (;;) pause();
}

void SendJson(const std::string& header) { (void)SendFrame(kSocket, header); }

// Returns a device that has kernels by the names that the tests' plans use.
FakeDevice FaultyDevice() {
  FakeDevice device;
  device.lost_after_crash = true;
  device.kernels["oracle"].run = ScaleOracle;
  device.kernels["incumbent"].run = device.kernels["honest"].run = Scale;
  device.kernels["crashes_on_the_device"].run = [](FakeLaunch& launch) { launch.Crash("an illegal address"); };
  device.kernels["hangs"].run = [](FakeLaunch&) { HangForEver(); };
  device.kernels["segfaults"].run = [](FakeLaunch&) { raise(SIGSEGV); };
  device.kernels["exits"].run = [](FakeLaunch&) { _exit(7); };
  device.kernels["is_killed"].run = [](FakeLaunch&) { kill(getpid(), SIGKILL); };
  device.kernels["closes_its_socket"].run = [](FakeLaunch&) {
    close(kSocket);
    HangForEver();
  };
  device.kernels["writes_garbage"].run = [](FakeLaunch&) {
    const char garbage[] = "this is no frame, and it goes on for a while";
    (void)!write(kSocket, garbage, sizeof garbage);
    HangForEver();
  };
  device.kernels["says_the_unknown"].run = [](FakeLaunch&) {
    SendJson(R"({"op": ["result"], "lost": "perhaps"})");
    HangForEver();
  };
  device.kernels["loses_the_device"].run = [](FakeLaunch&) {
    SendJson(R"({"op": "error", "code": )" + std::to_string(static_cast<int>(StatusCode::kDevice)) +
             R"(, "message": "fell off the bus", "lost": true})");
    HangForEver();
  };
  device.kernels["invents_a_code"].run = [](FakeLaunch&) {
    SendJson(R"({"op": "error", "code": 4711, "message": "worse than anything", "lost": true})");
    HangForEver();
  };
  device.kernels["forges_a_result"].run = [](FakeLaunch&) {
    (void)SendFrame(kSocket, R"({"op": "result", "lost": false})", {"{\"verdict\": 7}"});
    HangForEver();
  };
  device.kernels["never_stops_talking"].run = [](FakeLaunch&) {
    for (;; usleep(10'000)) SendJson(R"({"op": "progress", "phase": "check", "detail": "soon", "limit": 1e300})");
  };
  device.kernels["asks_for_patience"].run = [](FakeLaunch&) {
    SendJson(R"({"op": "progress", "phase": "check", "detail": "a moment", "limit": 1e300})");
    HangForEver();
  };
  return device;
}

// A stream for host functions whose work is finished when they return.
class FinishedStream : public HostStream {
 public:
  void* handle() override { return this; }
  Status MarkStart() override { return Status::Ok(); }
  Status MarkEnd() override { return Status::Ok(); }
  LaunchOutcome Wait(double) override { return {}; }
  Result<double> IntervalUs() override { return 100.0; }
};

int RunWorker(const char* mode) {
  if (std::strcmp(mode, "ends") == 0) return 9;
  if (std::strcmp(mode, "no-device") == 0) return WorkerMain(kSocket, Status::Unavailable("the device went for a walk"));
  std::unique_ptr<DeviceSession> session = std::make_unique<FakeSession>(FaultyDevice());
  if (std::strcmp(mode, "host") == 0) {
    session = std::make_unique<HostModeSession>(std::move(session), std::make_unique<FinishedStream>());
  }
  return WorkerMain(kSocket, std::move(session));
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "__worker") == 0) return hone::RunWorker(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
