// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares one execution of a launch plan: finds functions, packs arguments and checks them against the kernel's own
// parameter list, opts in to shared memory, chooses attributes. All such errors are found before enqueueing.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/cuda/argument_pack.h"
#include "tuner/device/cuda/calls/library_calls.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/device_session.h"

namespace hone {

class CudaProgram;

struct PreparedStep {
  bool is_memset = false;
  std::shared_ptr<const PreparedCall> call;  // a library call; null: a launch or a memset
  bool is_launch() const { return !is_memset && call == nullptr; }

  CUfunction function = nullptr;
  std::string kernel;  // used in messages
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{0, 0, 0};
  unsigned shared_bytes = 0;
  bool cooperative = false;
  bool programmatic = false;  // may start while the previous step of the same plan ends
  std::vector<PackedArgument> arguments;

  CUdeviceptr target = 0;
  uint8_t value = 0;
  size_t bytes = 0;

  std::vector<void*> Pointers() const;  // pointers into `arguments`, in the driver's form
  std::string Describe() const;         // "silu<4>, grid 128x1x1, block 256x1x1"
};

using PreparedPlan = std::vector<PreparedStep>;

// Either a plan, or an error (kLaunchError, kResourceLimit or kUnsupported).
struct Preparation {
  PreparedPlan plan;
  LaunchOutcome outcome;
};

// Prepares a plan. May raise the dynamic shared memory that a kernel of `program` is allowed. `as_seen`: the plan is a
// candidate's, and gets the addresses that candidates see (CudaContext::Seen). A plan with library calls may wait for
// earlier work here.
Preparation PreparePlan(CudaContext& context, const DeviceFacts& facts, CudaProgram& program, LibraryCalls& calls, const ResolvedPlan& plan,
                        const Bindings& bindings, bool as_seen);

// Enqueues one step; returns the driver's error.
CUresult EnqueueStep(const CudaContext& context, const PreparedStep& step);

// Returns an error text when `arguments` do not match the kernel's parameters; nullopt when they do. Pure.
std::optional<std::string> ParameterMismatch(const std::string& kernel, const std::vector<PackedArgument>& arguments,
                                             const std::vector<size_t>& parameter_bytes);

}  // namespace hone
