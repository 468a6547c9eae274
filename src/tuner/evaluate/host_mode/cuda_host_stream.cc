// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See cuda_host_stream.h.
#include "tuner/evaluate/host_mode/cuda_host_stream.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "tuner/device/cuda/cuda_driver.h"

namespace hone {
namespace {

// Events are polled without a pause for this long, for the sake of short kernels, and then at intervals that cost
// nothing.
constexpr double kSpinSeconds = 0.002;
constexpr auto kHeldMost =
    std::chrono::milliseconds(20);  // limit of Hold: a library that waits for its own held work would never return

class CudaHostStream final : public HostStream {
 public:
  explicit CudaHostStream(const CudaDriver& driver) : driver_(driver) {}
  ~CudaHostStream() override {
    if (start_ != nullptr) driver_.EventDestroy(start_);
    if (end_ != nullptr) driver_.EventDestroy(end_);
    if (stream_ != nullptr) driver_.StreamDestroy(stream_);
    ForgetRecording();
  }

  Status Open() {
    // The stream synchronizes with the default stream, so that waiting for it includes work that a library puts there.
    HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.StreamCreate(&stream_, CU_STREAM_DEFAULT), "making a stream");
    HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.EventCreate(&start_, CU_EVENT_DEFAULT), "making an event");
    HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.EventCreate(&end_, CU_EVENT_DEFAULT), "making an event");
    return Status::Ok();
  }

  void* handle() override { return stream_; }

  Result<bool> StartRecording() override {
    ForgetRecording();
    return driver_.StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS;
  }
  Result<bool> EndRecording() override {
    CUgraph graph = nullptr;
    const CUresult ended = driver_.StreamEndCapture(stream_, &graph);
    if (ended != CUDA_SUCCESS || graph == nullptr) return false;
    const CUresult instantiate_result = driver_.GraphInstantiate(&graph_, graph, 0);
    driver_.GraphDestroy(graph);
    if (instantiate_result != CUDA_SUCCESS) {
      graph_ = nullptr;
      return false;
    }
    HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.GraphUpload(graph_, stream_), "sending a library's graph to the device");
    return true;
  }
  Status Replay() override {
    const CUresult result = driver_.GraphLaunch(graph_, stream_);
    if (result != CUDA_SUCCESS) failed_ = result;
    return Status::Ok();
  }

  Status Hold() override {
    {
      std::lock_guard lock(gate_.mutex);
      gate_.open = false;
    }
    const auto wait = [](void* data) {
      auto& gate = *static_cast<Gate*>(data);
      std::unique_lock lock(gate.mutex);
      gate.opened.wait_for(lock, kHeldMost, [&] { return gate.open; });
    };
    HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.LaunchHostFunc(stream_, wait, &gate_), "holding a stream back");
    return Status::Ok();
  }
  void Release() override {
    std::lock_guard lock(gate_.mutex);
    gate_.open = true;
    gate_.opened.notify_all();
  }

  Status MarkStart() override { return Record(start_); }
  Status MarkEnd() override { return Record(end_); }

  LaunchOutcome Wait(double limit_seconds) override {
    LaunchOutcome outcome;
    if (failed_ != CUDA_SUCCESS) {
      outcome.status = LaunchStatus::kCrashed;
      outcome.detail = "the host function left an error behind: " + driver_.Describe(failed_);
      return outcome;
    }
    const Stopwatch watch;
    for (;;) {
      const CUresult result = driver_.EventQuery(end_);
      if (result == CUDA_SUCCESS) return outcome;
      if (result != CUDA_ERROR_NOT_READY) {
        outcome.status = LaunchStatus::kCrashed;
        outcome.detail = "the host function's work failed: " + driver_.Describe(result);
        return outcome;
      }
      const double waited = watch.Seconds();
      if (waited > limit_seconds) {
        outcome.status = LaunchStatus::kTimedOut;
        outcome.detail = fmt::format("the host function's work did not finish in {:g} s", limit_seconds);
        return outcome;
      }
      if (waited > kSpinSeconds) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  Result<double> IntervalUs() override {
    float ms = 0;
    HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.EventElapsedTime(&ms, start_, end_), "reading a timed interval");
    return double{ms} * 1e3;
  }

 private:
  // Records an event. An earlier error of the candidate (a kernel that trapped) shows here first; it is ignored here
  // and reported by Wait as the candidate's outcome.
  Status Record(CUevent event) {
    const CUresult result = driver_.EventRecord(event, stream_);
    if (result != CUDA_SUCCESS) failed_ = result;
    return Status::Ok();
  }

  void ForgetRecording() {
    if (graph_ != nullptr) driver_.GraphExecDestroy(graph_);
    graph_ = nullptr;
  }

  // The state on which a host callback in the stream waits, in a thread of the driver.
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = true;
  };

  const CudaDriver& driver_;
  Gate gate_;
  CUgraphExec graph_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent start_ = nullptr, end_ = nullptr;
  CUresult failed_ = CUDA_SUCCESS;  // an error that the host function left behind
};

}  // namespace

Result<std::unique_ptr<HostStream>> MakeCudaHostStream() {
  HONE_ASSIGN_OR_RETURN(const CudaDriver* driver, LoadCudaDriver());
  auto stream = std::make_unique<CudaHostStream>(*driver);
  HONE_RETURN_IF_ERROR(stream->Open());
  return std::unique_ptr<HostStream>(std::move(stream));
}

Result<std::unique_ptr<DeviceSession>> MakeHostModeCudaSession(const CudaSessionOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> device, MakeCudaSession(options));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<HostStream> stream, MakeCudaHostStream());
  return std::unique_ptr<DeviceSession>(std::make_unique<HostModeSession>(std::move(device), std::move(stream)));
}

}  // namespace hone
