// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Returns the Python scripts of this folder, which are embedded at build time. Each is the text of several files, in
// the order named.
#pragma once

#include <string>

namespace hone {

std::string ProblemScript();   // problem.py
// problem.py, shapes.py, costs.py, seed.py, reduce_seed.py, image_seed.py, definition.py, gpumode.py, describe.py
std::string DescribeScript();
std::string OperatorTimesScript();  // problem.py, shapes.py, costs.py, operator_times.py
std::string ServeScript();     // problem.py, frames.py, driver.py, shapes.py, costs.py, serve.py
std::string RefereeScript();   // problem.py, frames.py, lifted.py, referee.py
std::string StageScript();     // problem.py, frames.py, driver.py, device_plan.py, lift.py, stage.py
std::string PlayerScript();    // frames.py, driver.py, device_plan.py, player.py

}  // namespace hone
