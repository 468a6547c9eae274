// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This compiler handles candidates of machine code: it extracts the image from the candidate's text, has PTX assembled,
// and refuses an image that does not fit the device, the launch plan or the rules, before any driver loads it.
//
// No code of the image is run here, and only ReadCubin, which checks every offset, reads it. The toolkit's ptxas
// assembles PTX in a confined process, with limits on time and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tuner/device/compiler.h"

namespace hone {

struct MachineCodeOptions {
  int cc_major = 0, cc_minor = 0;           // compute capability of the device
  std::string device_name;                  // "NVIDIA H200", for messages
  std::string cuda_home;                    // toolkit in whose folder bin ptxas is looked for first
  std::string search_path;                  // PATH, searched for ptxas after cuda_home
  std::string scratch_directory;            // empty: /tmp
  double limit_seconds = 60;                // wall-clock limit of ptxas
  int64_t memory_bytes = int64_t{8} << 30;  // limit on the address space of ptxas
};

// Makes the compiler. It is thread-safe and takes units of machine code only (TranslationUnit::image).
std::unique_ptr<Compiler> MakeMachineCodeCompiler(MachineCodeOptions options);

}  // namespace hone
