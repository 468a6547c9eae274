// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements DeviceSession on a real GPU, through the driver API.
//
// Draw, Poison, Fill, GatherSlices and CopyFromHost enqueue and return: everything runs on one stream in order, and
// every call that returns a result waits for it, so only the speed differs. A launch of a candidate first waits for all
// earlier work, so that a failure is attributed correctly.
//
// After a candidate crashed or hung, the context cannot be used again (`lost()`): the process that owns the session
// should end, and its parent should start another. Destroying a lost session does not call the driver, which would wait
// for the hung kernel.
#pragma once

#include <memory>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"

namespace hone {

struct CudaSessionOptions {
  int ordinal = 0;
  bool counted_by_ncu = false;  // the process runs under `ncu`: Profile only marks the range to count
  // Device memory gets secret addresses, and blocks may lie apart (BlockRequest). false: the driver chooses addresses.
  bool secret_addresses = true;
  // The process runs under compute-sanitizer, which sees every access of a candidate. Each block of an arena is then an
  // allocation of its own. Draw computes on the host and copies, and FillWith and Poison do nothing, so that memory is
  // unwritten in the watcher's eyes until a candidate writes it. None of the protections below is active, nor are
  // secret addresses: their kernels would be watched too.
  bool watched = false;
  // Protections that tests switch off to show their effect: constant memory is restored and compared, the pages that
  // contain globals are compared as a whole, shared and local memory are overwritten before each launch of a candidate.
  bool keep_constants = true;
  bool mark_surroundings = true;
  bool scrub = true;
};

// Makes a session. kUnavailable, with the remedy, when there is no driver or no such device.
Result<std::unique_ptr<DeviceSession>> MakeCudaSession(const CudaSessionOptions& options);

// Lists every GPU that the driver reports, in its order; makes no context. kUnavailable, with the remedy, when there is
// none.
Result<std::vector<DeviceFacts>> ListCudaDevices();

}  // namespace hone
