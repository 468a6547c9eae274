// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A DeviceSession on a real GPU, through the driver API.
//
// Draw, Poison, Fill, GatherSlices and CopyFromHost enqueue and return: everything runs on one stream in order,
// and every call that gives a result waits for it, so the difference cannot be observed except in speed.
// A launch of a candidate waits for all earlier work first, so that a failure is laid at the right door.
//
// After a candidate crashed or hung the context is beyond repair (`lost()`): the process that owns the session
// should end, and its owner start another. Destroying a lost session leaves the driver alone, since it would
// wait for the hung kernel.
#pragma once

#include <memory>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"

namespace hone {

struct CudaSessionOptions {
  int ordinal = 0;
  bool counted_by_ncu = false;  // the process runs under `ncu`: Profile only marks what it is to count
  // Device memory lies at secret addresses, and blocks may lie apart (BlockRequest). false: where the driver puts it.
  bool secret_addresses = true;
  // What tests switch off to show what it catches: constant memory is put back and compared, the pages that globals lie in
  // are compared as a whole, shared and local memory are overwritten before each launch of a candidate.
  bool keep_constants = true;
  bool mark_surroundings = true;
  bool scrub = true;
};

// kUnavailable, with the remedy, when there is no driver or no such device.
Result<std::unique_ptr<DeviceSession>> MakeCudaSession(const CudaSessionOptions& options);

// Every GPU the driver shows, in its order; makes no context. kUnavailable, with the remedy, when there is none.
Result<std::vector<DeviceFacts>> ListCudaDevices();

}  // namespace hone
