// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists kernels compiled for the host by name; the fake driver finds them in every module.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hone::fake {

struct HostKernel {
  std::function<void(void**)> call;  // runs one lane; arguments as the driver gets them
  std::vector<size_t> parameter_bytes;
};
const std::map<std::string, HostKernel>& HostKernels();

struct HostGlobal {
  void* address;
  size_t bytes;
};
const std::map<std::string, HostGlobal>& HostGlobals();

}  // namespace hone::fake
