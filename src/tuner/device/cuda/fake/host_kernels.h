// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels compiled for the host, by name: what the fake driver finds in every module.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hone::fake {

struct HostKernel {
  std::function<void(void**)> call;  // for one lane; arguments as the driver gets them
  std::vector<size_t> parameter_bytes;
};
const std::map<std::string, HostKernel>& HostKernels();

struct HostGlobal {
  void* address;
  size_t bytes;
};
const std::map<std::string, HostGlobal>& HostGlobals();

}  // namespace hone::fake
