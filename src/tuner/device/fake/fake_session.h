// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements a device from host memory and C++ lambdas, for testing the users of DeviceSession: the judge and the
// paired timer, with honest kernels and with cheats, without a GPU and in milliseconds.
//
// A kernel is a lambda registered under the name that plans use. Memory, guard zones, draws, comparisons and digests
// are real (host_tensor_ops, arena_layout); time is scripted: each kernel states its cost, and the device adds noise.
// Device globals are restored before launches, as on a real device; a lambda's captures are never restored, so they
// model the strongest cheat by kept state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"
#include "tuner/device/host_tensor_ops.h"

namespace hone {

// Gives a kernel access to one launch of one step. Tensors and workspaces have the names of the task and the plan,
// references "ref:NAME"; elements are numbered row-major, whatever the strides.
class FakeLaunch {
 public:
  FakeLaunch(const ResolvedStep& step, const Bindings& bindings, std::map<std::string, int64_t>& globals,
             int64_t execution)
      : step_(step), bindings_(bindings), globals_(globals), execution_(execution) {}

  const ResolvedStep& step() const { return step_; }
  const Bindings& bindings() const { return bindings_; }
  int64_t execution() const { return execution_; }  // number of this execution among all executions of the program,
                                                    // from 0
  int64_t Integer(size_t argument) const;           // value of the step's argument number `argument`, which is an
                                                    // integer
  double Scalar(size_t argument) const;             // value of the step's argument, a 4- or 8-byte floating-point
                                                    // number

  int64_t Elements(std::string_view tensor) const { return Tensor(tensor).elements; }
  int64_t Extent(std::string_view tensor, size_t axis) const { return Tensor(tensor).shape.at(axis); }
  double Read(std::string_view tensor, int64_t element) const;
  void Write(std::string_view tensor_or_reference, int64_t element, double value);
  char* Address(const std::string& tensor_or_workspace) const;

  // Returns a variable that imitates a `__device__` one: 0 at the start of every launch.
  int64_t& Global(const std::string& name) { return globals_[name]; }

  // Writes an element after the launch, or after the timed interval that it belongs to: a kernel whose work goes on
  // when the device reports its end.
  void WriteLate(const std::string& tensor, int64_t element, double value);

  // Ends the launch with an error; the lambda should return right after.
  void Crash(const std::string& why) { Fail(LaunchStatus::kCrashed, why); }
  void Hang() { Fail(LaunchStatus::kTimedOut, "the kernel did not finish in time"); }
  void Fail(LaunchStatus status, const std::string& detail);
  const LaunchOutcome& outcome() const { return outcome_; }
  std::vector<std::function<void()>> TakeLate() { return std::move(late_); }

 private:
  // A tensor or a reference with its name. Kernels look up a name for each element, so places are cached: there are
  // few.
  struct Place {
    std::string name;
    const TensorView* view;  // null for a reference
    double* reference;       // null for a tensor
    bool dense;              // row-major without gaps: an element's offset is its number
    int64_t element_bytes;
  };
  const Place& Find(std::string_view name) const;
  const TensorView& Tensor(std::string_view name) const;
  char* Element(const Place& tensor, int64_t element) const;

  const ResolvedStep& step_;
  const Bindings& bindings_;
  std::map<std::string, int64_t>& globals_;
  int64_t execution_;
  LaunchOutcome outcome_;
  std::vector<std::function<void()>> late_;
  mutable std::vector<Place> places_;
};

// Information that a kernel may use to compute its cost.
struct FakeTiming {
  CacheState cache = CacheState::kCold;
  bool repeats_addresses = false;  // the previous plan execution in the sample used the same buffers
  int64_t sample = 0;              // number of the timed sample on this session, from 0
};

struct FakeKernel {
  std::function<void(FakeLaunch&)> run;
  std::function<double(const FakeTiming&)> microseconds = [](const FakeTiming&) { return 100.0; };
  LaunchStatus load = LaunchStatus::kOk;  // kResourceLimit, …: the program does not load
  KernelResources resources;
};

// The script of a device. Functions may be empty: then there is no noise, and the clock is steady.
struct FakeDevice {
  DeviceFacts facts = DefaultFacts();
  std::map<std::string, FakeKernel> kernels;          // keyed by name expression, tunables replaced
  double call_microseconds = 5;                       // time of each library call
  std::function<double()> log_noise;                  // relative noise of each timed sample
  std::function<DeviceCondition(int64_t)> condition;  // argument: number of the call, from 0
  int64_t lost_after_launches = -1;                   // number of launches after which the device is lost; -1: never
  bool lost_after_crash = false;                      // a crash or hang loses the session

  static DeviceFacts DefaultFacts();  // "fake", not modelled, 64 MiB of memory, 1 MiB of L2, 1 GB/s
};

// Not thread-safe, as DeviceSession says.
class FakeSession : public DeviceSession {
 public:
  explicit FakeSession(FakeDevice device);
  ~FakeSession() override;

  const DeviceFacts& facts() const override { return device_.facts; }
  bool lost() const override { return lost_; }
  Result<LoadOutcome> Load(const CompiledProgram& program) override;
  Result<bool> GlobalsChanged(LoadedProgram& program) override;
  Result<std::unique_ptr<Arena>> Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) override;
  Result<std::optional<std::string>> CheckGaps(Arena& arena) override;
  int64_t FreeBytes() const override;
  Status Draw(const DrawRequest& request) override;
  Status Poison(const TensorView& view) override;
  Status FillWith(const TensorView& view, const FillSpec& fill) override;
  Status Fill(uint64_t address, int64_t bytes, uint8_t value) override;
  Result<bool> IsZero(uint64_t address, int64_t bytes) override;
  Status CopyFromHost(uint64_t address, const void* source, int64_t bytes) override;
  Status CopyToHost(void* destination, uint64_t address, int64_t bytes) override;
  Status GatherSlices(const TensorView& source, const TensorView& destination,
                      const std::vector<int64_t>& slices) override;
  Status GatherBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices) override {
    HONE_RETURN_IF_ERROR(Alive());
    return host::GatherBox(source, destination, kept_indices);
  }
  Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) override;
  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) override;
  Result<std::vector<uint64_t>> Digest(const TensorView& view, uint64_t key) override;
  Result<SampleOutcome> TimeSample(const SampleRequest& request) override;
  Result<double> TimeFloor(const Traffic& traffic, int sets, CacheState cache) override;
  Result<DeviceCondition> Condition() override;

  // For tests: counts of calls.
  int64_t launches() const { return launches_; }  // plan executions, timed ones included
  int64_t timed_samples() const { return samples_; }
  int64_t allocated_bytes() const { return *allocated_; }
  int64_t peak_allocated_bytes() const { return peak_allocated_; }

 private:
  class Graveyard;
  class Memory;
  class Program;
  Status Alive() const;
  // Runs all steps on one set of buffers; adds their cost to `microseconds`.
  LaunchOutcome Execute(Program& program, const ResolvedPlan& plan, const Bindings& bindings, const FakeTiming& timing,
                        double* microseconds);
  // Makes the writes that FakeLaunch::WriteLate has kept.
  void RunLate();

  FakeDevice device_;
  bool lost_ = false;  // the fake device has failed
  std::vector<std::function<void()>> late_;  // by FakeLaunch::WriteLate; RunLate makes these writes
  int64_t launches_ = 0, samples_ = 0, conditions_ = 0;
  std::shared_ptr<int64_t> allocated_ = std::make_shared<int64_t>(0);  // bytes; shared with arenas, which may outlive a
                                                                       // lost session
  int64_t peak_allocated_ = 0;
  std::shared_ptr<Graveyard> graveyard_;  // shared with arenas, which may outlive a lost session
};

}  // namespace hone
