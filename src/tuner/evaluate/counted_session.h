// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CountedSession is a DeviceSession that adds up host seconds and calls of each operation of the session it wraps, to
// show where an evaluation's device time goes. Enqueued work is charged to the call that waits for it. A call costs two
// clock readings, under 0.1 us. It also notifies a watchdog, because every launch passes through it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>

#include "tuner/device/device_session.h"

namespace hone {

class CountedSession : public DeviceSession {
 public:
  // `watch` is called before each launch with the launch's time limit in seconds, and with 0 after it. It may be empty.
  explicit CountedSession(DeviceSession& inner, std::function<void(double limit_seconds)> watch = {})
      : inner_(inner), watch_(std::move(watch)) {}

  const DeviceFacts& facts() const override { return inner_.facts(); }
  bool lost() const override { return inner_.lost(); }
  Result<LoadOutcome> Load(const CompiledProgram& program) override;
  Result<bool> GlobalsChanged(LoadedProgram& program) override;
  Result<std::unique_ptr<Arena>> Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) override;
  Result<std::optional<std::string>> CheckGaps(Arena& arena) override;
  int64_t FreeBytes() const override { return inner_.FreeBytes(); }
  Result<bool> Rearrange(Arena& arena, uint64_t key) override;
  uint64_t LaunchAddress(uint64_t address) const override { return inner_.LaunchAddress(address); }
  Status Draw(const DrawRequest& request) override;
  Status Poison(const TensorView& view) override;
  Status FillWith(const TensorView& view, const FillSpec& fill) override;
  Status Fill(uint64_t address, int64_t bytes, uint8_t value) override;
  Result<bool> IsZero(uint64_t address, int64_t bytes) override;
  Status CopyFromHost(uint64_t address, const void* source, int64_t bytes) override;
  Status CopyToHost(void* destination, uint64_t address, int64_t bytes) override;
  Result<std::unique_ptr<SharedBlock>> Share(int64_t bytes) override { return inner_.Share(bytes); }
  bool Shares(const SharedBlock& block) const override { return inner_.Shares(block); }
  Status CopyOnDevice(uint64_t destination, uint64_t source, int64_t bytes) override;
  Status WaitForCopies() override;
  Status GatherSlices(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices) override;
  Status GatherBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices) override;
  Result<ElementRuns> Written(const TensorView& view) override { return inner_.Written(view); }
  Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) override;
  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) override;
  Result<std::vector<uint64_t>> Digest(const TensorView& view, uint64_t key) override;
  Result<std::vector<std::vector<uint64_t>>> DigestMany(const std::vector<TensorView>& views, uint64_t key) override;
  Result<SampleOutcome> TimeSample(const SampleRequest& request) override;
  Result<double> TimeFloor(const Traffic& traffic, int sets, CacheState cache) override;
  Result<DeviceCondition> Condition() override;

  // Adds two metrics for each operation: "session_seconds.draw", "session_calls.draw" and so on.
  void AddTo(std::map<std::string, double>& metrics) const;

 private:
  enum Operation { kLoad, kGlobals, kAllocate, kGaps, kDraw, kPoison, kFill, kIsZero, kCopy, kGather, kLaunch, kCompare,
                   kDigest, kSample, kFloor, kCondition, kOperations };
  class Timed;
  class Watched;
  DeviceSession& inner_;
  std::function<void(double)> watch_;
  struct Total { double seconds = 0; int64_t calls = 0; };
  std::array<Total, kOperations> totals_{};
};

}  // namespace hone
