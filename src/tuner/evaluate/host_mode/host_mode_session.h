// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A device session that also runs host-mode candidates: everything but their loading, launching and timing is the
// wrapped session's, device-code programs (the oracle, the incumbent) included.
//
// What is weaker than for device code, and why the verdict says so: the candidate's code runs in this process, where it
// could reach whatever the judge keeps there; what it keeps in its own variables survives from one launch to the next;
// and a timed interval holds the host's launch overhead, so that a short one looks longer than it is, never shorter. (A
// candidate's work cannot be held back until the host is done, as a device-code plan's is: what it put on a stream of its own
// meanwhile would be over before the interval begins.)
//
// A library that a task names is called by host code of Hone's own, which does none of that. Its sample is timed as a plan's is:
// its calls on all buffer sets are recorded as one graph, and the graph is held back until it and the marks around it are
// enqueued. Calls that cannot be recorded are enqueued one by one between the marks, held back likewise.
#pragma once

#include <memory>
#include <string>

#include "tuner/device/device_session.h"

namespace hone {

// The device's side of a host function: a stream for it, and the time between two marks on that.
// Not thread-safe. After a Wait that is not kOk the device is to be considered lost.
class HostStream {
 public:
  virtual ~HostStream() = default;
  virtual void* handle() = 0;                              // what the function is given: a CUstream
  // What is put on the stream between the two is taken down as a graph and not run. false: it cannot be; nothing of it has run.
  virtual Result<bool> StartRecording() { return false; }
  virtual Result<bool> EndRecording() { return false; }
  virtual Status Replay() { return Status::Ok(); }         // enqueues what was recorded last
  // Holds back what is enqueued from now on until Release, for 20 ms at most.
  virtual Status Hold() { return Status::Ok(); }
  virtual void Release() {}
  virtual Status MarkStart() = 0;
  virtual Status MarkEnd() = 0;
  virtual LaunchOutcome Wait(double limit_seconds) = 0;    // until all work up to MarkEnd is done
  virtual Result<double> IntervalUs() = 0;                 // between the marks, after Wait
};

class HostModeSession : public DeviceSession {
 public:
  HostModeSession(std::unique_ptr<DeviceSession> inner, std::unique_ptr<HostStream> stream)
      : inner_(std::move(inner)), stream_(std::move(stream)) {}
  ~HostModeSession() override;

  const DeviceFacts& facts() const override { return inner_->facts(); }
  bool lost() const override { return lost_ || inner_->lost(); }
  // A candidate in host mode: its library is loaded, which runs its static initialisers. Only in a confined process.
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
  // Waits until the wrapped session has done all it was asked: its work lies on a stream of its own.
  Status Settle(const Bindings& bindings);
  // Calls the plan's function on one set of buffers. kOk: enqueued.
  LaunchOutcome Call(HostProgram& program, const ResolvedPlan& plan, const Bindings& bindings);
  Status FlushCaches();
  Status WarmUp();  // where the device may have rested
  // kOk: all sets' calls are enqueued.
  LaunchOutcome CallAll(HostProgram& program, const SampleRequest& request);

  std::unique_ptr<DeviceSession> inner_;
  std::unique_ptr<HostStream> stream_;
  std::unique_ptr<Arena> flush_;  // made when first needed: four times L2, all zero
  double last_timed_ = 0;         // when the last sample of a host function ended; 0: none yet
  bool lost_ = false;
};

}  // namespace hone
