// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/sim_program.h"

#include <fmt/format.h>

#include "tuner/device/sim/model/sim_model.h"

namespace hone::sim {

int64_t SimModule::StaticShared(const std::string& kernel) const {
  for (const KernelResources& r : resources) {
    if (r.kernel == kernel) return r.static_shared_bytes;
  }
  return symbols.static_shared;
}

std::vector<KernelResources> SimProgram::Resources() const {
  std::vector<KernelResources> kernel_resources;
  for (const auto& [key, module] : modules)
    kernel_resources.insert(kernel_resources.end(), module.resources.begin(), module.resources.end());
  return kernel_resources;
}

Result<int64_t> SimProgram::Occupancy(const std::string& kernel, const std::string& binding_key, int64_t block_threads,
                                      int64_t shared_bytes) const {
  const auto module = modules.find(binding_key);
  if (module == modules.end() || module->second.lowered.count(kernel) == 0) {
    return Status::InvalidArgument(fmt::format("kernel '{}' is not in the program", kernel));
  }
  return BlocksPerSm(gpu_.facts, block_threads, shared_bytes + module->second.StaticShared(kernel));
}

int64_t SimProgram::WritableGlobalBytes() const {
  int64_t bytes = 0;
  for (const auto& [key, module] : modules) {
    for (const DeviceGlobal& global : module.symbols.globals) bytes += global.bytes;
  }
  return bytes;
}

}  // namespace hone::sim
