// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs simulated kernels in a child process, which holds one image and no secrets.
//
// A SimSession (sim_session.h) starts the process with one socket and sandboxes it beforehand. The child sees the
// tensors of its launches and no others, and never the reference results.
#pragma once

namespace hone {

// Serves the session at the other end of `fd` until that end closes; returns the process's exit status. A program that
// offers this (`hone __sim-child --fd N`) must export the runtime's symbols to the images it loads: link
// hone_device_sim, whose interface asks the linker to.
int SimChildMain(int fd);

}  // namespace hone
