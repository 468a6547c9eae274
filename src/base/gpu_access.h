// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets a sandboxed process use an NVIDIA GPU through the driver.
#pragma once

#include "base/sandbox.h"

namespace hone {

// Adds to `policy` the driver's device files, its libraries' folders, and the files under /proc and /sys that the
// driver reads, and allows the socket that it makes at start. The policy must not limit the address space: CUDA
// reserves terabytes of it.
void AllowGpu(SandboxPolicy* policy);

}  // namespace hone
