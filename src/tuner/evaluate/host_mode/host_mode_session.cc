// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See host_mode_session.h.
#include "tuner/evaluate/host_mode/host_mode_session.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/clock.h"
#include "tuner/core/plan/argument_layout.h"
#include "tuner/evaluate/host_mode/host_entry.h"
#include "tuner/evaluate/host_mode/host_library.h"

namespace hone {
namespace {

constexpr int64_t kSmallestFlush = 1 << 20;  // least bytes of the buffer that flushes caches
// After kIdleSeconds without work, the GPU is given work for kWarmUpSeconds before a sample, because its clocks fall
// when it is idle and take milliseconds to rise.
constexpr double kIdleSeconds = 0.1;
constexpr double kWarmUpSeconds = 0.02;

LaunchOutcome RefusedLaunch(LaunchStatus status, std::string detail) {
  LaunchOutcome outcome;
  outcome.status = status;
  outcome.detail = std::move(detail);
  return outcome;
}

// Returns the address of an argument, or 0 when nothing is bound to its name.
uint64_t AddressOf(const ResolvedArgument& argument, const Bindings& bindings) {
  if (argument.kind == ArgumentKind::kTensor) {
    const auto found = bindings.tensors.find(argument.name);
    return found == bindings.tensors.end() ? 0 : found->second.address;
  }
  if (argument.kind == ArgumentKind::kWorkspace) {
    const auto found = bindings.workspaces.find(argument.name);
    return found == bindings.workspaces.end() ? 0 : found->second;
  }
  return 0;
}

}  // namespace

class HostModeSession::HostProgram : public LoadedProgram {
 public:
  std::vector<KernelResources> Resources() const override { return {}; }
  Result<int64_t> Occupancy(const std::string& kernel, const std::string&, int64_t, int64_t) const override {
    return Status::InvalidArgument(fmt::format("'{}' is a host function: it has no occupancy", kernel));
  }
  int64_t WritableGlobalBytes() const override { return 0; }

  std::map<std::string, std::unique_ptr<HostLibrary>> libraries;  // keyed by binding key
};

HostModeSession::~HostModeSession() {
  if (!lost()) return;
  // A device that was lost may hang, so the destructors of stream and buffer must not run. The process is about to end.
  (void)stream_.release();
  (void)flush_.release();
}

Result<DeviceSession::LoadOutcome> HostModeSession::Load(const CompiledProgram& program) {
  if (!program.candidate.plan.host_mode) return inner_->Load(program);
  LoadOutcome outcome;
  auto loaded = std::make_unique<HostProgram>();
  for (const auto& [key, module] : program.modules) {
    Result<std::unique_ptr<HostLibrary>> library = HostLibrary::Load(module.image);
    if (!library.ok()) {
      if (library.status().code() != StatusCode::kInvalidArgument) return library.status();
      outcome.launch = RefusedLaunch(LaunchStatus::kLaunchError, library.status().message());
      return outcome;
    }
    loaded->libraries.emplace(key, std::move(*library));
  }
  outcome.program = std::move(loaded);
  return outcome;
}

Result<bool> HostModeSession::GlobalsChanged(LoadedProgram& program) {
  if (dynamic_cast<HostProgram*>(&program) != nullptr)
    return false;  // a host function's variables cannot be compared, which is a part of the weaker guarantee
  return inner_->GlobalsChanged(program);
}

Status HostModeSession::Settle(const Bindings& bindings) {
  for (const auto& [name, view] : bindings.tensors) {
    if (view.span_bytes == 0) continue;
    uint8_t byte;
    return inner_->CopyToHost(&byte, view.address, 1);  // returns after all earlier work of the session
  }
  return Status::Ok();
}

LaunchOutcome HostModeSession::Call(HostProgram& program, const ResolvedPlan& plan, const Bindings& bindings) {
  for (const ResolvedStep& step : plan.steps) {
    const auto library = program.libraries.find(step.binding_key);
    if (library == program.libraries.end()) {
      return RefusedLaunch(LaunchStatus::kLaunchError,
                           fmt::format("'{}' was not compiled for these tunables", step.kernel));
    }
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<const void*> arguments;
    std::vector<size_t> sizes;
    bytes.reserve(step.args.size());
    for (const ResolvedArgument& argument : step.args) {
      if (argument.kind == ArgumentKind::kTensorMap) {
        return RefusedLaunch(LaunchStatus::kUnsupported,
                             "a host function makes its own tensor maps; pass it the tensor");
      }
      bool unbound = false;
      bytes.push_back(PackArgument(argument, [&](const ResolvedArgument& pointer) {
        const uint64_t address = AddressOf(pointer, bindings);
        unbound = unbound || address == 0;
        return inner_->LaunchAddress(address);
      }));
      if (unbound)
        return RefusedLaunch(LaunchStatus::kLaunchError, fmt::format("'{}' is bound to no memory", argument.name));
      arguments.push_back(bytes.back().data());
      sizes.push_back(bytes.back().size());
    }
    if (const std::string mismatch = library->second->Mismatch(sizes); !mismatch.empty()) {
      return RefusedLaunch(LaunchStatus::kLaunchError, fmt::format("{}: {}", step.kernel, mismatch));
    }
    const int answer = library->second->Call(arguments, stream_->handle());
    if (answer == kHostCallThrew)
      return RefusedLaunch(LaunchStatus::kCrashed, fmt::format("{} threw an exception", step.kernel));
    if (answer != 0)
      return RefusedLaunch(LaunchStatus::kLaunchError, fmt::format("{} returned {}", step.kernel, answer));
  }
  return LaunchOutcome();
}

Result<LaunchOutcome> HostModeSession::Launch(LoadedProgram& program, const LaunchRequest& request) {
  auto* host = dynamic_cast<HostProgram*>(&program);
  if (host == nullptr) return inner_->Launch(program, request);
  HONE_RETURN_IF_ERROR(Settle(*request.bindings));
  LaunchOutcome called = Call(*host, *request.plan, *request.bindings);
  // The end is marked even after a refusal: part of the work may be on the device.
  HONE_RETURN_IF_ERROR(stream_->MarkEnd());
  const LaunchOutcome done = stream_->Wait(request.limit_seconds);
  if (done.status != LaunchStatus::kOk) lost_ = true;
  return called.status != LaunchStatus::kOk ? called : done;
}

Status HostModeSession::FlushCaches() {
  const int64_t bytes = std::max(kSmallestFlush, 4 * facts().l2_bytes);
  if (flush_ == nullptr) {
    HONE_ASSIGN_OR_RETURN(flush_, inner_->Allocate({{.bytes = bytes}}, /*gap_key=*/1));
    HONE_RETURN_IF_ERROR(inner_->Fill(flush_->address(0), bytes, 0));
  }
  HONE_ASSIGN_OR_RETURN(const bool zero, inner_->IsZero(flush_->address(0), bytes));  // reads the whole buffer
  return zero ? Status::Ok() : Status::Device("the memory read to flush caches was overwritten");
}

Status HostModeSession::WarmUp() {
  if (last_timed_ != 0 && SteadySeconds() - last_timed_ < kIdleSeconds) return Status::Ok();
  for (const Stopwatch watch; watch.Seconds() < kWarmUpSeconds;) HONE_RETURN_IF_ERROR(FlushCaches());
  return Status::Ok();
}

LaunchOutcome HostModeSession::CallAll(HostProgram& program, const SampleRequest& request) {
  LaunchOutcome called;
  for (const Bindings* set : request.sets) {
    called = Call(program, *request.plan, *set);
    if (called.status != LaunchStatus::kOk) break;
  }
  return called;
}

Result<SampleOutcome> HostModeSession::TimeSample(const SampleRequest& request) {
  auto* host = dynamic_cast<HostProgram*>(request.program);
  if (host == nullptr) return inner_->TimeSample(request);
  SampleOutcome outcome;
  HONE_RETURN_IF_ERROR(WarmUp());
  HONE_RETURN_IF_ERROR(Settle(*request.sets.front()));
  bool recorded = false;
  if (request.trusted) {
    HONE_ASSIGN_OR_RETURN(const bool recording, stream_->StartRecording());
    if (recording) {
      // Calls that fail while they are recorded may succeed without recording; they are repeated below.
      const bool called = CallAll(*host, request).status == LaunchStatus::kOk;
      HONE_ASSIGN_OR_RETURN(const bool recorded_fully, stream_->EndRecording());
      recorded = called && recorded_fully;
    }
  }
  if (request.cache == CacheState::kCold) {
    HONE_RETURN_IF_ERROR(FlushCaches());
  } else {
    for (const Bindings* set : request.sets) {
      for (const auto& [name, view] : set->tensors) {
        if (view.span_bytes == 0) continue;
        HONE_RETURN_IF_ERROR(inner_->IsZero(view.address, view.span_bytes).status());
      }
    }
  }
  HONE_RETURN_IF_ERROR(Settle(*request.sets.front()));
  if (request.trusted) HONE_RETURN_IF_ERROR(stream_->Hold());
  const auto enqueue = [&]() -> Status {
    HONE_RETURN_IF_ERROR(stream_->MarkStart());
    if (recorded) {
      HONE_RETURN_IF_ERROR(stream_->Replay());
    } else {
      outcome.launch = CallAll(*host, request);
    }
    return stream_->MarkEnd();
  };
  const Status enqueued = enqueue();
  if (request.trusted) stream_->Release();
  HONE_RETURN_IF_ERROR(enqueued);
  LaunchOutcome done = stream_->Wait(request.limit_seconds);
  last_timed_ = SteadySeconds();
  if (done.status != LaunchStatus::kOk) {
    lost_ = true;
    if (outcome.launch.status == LaunchStatus::kOk) outcome.launch = std::move(done);
  }
  if (outcome.launch.status != LaunchStatus::kOk) return outcome;
  HONE_ASSIGN_OR_RETURN(const double interval_us, stream_->IntervalUs());
  outcome.us_per_plan = interval_us / static_cast<double>(request.sets.size());
  return outcome;
}

}  // namespace hone
