// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/plan_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tuner/device/cuda/cuda_program.h"
#include "tuner/device/cuda/launch_errors.h"
#include "tuner/device/cuda/tensor_map.h"

namespace hone {
namespace {

constexpr int64_t kPortableCluster = 8;  // blocks in a cluster that every device allows; more need an opt-in

LaunchOutcome RefusedLaunch(LaunchStatus status, std::string detail) {
  LaunchOutcome outcome;
  outcome.status = status;
  outcome.detail = std::move(detail);
  return outcome;
}

// Returns three extents as the driver takes them; nullopt: one is out of range.
std::optional<std::array<unsigned, 3>> LaunchExtents(const std::array<int64_t, 3>& values, int64_t least_extent) {
  std::array<unsigned, 3> extents{};
  for (size_t i = 0; i < 3; ++i) {
    if (values[i] < least_extent || values[i] > std::numeric_limits<int32_t>::max()) return std::nullopt;
    extents[i] = static_cast<unsigned>(values[i]);
  }
  return extents;
}

std::string ExtentsText(const std::array<int64_t, 3>& v) { return fmt::format("{}x{}x{}", v[0], v[1], v[2]); }

// Fills `prepared` from a launch step. Returns kOk, or the candidate's error.
LaunchOutcome PrepareKernel(CudaContext& context, const DeviceFacts& facts, CudaProgram& program,
                            const ResolvedStep& step, const Bindings& bindings, const EncodedTensorMaps& maps,
                            const AddressSeen& address_seen, bool after_launch, PreparedStep& prepared) {
  CudaKernel* kernel = program.Find(step.kernel, step.binding_key);
  if (kernel == nullptr) {
    return RefusedLaunch(LaunchStatus::kLaunchError,
                         fmt::format("kernel {} is not in the compiled program", step.kernel));
  }
  prepared.function = kernel->function;
  prepared.kernel = step.kernel;
  const auto grid = LaunchExtents(step.grid, 1), block = LaunchExtents(step.block, 1),
             cluster = LaunchExtents(step.cluster, 0);
  if (!grid || !block || !cluster) {
    return RefusedLaunch(LaunchStatus::kLaunchError,
                         fmt::format("{}: grid {}, block {}, cluster {}: an extent is out of range", step.kernel,
                                     ExtentsText(step.grid), ExtentsText(step.block), ExtentsText(step.cluster)));
  }
  prepared.grid = *grid;
  prepared.block = *block;
  prepared.cluster = *cluster;

  // Each extent is checked first: the product of three large ones could overflow.
  const bool too_long = std::any_of(step.block.begin(), step.block.end(),
                                    [&](int64_t extent) { return extent > facts.max_threads_per_block; });
  const int64_t threads = too_long ? 0 : step.block[0] * step.block[1] * step.block[2];
  if (too_long || threads > facts.max_threads_per_block) {
    return RefusedLaunch(LaunchStatus::kLaunchError,
                         fmt::format("{}: a block of {} has more than the {} threads a block may have", step.kernel,
                                     ExtentsText(step.block), facts.max_threads_per_block));
  }
  if (threads > kernel->max_threads) {
    return RefusedLaunch(LaunchStatus::kResourceLimit,
                  fmt::format("{}: {} threads a block, but with {} registers a thread (or its launch bounds) at most {} fit",
                              step.kernel, threads, kernel->registers, kernel->max_threads));
  }

  if (step.shared_bytes < 0 || kernel->static_shared_bytes + step.shared_bytes > facts.smem_optin) {
    return RefusedLaunch(LaunchStatus::kResourceLimit,
                  fmt::format("{}: {} bytes of dynamic and {} of static shared memory; a block may have {}", step.kernel,
                              step.shared_bytes, kernel->static_shared_bytes, facts.smem_optin));
  }
  if (step.shared_bytes > kernel->dynamic_shared_allowed) {
    const CUresult raised = context.driver().FuncSetAttribute(
        kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(step.shared_bytes));
    if (raised != CUDA_SUCCESS) {
      return RefusedLaunch(LaunchStatus::kResourceLimit,
                           fmt::format("{}: {} bytes of dynamic shared memory were refused: {}", step.kernel,
                                       step.shared_bytes, context.driver().Describe(raised)));
    }
    kernel->dynamic_shared_allowed = step.shared_bytes;
  }
  prepared.shared_bytes = static_cast<unsigned>(step.shared_bytes);

  if (prepared.cluster[0] != 0) {
    if (facts.cc_major < 9) {
      return RefusedLaunch(LaunchStatus::kUnsupported,
                           fmt::format("{}: clusters need compute capability 9.0; {} has {}.{}", step.kernel,
                                       facts.name, facts.cc_major, facts.cc_minor));
    }
    for (size_t i = 0; i < 3; ++i) {
      if (step.cluster[i] < 1 || step.grid[i] % step.cluster[i] != 0) {
        return RefusedLaunch(LaunchStatus::kLaunchError,
                             fmt::format("{}: grid {} is not a multiple of cluster {}", step.kernel,
                                         ExtentsText(step.grid), ExtentsText(step.cluster)));
      }
    }
    if (step.cluster[0] * step.cluster[1] * step.cluster[2] > kPortableCluster) {
      // A device without larger clusters refuses this, and the launch then reports it.
      context.driver().FuncSetAttribute(kernel->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    }
  }
  prepared.cooperative = step.cooperative;
  // Only a launch right after a launch of this plan may overlap it: the first must not start before the harness's work
  // is done.
  prepared.programmatic = step.programmatic_dependent_launch && after_launch;
  if (prepared.programmatic && facts.cc_major < 9) {
    return RefusedLaunch(LaunchStatus::kUnsupported,
                         fmt::format("{}: programmatic dependent launch needs compute capability 9.0", step.kernel));
  }

  Result<std::vector<PackedArgument>> arguments = PackArguments(step.args, bindings, maps, address_seen);
  if (!arguments.ok()) {
    return RefusedLaunch(LaunchStatus::kLaunchError, fmt::format("{}: {}", step.kernel, arguments.status().message()));
  }
  prepared.arguments = std::move(*arguments);
  if (std::optional<std::string> mismatch = ParameterMismatch(step.kernel, prepared.arguments, kernel->parameter_bytes)) {
    return RefusedLaunch(LaunchStatus::kLaunchError, *mismatch);
  }
  return LaunchOutcome();
}

// Fills `prepared` from a memset step. Returns kOk, or the candidate's error.
LaunchOutcome PrepareMemset(const ResolvedPlan& plan, const ResolvedStep& step, const Bindings& bindings,
                            const AddressSeen& address_seen, PreparedStep& prepared) {
  prepared.is_memset = true;
  prepared.kernel = "memset " + step.target;
  int64_t available = 0;
  if (const auto tensor = bindings.tensors.find(step.target); tensor != bindings.tensors.end()) {
    prepared.target = tensor->second.address;
    available = tensor->second.span_bytes;
  } else if (const auto workspace = bindings.workspaces.find(step.target); workspace != bindings.workspaces.end()) {
    prepared.target = workspace->second;
    for (const ResolvedWorkspace& plan_workspace : plan.workspaces) {
      if (plan_workspace.name == step.target) available = plan_workspace.bytes;
    }
  } else {
    return RefusedLaunch(LaunchStatus::kLaunchError, fmt::format("memset: {} is not bound to memory", step.target));
  }
  if (step.memset_bytes < 0 || step.memset_bytes > available) {
    return RefusedLaunch(LaunchStatus::kLaunchError,
                  fmt::format("memset of {} bytes; {} has {}", step.memset_bytes, step.target, available));
  }
  if (address_seen) prepared.target = address_seen(prepared.target);
  prepared.value = static_cast<uint8_t>(step.memset_value);
  prepared.bytes = static_cast<size_t>(step.memset_bytes);
  return LaunchOutcome();
}

// Fills `prepared` from a library call. Returns kOk, or the candidate's error.
LaunchOutcome PrepareCall(LibraryCalls& calls, const ResolvedCall& call, const Bindings& bindings,
                          const AddressSeen& address_seen, PreparedStep& prepared) {
  prepared.kernel = call.Describe();
  std::string unbound;
  const auto address = [&](const ResolvedOperand& operand) -> CUdeviceptr {
    CUdeviceptr base = 0;
    if (const auto tensor = bindings.tensors.find(operand.name); tensor != bindings.tensors.end()) {
      base = tensor->second.address;
    } else if (const auto workspace = bindings.workspaces.find(operand.name); workspace != bindings.workspaces.end()) {
      base = workspace->second;
    } else {
      unbound = operand.name;
    }
    return (address_seen ? address_seen(base) : base) + static_cast<CUdeviceptr>(operand.byte_offset);
  };
  const CallAddresses addresses{
      .a = address(call.a), .b = address(call.b), .bias = call.bias ? address(*call.bias) : 0, .out = address(call.out)};
  if (!unbound.empty())
    return RefusedLaunch(LaunchStatus::kLaunchError,
                         fmt::format("{}: {} is not bound to memory", prepared.kernel, unbound));
  Result<std::shared_ptr<const PreparedCall>> prepared_call = calls.Prepare(call, addresses);
  if (prepared_call.ok()) {
    prepared.call = std::move(*prepared_call);
    return LaunchOutcome();
  }
  const StatusCode code = prepared_call.status().code();
  return RefusedLaunch(code == StatusCode::kUnavailable         ? LaunchStatus::kUnsupported
                       : code == StatusCode::kResourceExhausted ? LaunchStatus::kResourceLimit
                                                                : LaunchStatus::kLaunchError,
                       prepared_call.status().message());
}

}  // namespace

std::vector<void*> PreparedStep::Pointers() const {
  std::vector<void*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const PackedArgument& argument : arguments) pointers.push_back(const_cast<uint8_t*>(argument.bytes.data()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string PreparedStep::Describe() const {
  if (is_memset) return fmt::format("{} ({} bytes)", kernel, bytes);
  if (call != nullptr) return kernel;
  return fmt::format("{}, grid {}x{}x{}, block {}x{}x{}", kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2]);
}

std::optional<std::string> ParameterMismatch(const std::string& kernel, const std::vector<PackedArgument>& arguments,
                                             const std::vector<size_t>& parameter_bytes) {
  if (arguments.size() != parameter_bytes.size()) {
    return fmt::format("{}: the plan passes {} arguments, the kernel takes {}", kernel, arguments.size(), parameter_bytes.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].bytes.size() != parameter_bytes[i]) {
      return fmt::format("{}: {} has {} bytes in the plan, the kernel's parameter has {}", kernel, arguments[i].name,
                         arguments[i].bytes.size(), parameter_bytes[i]);
    }
  }
  return std::nullopt;
}

Preparation PreparePlan(CudaContext& context, const DeviceFacts& facts, CudaProgram& program, LibraryCalls& calls, const ResolvedPlan& plan,
                        const Bindings& bindings, bool as_seen) {
  Preparation preparation;
  AddressSeen address_seen;
  if (as_seen) address_seen = [&context](uint64_t address) { return context.Seen(address); };
  EncodedTensorMaps maps;
  if (!plan.tensor_maps.empty()) {
    if (facts.cc_major < 9) {
      preparation.outcome = RefusedLaunch(LaunchStatus::kUnsupported, "tensor maps need compute capability 9.0");
      return preparation;
    }
    Bindings shown = bindings;
    if (address_seen) {
      for (auto& [name, view] : shown.tensors) view.address = address_seen(view.address);
      for (auto& [name, address] : shown.workspaces) address = address_seen(address);
    }
    Result<EncodedTensorMaps> encoded = EncodeTensorMaps(context.driver(), plan, shown);
    if (!encoded.ok()) {
      preparation.outcome = RefusedLaunch(LaunchStatus::kLaunchError, encoded.status().message());
      return preparation;
    }
    maps = std::move(*encoded);
  }
  bool after_launch = false;
  for (const ResolvedStep& step : plan.steps) {
    PreparedStep& prepared = preparation.plan.emplace_back();
    preparation.outcome = step.call        ? PrepareCall(calls, *step.call, bindings, address_seen, prepared)
                          : step.is_memset ? PrepareMemset(plan, step, bindings, address_seen, prepared)
                                           : PrepareKernel(context, facts, program, step, bindings, maps, address_seen,
                                                           after_launch, prepared);
    if (preparation.outcome.status != LaunchStatus::kOk) return preparation;
    after_launch = step.is_launch();
  }
  return preparation;
}

CUresult EnqueueStep(const CudaContext& context, const PreparedStep& step) {
  const CudaDriver& driver = context.driver();
  if (step.call != nullptr) return step.call->Enqueue(context.stream());
  if (step.is_memset) {
    if (step.bytes == 0) return CUDA_SUCCESS;
    return driver.MemsetD8Async(step.target, step.value, step.bytes, context.stream());
  }
  std::array<CUlaunchAttribute, 3> attributes{};
  unsigned count = 0;
  if (step.cluster[0] != 0) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count].value.clusterDim.x = step.cluster[0];
    attributes[count].value.clusterDim.y = step.cluster[1];
    attributes[count].value.clusterDim.z = step.cluster[2];
    ++count;
  }
  if (step.cooperative) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[count].value.cooperative = 1;
    ++count;
  }
  if (step.programmatic) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count].value.programmaticStreamSerializationAllowed = 1;
    ++count;
  }
  CUlaunchConfig config{};
  config.gridDimX = step.grid[0];
  config.gridDimY = step.grid[1];
  config.gridDimZ = step.grid[2];
  config.blockDimX = step.block[0];
  config.blockDimY = step.block[1];
  config.blockDimZ = step.block[2];
  config.sharedMemBytes = step.shared_bytes;
  config.hStream = context.stream();
  config.attrs = attributes.data();
  config.numAttrs = count;
  std::vector<void*> pointers = step.Pointers();
  return driver.LaunchKernelEx(&config, step.function, pointers.data(), nullptr);
}

}  // namespace hone
