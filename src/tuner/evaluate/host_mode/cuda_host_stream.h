// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The stream a host-mode candidate enqueues on, on a real GPU.
#pragma once

#include <memory>

#include "hone/base/status.h"
#include "tuner/evaluate/host_mode/host_mode_session.h"

namespace hone {

// In the context current on this thread: that of a CUDA session made before. kUnavailable without a driver.
Result<std::unique_ptr<HostStream>> MakeCudaHostStream();

}  // namespace hone
