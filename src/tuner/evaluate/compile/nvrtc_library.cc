// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See nvrtc_library.h.
#include "tuner/evaluate/compile/nvrtc_library.h"

#include <dlfcn.h>

#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"

namespace hone {
namespace {

constexpr const char* kGetNvrtc =
    "install the CUDA toolkit (12.8 or newer; NVRTC and the CUDA headers are enough) or name its folder with CUDA_HOME";

// Returns the toolkit folders in which NVRTC is looked for, in order.
std::vector<std::string> ToolkitFolders(const std::string& cuda_home) {
  std::vector<std::string> homes;
  if (!cuda_home.empty()) homes.push_back(cuda_home);
  homes.emplace_back("/usr/local/cuda");
  return homes;
}

}  // namespace

std::vector<std::string> NvrtcCandidates(const std::string& cuda_home) {
  std::vector<std::string> candidates;
  for (const std::string& home : ToolkitFolders(cuda_home)) {
    for (const char* directory : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
      for (const int version : {13, 12}) {
        candidates.push_back(fmt::format("{}/{}/libnvrtc.so.{}", home, directory, version));
      }
    }
  }
  for (const int version : {13, 12}) candidates.push_back(fmt::format("libnvrtc.so.{}", version));
  return candidates;
}

Result<std::shared_ptr<const NvrtcLibrary>> LoadNvrtc(const std::string& cuda_home) {
  const std::vector<std::string> candidates = NvrtcCandidates(cuda_home);
  std::string last_error;
  for (const std::string& candidate : candidates) {
    if (candidate.front() == '/' && !FileExists(candidate)) continue;
    auto library = LoadNvrtcFrom(candidate);
    if (library.ok()) return library;
    last_error = library.status().message();
  }
  return Status::Unavailable(fmt::format("NVRTC, the CUDA run-time compiler, was not found (looked under {} and where the "
                                         "loader looks; last: {}): {}",
                                         fmt::join(ToolkitFolders(cuda_home), ", "), last_error, kGetNvrtc));
}

Result<std::shared_ptr<const NvrtcLibrary>> LoadNvrtcFrom(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    return Status::Unavailable(fmt::format("could not load '{}': {}", path, error != nullptr ? error : "unknown error"));
  }
  auto library = std::make_shared<NvrtcLibrary>();
  library->path = path;
  std::string missing;
  const auto find = [&]<typename T>(T*& function, const char* name, bool optional = false) {
    function = reinterpret_cast<T*>(dlsym(handle, name));
    if (function == nullptr && !optional) missing = name;
  };
  NvrtcLibrary::Code (*version)(int*, int*) = nullptr;
  find(version, "nvrtcVersion");
  find(library->error_string, "nvrtcGetErrorString");
  find(library->create_program, "nvrtcCreateProgram");
  find(library->destroy_program, "nvrtcDestroyProgram");
  find(library->compile_program, "nvrtcCompileProgram");
  find(library->add_name_expression, "nvrtcAddNameExpression");
  find(library->get_lowered_name, "nvrtcGetLoweredName");
  find(library->get_log_size, "nvrtcGetProgramLogSize");
  find(library->get_log, "nvrtcGetProgramLog");
  find(library->get_cubin_size, "nvrtcGetCUBINSize");
  find(library->get_cubin, "nvrtcGetCUBIN");
  find(library->set_pch_heap_size, "nvrtcSetPCHHeapSize", /*optional=*/true);
  find(library->get_pch_create_status, "nvrtcGetPCHCreateStatus", /*optional=*/true);
  if (!missing.empty()) {
    return Status::Unavailable(fmt::format("'{}' is no usable NVRTC: it lacks {}", path, missing));
  }
  version(&library->major, &library->minor);
  return std::shared_ptr<const NvrtcLibrary>(std::move(library));
}

Result<std::vector<std::string>> FindCudaIncludeDirectories(const std::string& cuda_home) {
  std::vector<std::string> looked;
  std::vector<std::string> bases;
  for (const std::string& home : ToolkitFolders(cuda_home)) {
    bases.push_back(home + "/include");
    bases.push_back(home + "/targets/x86_64-linux/include");
    bases.push_back(home + "/targets/sbsa-linux/include");
  }
  bases.emplace_back("/usr/include");
  for (const std::string& base : bases) {
    if (!FileExists(base + "/cuda_fp16.h")) continue;
    std::vector<std::string> directories = {base};
    // CUDA 13 moved libcu++ into a folder of its own.
    if (!FileExists(base + "/cuda/std/cstdint") && FileExists(base + "/cccl/cuda/std/cstdint")) {
      directories.push_back(base + "/cccl");
    }
    return directories;
  }
  return Status::Unavailable(fmt::format("the CUDA headers were not found (no cuda_fp16.h in {}): {}",
                                         fmt::join(bases, ", "), kGetNvrtc));
}

}  // namespace hone
