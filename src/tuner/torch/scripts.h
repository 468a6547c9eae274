// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The Python of this room, embedded at build time: what describes a problem, and what serves a reference.
#pragma once

#include <string>

namespace hone {

std::string DescribeScript();  // problem.py, shapes.py, describe.py
std::string ServeScript();     // problem.py, serve.py

}  // namespace hone
