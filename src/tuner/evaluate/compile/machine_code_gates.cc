// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/compile/machine_code_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace hone {
namespace {

// Returns whether a module may call this function of the driver. vprintf is allowed because the host drains its buffer,
// so that a kernel cannot read anything back from it.
bool IsProvidedByDriver(const std::string& name) { return name == "vprintf" || name == "__assertfail"; }
bool IsDeviceHeap(const std::string& name) {
  return name == "malloc" || name == "free" || name == "__nv_aligned_device_malloc";
}

// Rejects `module` if its machine code breaks a rule or lacks one of `kernels`.
void RejectForbidden(const CubinInfo& cubin, const std::vector<std::string>& kernels, CompiledModule& module) {
  for (const std::string& name : cubin.externs) {
    if (IsDeviceHeap(name)) {
      return RejectModule(
          module, Verdict::kRuleViolation,
          fmt::format("the kernel calls {} on the device: the device heap keeps state between launches. "
                      "Declare a [[workspace]] in the launch plan instead.\n",
                      name));
    }
  }
  if (!cubin.managed.empty()) {
    return RejectModule(module, Verdict::kRuleViolation,
                        fmt::format("'{}' is a __managed__ variable, which keeps state and is shared with the host. "
                                    "Declare a [[workspace]] in the launch plan instead.\n",
                                    cubin.managed.front()));
  }
  for (const std::string& name : cubin.externs) {
    if (IsProvidedByDriver(name)) continue;
    if (name.starts_with("cuda") || name.starts_with("__cudaCDP") || name.starts_with("cnp")) {
      return RejectModule(
          module, Verdict::kUnsupported,
          fmt::format("the kernel uses the device runtime ({}): launches from the device are not supported. "
                      "Put the launches into the plan as steps.\n",
                      name));
    }
    return RejectModule(module, Verdict::kCompileError, fmt::format("undefined function '{}'\n", name));
  }
  std::set<std::string> symbols;
  for (const KernelResources& kernel : cubin.kernels) symbols.insert(kernel.kernel);
  for (const std::string& kernel : kernels) {
    const auto lowered = module.lowered.find(kernel);
    if (lowered == module.lowered.end() || !symbols.contains(lowered->second)) {
      return RejectModule(module, Verdict::kCompileError,
                          fmt::format("'{}', named by the launch plan, is not a __global__ function\n", kernel));
    }
  }
}

}  // namespace

void RejectModule(CompiledModule& module, Verdict verdict, std::string digest) {
  module.verdict = verdict;
  module.digest = std::move(digest);
  module.image.clear();
}

void TakeMachineCode(CubinInfo cubin, const std::vector<std::string>& kernels, CompiledModule& module) {
  module.labels = cubin.labels;
  if (std::find(cubin.externs.begin(), cubin.externs.end(), "vprintf") != cubin.externs.end()) {
    module.labels.emplace_back("prints");
  }
  module.globals = cubin.globals;
  RejectForbidden(cubin, kernels, module);
  module.resources = std::move(cubin.kernels);
  for (KernelResources& resources : module.resources) {
    for (const auto& [expression, symbol] : module.lowered) {
      if (symbol == resources.kernel) {
        resources.kernel = expression;
        break;
      }
    }
  }
}

}  // namespace hone
