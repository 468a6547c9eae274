// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One execution of a launch plan, made ready: functions found, arguments packed and checked against the kernel's
// own parameter list, shared memory opted in to, attributes chosen. Enqueueing it then cannot surprise.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/cuda/argument_pack.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/library_calls.h"
#include "tuner/device/device_session.h"

namespace hone {

class CudaProgram;

struct PreparedStep {
  bool is_memset = false;
  std::shared_ptr<const PreparedCall> call;  // of a library; null: a launch or a memset
  bool is_launch() const { return !is_memset && call == nullptr; }

  CUfunction function = nullptr;
  std::string kernel;  // for messages
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{0, 0, 0};
  unsigned shared_bytes = 0;
  bool cooperative = false;
  bool programmatic = false;  // may start while the previous step of the same plan ends
  std::vector<PackedArgument> arguments;

  CUdeviceptr target = 0;
  uint8_t value = 0;
  size_t bytes = 0;

  std::vector<void*> Pointers() const;  // into `arguments`, as the driver wants them
  std::string Describe() const;         // "silu<4>, grid 128x1x1, block 256x1x1"
};

using PreparedPlan = std::vector<PreparedStep>;

// Either a plan, or what is wrong with it (kLaunchError, kResourceLimit or kUnsupported).
struct Preparation {
  PreparedPlan plan;
  LaunchOutcome outcome;
};

// May raise the dynamic shared memory a kernel of `program` is allowed. `as_seen`: the plan is a candidate's, and gets the
// addresses that candidates are shown (CudaContext::Seen). A plan with library calls may wait for earlier work here.
Preparation PreparePlan(CudaContext& context, const DeviceFacts& facts, CudaProgram& program, LibraryCalls& calls, const ResolvedPlan& plan,
                        const Bindings& bindings, bool as_seen);

// Enqueues one step; the error is the driver's.
CUresult EnqueueStep(const CudaContext& context, const PreparedStep& step);

// kInvalidArgument-like text when `arguments` are not what the kernel takes; nullopt when they are. Pure.
std::optional<std::string> ParameterMismatch(const std::string& kernel, const std::vector<PackedArgument>& arguments,
                                             const std::vector<size_t>& parameter_bytes);

}  // namespace hone
