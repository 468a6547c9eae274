// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See cutlass_headers.h.
#include "tuner/evaluate/compile/cutlass_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/files/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy =
    "install the Python package nvidia-cutlass (4.0 or newer) or unpack CUTLASS, and name its folder with --cutlass, "
    "CUTLASS_HOME or CUTLASS_PATH";

// Returns the number after `#define NAME`; nothing when the header has no such definition.
std::optional<int> DefinedNumber(const std::string& text, std::string_view name) {
  const std::string define = fmt::format("#define {} ", name);
  const size_t at = text.find(define);
  if (at == std::string::npos) return std::nullopt;
  const char* from = text.c_str() + at + define.size();
  char* end = nullptr;
  const long value = std::strtol(from, &end, 10);
  if (end == from || value < 0 || value > 1000000) return std::nullopt;
  return static_cast<int>(value);
}

// Returns the include folder of CUTLASS that is `folder` or lies in it; empty when there is none.
std::string IncludeFolder(const std::string& folder) {
  for (const char* below : {"", "/include", "/source/include", "/cutlass_library/source/include"}) {
    if (FileExists(folder + below + "/cute/tensor.hpp")) return folder + below;
  }
  return "";
}

// Returns the headers in this folder with their version.
Result<CutlassHeaders> Read(const std::string& include) {
  const std::string path = include + "/cutlass/version.h";
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return Status::Unavailable(
        fmt::format("'{}' has cute/tensor.hpp and no readable cutlass/version.h: {}", include, kRemedy));
  }
  const std::optional<int> major = DefinedNumber(*text, "CUTLASS_MAJOR"), minor = DefinedNumber(*text, "CUTLASS_MINOR"),
                           patch = DefinedNumber(*text, "CUTLASS_PATCH");
  if (!major || !minor) {
    return Status::Unavailable(fmt::format("'{}' does not say CUTLASS's version: {}", path, kRemedy));
  }
  if (*major < kLeastCutlassMajor) {
    return Status::Unavailable(fmt::format("CUTLASS {}.{} in '{}' is too old for the include set \"cute\": {}", *major,
                                           *minor, include, kRemedy));
  }
  return CutlassHeaders{include, *major, *minor, patch.value_or(0)};
}

}  // namespace

std::vector<std::string> UsualCutlassFolders(const std::vector<std::string>& prefixes) {
  std::vector<std::string> folders;
  for (const std::string& prefix : prefixes) {
    folders.push_back(prefix + "/cutlass");
    folders.push_back(prefix + "/include");
    std::vector<std::string> pythons;
    std::error_code error;
    for (fs::directory_iterator entry(prefix + "/lib", error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().filename().string().starts_with("python3")) pythons.push_back(entry->path().string());
    }
    std::sort(pythons.begin(), pythons.end());
    for (const std::string& python : pythons) {
      for (const char* packages : {"/dist-packages", "/site-packages"}) folders.push_back(python + packages);
    }
  }
  folders.emplace_back("/opt/cutlass");
  return folders;
}

Result<CutlassHeaders> FindCutlassHeaders(const std::string& folder) {
  if (!folder.empty()) {
    std::string include = IncludeFolder(folder);
    // A caller who means DIR may pass DIR/include, whether that folder exists or not.
    if (constexpr std::string_view kInclude = "/include"; include.empty() && folder.ends_with(kInclude)) {
      include = IncludeFolder(folder.substr(0, folder.size() - kInclude.size()));
    }
    if (include.empty()) {
      return Status::Unavailable(
          fmt::format("'{}' holds no CUTLASS headers (no cute/tensor.hpp): {}", folder, kRemedy));
    }
    return Read(include);
  }
  Status old;
  for (const std::string& usual : UsualCutlassFolders()) {
    const std::string include = IncludeFolder(usual);
    if (include.empty()) continue;
    Result<CutlassHeaders> headers = Read(include);
    if (headers.ok()) return headers;
    if (old.ok()) old = headers.status();
  }
  if (!old.ok()) return old;
  return Status::Unavailable(fmt::format("the CUTLASS headers, which hold CuTe, were not found: {}", kRemedy));
}

Result<std::string> FindCcclHeaders(const std::string& cuda_home) {
  std::vector<std::string> homes;
  if (!cuda_home.empty()) homes.push_back(cuda_home);
  for (const char* usual : {"/usr/local/cuda", "/opt/cuda", "/usr"}) homes.emplace_back(usual);
  for (const std::string& folder : UsualCutlassFolders()) {
    for (const char* package : {"/nvidia/cu13", "/nvidia/cuda_cccl", "/nvidia/cuda_runtime"}) homes.push_back(folder + package);
  }
  for (const std::string& home : homes) {
    for (const char* below : {"/include/cccl", "/include"}) {
      if (FileExists(home + below + "/cuda/std/cassert")) return home + below;
    }
  }
  return Status::Unavailable(
      "libcu++'s headers (cuda/std/), which CUTLASS's need, were not found: install the CUDA toolkit, or the Python package "
      "nvidia-cuda-cccl");
}

}  // namespace hone
