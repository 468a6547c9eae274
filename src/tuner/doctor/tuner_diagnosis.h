// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tuner finds and misses on this machine: GPU and tools, the simulated GPU's compiler, language models, folders,
// protection. Candidates can be judged where a GPU with NVRTC or the simulated GPU's compiler is here, and where the cache
// can be written.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "tuner/evaluate/gpu_tools.h"

namespace hone {

struct TunerSurroundings {
  GpuToolPlaces tools;
  std::string cache_directory, state_directory;
  // Names of environment variables that are set and not empty; never their values.
  std::vector<std::string> variables;
  std::string simulator_compiler;  // path of g++; empty: where the simulated GPU looks for it
  // The CUDA toolkit, as the build facts state it; empty in a build without CUDA.
  std::string cuda_toolkit;
};

// Compiles nothing, and runs `g++ --version` alone; the driver is opened, which takes some tenths of a second where a GPU
// is.
Diagnosis DiagnoseTuner(const TunerSurroundings& surroundings);

}  // namespace hone
