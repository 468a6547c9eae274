// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// NVRTC is found and loaded at run time, so that one binary serves machines with and without it. The functions that
// Hone uses are declared here by hand, so that building Hone needs no CUDA header for them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// The function table of a loaded library. The library stays loaded until the process ends, because NVRTC keeps its
// precompiled header heap for as long as it lives.
struct NvrtcLibrary {
  using Program = void*;
  using Code = int;  // nvrtcResult
  static constexpr Code kSuccess = 0, kOutOfMemory = 1, kInvalidOption = 5, kCompilationError = 6;

  std::string path;  // file name as it was given to the loader
  int major = 0, minor = 0;

  const char* (*error_string)(Code);
  Code (*create_program)(Program*, const char* source, const char* name, int headers, const char* const* header_texts,
                         const char* const* header_names);
  Code (*destroy_program)(Program*);
  Code (*compile_program)(Program, int options, const char* const* option_texts);
  Code (*add_name_expression)(Program, const char*);
  Code (*get_lowered_name)(Program, const char*, const char**);
  Code (*get_log_size)(Program, size_t*);
  Code (*get_log)(Program, char*);
  Code (*get_cubin_size)(Program, size_t*);
  Code (*get_cubin)(Program, char*);
  // Null before NVRTC 12.8, which brought precompiled headers.
  Code (*set_pch_heap_size)(size_t);
  Code (*get_pch_create_status)(Program);

  bool has_pch() const { return set_pch_heap_size != nullptr && get_pch_create_status != nullptr; }
};

// Returns the files to try, in order: in `cuda_home`/lib64 and the like, in /usr/local/cuda, and in the loader's own
// directories; in each, version 13 comes before version 12.
std::vector<std::string> NvrtcCandidates(const std::string& cuda_home);
// Loads the first of NvrtcCandidates that can be loaded. Returns kUnavailable, with the places that were tried and what
// to install.
Result<std::shared_ptr<const NvrtcLibrary>> LoadNvrtc(const std::string& cuda_home);
// Loads exactly this file.
Result<std::shared_ptr<const NvrtcLibrary>> LoadNvrtcFrom(const std::string& path);

// Returns the include directories that a CUDA compiler needs: the one that contains cuda_fp16.h and, if it is another,
// the one that contains cuda/std. Returns kUnavailable when no toolkit headers are found.
Result<std::vector<std::string>> FindCudaIncludeDirectories(const std::string& cuda_home);

}  // namespace hone
