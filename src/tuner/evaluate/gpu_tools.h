// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What judging on a GPU uses besides the GPU: compilers, headers, tools. Looked for where the judge looks; only libraries
// are opened, and nothing is run.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"

namespace hone {

struct GpuToolPlaces {
  std::string cuda_home;     // empty: the usual places
  std::string cutlass_home;  // empty: the usual places
  std::string search_path;   // folders of programs, as in PATH
};

// nvrtc, cutlass, nvcc, nvdisasm, in this order. Empty in a build without CUDA.
std::vector<Check> GpuToolChecks(const GpuToolPlaces& places);

// cupti, ncu and counter_permission, which `hone eval --profile` needs on a GPU. Empty in a build without CUDA.
// `driver_parameters`: the file in which NVIDIA's driver lists its own settings.
std::vector<Check> CounterChecks(const GpuToolPlaces& places, const std::string& driver_parameters = "/proc/driver/nvidia/params");

}  // namespace hone
