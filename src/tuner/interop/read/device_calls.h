// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the calls of a file's own device functions: in which call's argument list a token stands, and which parameter
// it is passed to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/interop/read/cu_source.h"

namespace hone {

struct CallSite {
  std::string name;                          // of the called function
  int argument = 0;                          // position of the argument that contains the token, from 0
  bool explicit_template_arguments = false;  // f<T>(…)
};

// Returns the innermost call whose argument list contains token `i`, looking back no further than token `begin`.
// nullopt: there is none, or the parentheses are those of if, for, while or switch.
std::optional<CallSite> EnclosingCall(const CuSource& source, int i, int begin);

struct DeviceFunction {
  std::vector<CuParameter> parameters;
  std::vector<std::string> template_parameters;
  int body_open = 0, body_close = 0;  // indices of the body's { and } in CuSource::tokens
};

// Returns the first function `name` that the file defines with a body; nullopt: none.
std::optional<DeviceFunction> FindDeviceFunction(const CuSource& source, const std::string& name);

}  // namespace hone
