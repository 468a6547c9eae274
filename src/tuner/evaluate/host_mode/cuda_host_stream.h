// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes the stream on which a host-mode candidate enqueues its work on a real GPU, and the session of a
// worker that judges such candidates.
#pragma once

#include <memory>

#include "hone/base/status.h"
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/host_mode/host_mode_session.h"

namespace hone {

// Makes a stream in the context current on this thread, that of a CUDA session made before. kUnavailable without a
// driver.
Result<std::unique_ptr<HostStream>> MakeCudaHostStream();

// Makes a CUDA session that also runs host-mode programs. Call it only in a process confined by HostModeWorkerPolicy.
Result<std::unique_ptr<DeviceSession>> MakeHostModeCudaSession(const CudaSessionOptions& options);

}  // namespace hone
