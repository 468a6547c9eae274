// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Represents a candidate loaded on the simulated GPU: its modules, each with the child process that runs it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/device_session.h"
#include "tuner/device/sim/image/image_symbols.h"
#include "tuner/device/sim/image/source_lines.h"
#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/device/sim/sim_process.h"

namespace hone::sim {

struct SimModule {
  std::string image;
  ImageSymbols symbols;
  std::map<std::string, std::string> lowered;
  std::vector<KernelResources> resources;
  std::unique_ptr<SimProcess> process;   // null until needed, and after a crash
  std::unique_ptr<SourceLines> lines;
  bool globals_changed = false;          // the module's last launch changed globals

  int64_t StaticShared(const std::string& kernel) const;
};

class SimProgram : public LoadedProgram {
 public:
  SimProgram(const GpuModel& gpu, std::map<std::string, SimModule> loaded)
      : modules(std::move(loaded)), gpu_(gpu) {}

  std::vector<KernelResources> Resources() const override;
  Result<int64_t> Occupancy(const std::string& kernel, const std::string& binding_key, int64_t block_threads,
                            int64_t shared_bytes) const override;
  int64_t WritableGlobalBytes() const override;

  std::map<std::string, SimModule> modules;  // keyed by binding key

 private:
  const GpuModel& gpu_;
};

}  // namespace hone::sim
