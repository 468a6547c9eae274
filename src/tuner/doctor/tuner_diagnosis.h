// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds out what the tuner has and lacks on this machine: GPU and tools, the simulated GPU's compiler, Python
// with PyTorch, language models, folders, sandbox. Candidates can be judged if there is a GPU with NVRTC or the simulated GPU's compiler, and if the
// cache can be written.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "tuner/evaluate/gpu_tools.h"

namespace hone {

// TunerSurroundings holds what the diagnosis looks at.
struct TunerSurroundings {
  GpuToolPlaces tools;
  std::string cache_directory, state_directory;
  // Names of environment variables that are set and not empty; never their values.
  std::vector<std::string> variables;
  std::vector<std::string> environment;  // "NAME=value": PATH and HONE_PYTHON, and what Python reads
  std::string simulator_compiler;  // path of g++; empty: the simulated GPU's own choice
  // The version of the CUDA toolkit of this build; empty: it is built without CUDA.
  std::string cuda_toolkit;
};

// Returns how to get a build with the CUDA device: by the build's option alone where `places` hold nvcc, else by
// installing the toolkit too.
std::string CudaBuildRemedy(const GpuToolPlaces& places);

// Makes the diagnosis. Nothing is compiled; the only programs that are run are `g++ --version` and
// Python, which is asked for its packages. The CUDA driver is opened,
// which takes some tenths of a second on a machine with a GPU.
Diagnosis DiagnoseTuner(const TunerSurroundings& surroundings);

}  // namespace hone
