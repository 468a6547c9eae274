// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The process in which simulated kernels run: it holds one image and nothing worth stealing.
//
// Started by a SimSession (sim_session.h) with one socket; sandboxed by its parent before it starts. It sees the
// tensors of its launches and no others, and never the reference results.
#pragma once

namespace hone {

// Serves the session at the other end of `fd` until it hangs up; returns the process's exit status. A program that
// offers this (`hone __sim-child --fd N`) must export the runtime's symbols to the images it loads: link
// hone_device_sim, whose interface asks the linker to.
int SimChildMain(int fd);

}  // namespace hone
