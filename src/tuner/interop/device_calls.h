// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds calls between a file's own device functions: the function that an expression is an argument of, and the
// parameter that it is passed to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/interop/cu_source.h"

namespace hone {

struct CallSite {
  std::string name;
  int argument = 0;                          // index of the expression among the arguments
  bool explicit_template_arguments = false;  // f<T>(…)
};

// Returns the call whose argument list contains token `i`, looking back no further than token `begin`; nullopt: none,
// or control flow.
std::optional<CallSite> EnclosingCall(const CuSource& source, int i, int begin);

struct DeviceFunction {
  std::vector<CuParameter> parameters;
  std::vector<std::string> template_parameters;
  int body_open = 0, body_close = 0;  // tokens
};

// Returns the first function `name` that the file defines with a body; nullopt: none.
std::optional<DeviceFunction> FindDeviceFunction(const CuSource& source, const std::string& name);

}  // namespace hone
