// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements DeviceSession on the host's CPU: the simulated GPU.
//
// Memory, draws, comparisons and digests are this process's own; kernels run in child processes, one per module, which
// see only the blocks of their launch: no reference results, no other set of buffers, no other program. A child that
// crashes or hangs is replaced at the next launch, and the session continues.
//
// Documented differences from a GPU:
//   * Times are modelled (ModelledCost, DeviceFacts::modelled), of the first set of a sample only. TimeSample and
//     sampled launches run a stratified sample of blocks; outputs are then partial.
//   * Fill with anything but zero is a poisoning: the bytes count as undefined until something is written.
//   * A `sampled` block larger than 4 MiB consists of pieces of one 4 MiB tile of memory, laid out by the key of the
//     drawn values; Draw fills the tile once, without slices.
//   * Programmatic dependent launch runs its steps one after the other. Clusters and tensor maps are `unsupported`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"

namespace hone {

struct SimSessionOptions {
  std::string gpu;                         // h200, h100, a100, rtx4090; empty: the default, an H200
  std::vector<std::string> child_command;  // runs SimChildMain; "--fd N" is added. Empty: this program, "__sim-child"
  int workers = 0;                         // OS threads of a child; 0: one per core
  std::string scratch_directory;           // for line look-ups; empty: /tmp
  std::string host_compiler;               // for facts().driver; empty: "host compiler"
  bool sandbox = true;                     // false: children run unconfined (tests of the runtime alone)
};

// Makes a session. kInvalidArgument for an unknown GPU, with the known names.
Result<std::unique_ptr<DeviceSession>> MakeSimSession(const SimSessionOptions& options);

// Returns the facts of a simulated GPU without a session. "": the default.
Result<DeviceFacts> SimulatedGpuFacts(std::string_view gpu);

}  // namespace hone
