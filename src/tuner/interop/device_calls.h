// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls between a file's own device functions: which function an expression is an argument of, and what that function
// declares in its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/interop/cu_source.h"

namespace hone {

struct CallSite {
  std::string name;
  int argument = 0;                          // place of the expression among the arguments
  bool explicit_template_arguments = false;  // f<T>(…)
};

// The call whose argument list holds token `i`, looking back no further than token `begin`; nullopt: none, or control
// flow.
std::optional<CallSite> EnclosingCall(const CuSource& source, int i, int begin);

struct DeviceFunction {
  std::vector<CuParameter> parameters;
  std::vector<std::string> template_parameters;
  int body_open = 0, body_close = 0;  // tokens
};

// The first function `name` that the file defines with a body; nullopt: none.
std::optional<DeviceFunction> FindDeviceFunction(const CuSource& source, const std::string& name);

}  // namespace hone
