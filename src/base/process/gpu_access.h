// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets a sandboxed process use an NVIDIA GPU through the driver.
#pragma once

#include "base/process/sandbox.h"

namespace hone {

// Adds what the driver needs to `policy`: its device files, the folders of its libraries, the files under /proc and
// /sys that it reads, and the socket that it makes at start. The policy must not limit the address space, because CUDA
// reserves terabytes of it.
void AllowGpu(SandboxPolicy* policy);

}  // namespace hone
