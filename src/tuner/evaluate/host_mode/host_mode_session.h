// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// HostModeSession is a device session that also runs host-mode candidates. It loads, launches and times host-mode
// programs itself and leaves everything else to the session it wraps: device-code programs (the oracle, the incumbent)
// and memory.
//
// Host mode's guarantees are weaker than those for device code, and the verdict says so. The candidate's code runs in
// this process, where it could reach whatever the judge keeps there. The candidate's own variables survive from one
// launch to the next. A timed interval includes the host's launch overhead, so that a short launch looks longer than it
// is, never shorter. (The work of a device-code plan is held back until the host has enqueued all of it. A host-mode
// candidate's work cannot be held back: work that it put on a stream of its own would be over before the interval
// begins.)
//
// A library that a task names is called by Hone's own host code, which plays no such tricks. Its sample is timed as a
// plan's is: its calls on all buffer sets are recorded as one graph, and the graph is held back until it and the marks
// around it are enqueued. Calls that cannot be recorded are enqueued one by one between the marks and held back in the
// same way.
#pragma once

#include <memory>
#include <string>

#include "tuner/device/device_session.h"

namespace hone {

// A HostStream is the CUDA stream that a host function gets; it measures the time between two marks. Not thread-safe.
// If Wait does not return kOk, the device counts as lost.
class HostStream {
 public:
  virtual ~HostStream() = default;
  virtual void* handle() = 0;  // a CUstream, which the function is given
  // Record the work that is enqueued between the two calls as a graph, without running it. They return false if the
  // work cannot be recorded; none of it has run then.
  virtual Result<bool> StartRecording() { return false; }
  virtual Result<bool> EndRecording() { return false; }
  virtual Status Replay() { return Status::Ok(); }  // enqueues the graph that was recorded last
  // Holds back work enqueued from now on until Release, for 20 ms at most.
  virtual Status Hold() { return Status::Ok(); }
  virtual void Release() {}
  virtual Status MarkStart() = 0;
  virtual Status MarkEnd() = 0;
  virtual LaunchOutcome Wait(double limit_seconds) = 0;  // waits until all work up to MarkEnd is done
  virtual Result<double> IntervalUs() = 0;               // microseconds between the marks; call it after Wait
};

class HostModeSession : public DeviceSession {
 public:
  HostModeSession(std::unique_ptr<DeviceSession> inner, std::unique_ptr<HostStream> stream)
      : inner_(std::move(inner)), stream_(std::move(stream)) {}
  ~HostModeSession() override;

  const DeviceFacts& facts() const override { return inner_->facts(); }
  bool lost() const override { return lost_ || inner_->lost(); }
  // Loads a candidate in host mode, which runs its library's static initialisers. Call this only in a confined process.
  Result<LoadOutcome> Load(const CompiledProgram& program) override;
  Result<bool> GlobalsChanged(LoadedProgram& program) override;
  Result<std::unique_ptr<Arena>> Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) override {
    return inner_->Allocate(blocks, gap_key);
  }
  Result<std::optional<std::string>> CheckGaps(Arena& arena) override { return inner_->CheckGaps(arena); }
  int64_t FreeBytes() const override { return inner_->FreeBytes(); }
  Result<bool> Rearrange(Arena& arena, uint64_t key) override { return inner_->Rearrange(arena, key); }
  uint64_t LaunchAddress(uint64_t address) const override { return inner_->LaunchAddress(address); }
  Status Draw(const DrawRequest& request) override { return inner_->Draw(request); }
  Status Poison(const TensorView& view) override { return inner_->Poison(view); }
  Status FillWith(const TensorView& view, const FillSpec& fill) override { return inner_->FillWith(view, fill); }
  Status Fill(uint64_t address, int64_t bytes, uint8_t value) override { return inner_->Fill(address, bytes, value); }
  Result<bool> IsZero(uint64_t address, int64_t bytes) override { return inner_->IsZero(address, bytes); }
  Status CopyFromHost(uint64_t address, const void* source, int64_t bytes) override {
    return inner_->CopyFromHost(address, source, bytes);
  }
  Status CopyToHost(void* destination, uint64_t address, int64_t bytes) override {
    return inner_->CopyToHost(destination, address, bytes);
  }
  Status GatherSlices(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices) override {
    return inner_->GatherSlices(source, destination, slices);
  }
  Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) override;
  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) override {
    return inner_->Compare(output, reference, tolerance);
  }
  Result<std::vector<uint64_t>> Digest(const TensorView& view, uint64_t key) override { return inner_->Digest(view, key); }
  Result<std::vector<std::vector<uint64_t>>> DigestMany(const std::vector<TensorView>& views, uint64_t key) override {
    return inner_->DigestMany(views, key);
  }
  Result<SampleOutcome> TimeSample(const SampleRequest& request) override;
  Result<double> TimeFloor(const Traffic& traffic, int sets, CacheState cache) override {
    return inner_->TimeFloor(traffic, sets, cache);
  }
  Result<DeviceCondition> Condition() override { return inner_->Condition(); }

 private:
  class HostProgram;
  // Waits until the wrapped session has done all its work, which it puts on another stream.
  Status Settle(const Bindings& bindings);
  // Calls the plan's function on one set of buffers. kOk means that the work is enqueued.
  LaunchOutcome Call(HostProgram& program, const ResolvedPlan& plan, const Bindings& bindings);
  Status FlushCaches();
  Status WarmUp();  // raises the GPU's clocks with some work, if it may have been idle
  // Calls the function on all sets. kOk means that all calls are enqueued.
  LaunchOutcome CallAll(HostProgram& program, const SampleRequest& request);

  std::unique_ptr<DeviceSession> inner_;
  std::unique_ptr<HostStream> stream_;
  std::unique_ptr<Arena> flush_;  // buffer that FlushCaches reads: four times L2, all zero; null: not needed yet
  double last_timed_ = 0;         // SteadySeconds at which the last sample of a host function ended; 0: none yet
  bool lost_ = false;  // a host function broke the device's context
};

}  // namespace hone
