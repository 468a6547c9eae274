// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These checks look for the compilers, headers and tools that judging on a GPU uses, in the places where the judge
// looks. They only open libraries and run nothing.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"

namespace hone {

struct GpuToolPlaces {
  std::string cuda_home;     // empty: the usual places
  std::string cutlass_home;  // empty: the usual places
  std::string search_path;   // folders of programs, separated by colons as in PATH
};

// Checks nvrtc, cutlass, nvcc, nvdisasm and compute_sanitizer, in this order. The list is empty in a build without CUDA.
std::vector<Check> GpuToolChecks(const GpuToolPlaces& places);

// Checks cupti, ncu and counter_permission, which `hone eval --profile` needs on a GPU. The list is empty in a build
// without CUDA. `driver_parameters` is the file in which NVIDIA's driver lists its own settings.
std::vector<Check> CounterChecks(const GpuToolPlaces& places, const std::string& driver_parameters = "/proc/driver/nvidia/params");

}  // namespace hone
