// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See host_library.h.
#include "tuner/evaluate/host_mode/host_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/process/gpu_access.h"
#include "tuner/evaluate/host_mode/host_entry.h"

namespace hone {
namespace {

constexpr unsigned kMostParameters = 256;  // limit on the parameters of a host function
constexpr unsigned kMostDots = 1500;  // limit on "./" in a path, which has at most 4096 bytes
constexpr int64_t kMaxFileBytes = int64_t{1} << 30;  // limit on a file that a confined worker writes

}  // namespace

Result<std::unique_ptr<HostLibrary>> HostLibrary::Load(std::string_view image) {
  // The library is loaded from a memory file, because a confined worker may not write to any folder.
  UniqueFd file(static_cast<int>(syscall(SYS_memfd_create, "hone-candidate", 1u /* close on exec */)));
  if (!file.valid()) return Status::Io("could not make a memory file: " + std::generic_category().message(errno));
  for (size_t written_bytes = 0; written_bytes < image.size();) {
    const ssize_t n = write(file.get(), image.data() + written_bytes, image.size() - written_bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status::Io("could not fill a memory file: " + std::generic_category().message(errno));
    written_bytes += static_cast<size_t>(n);
  }
  std::unique_ptr<HostLibrary> library(new HostLibrary);
  // The loader takes two libraries with the same path for the same library. So the file stays open as long as its
  // library, which keeps its descriptor's number from being reused, and "./" is repeated in the path to distinguish it
  // from earlier libraries that could not be unloaded (those with unique symbols).
  static std::atomic<unsigned> loads{0};
  std::string name = "/proc/self/fd/";
  for (unsigned dots = loads++ % kMostDots; dots > 0; --dots) name += "./";
  name += std::to_string(file.get());
  library->handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  library->file_ = std::move(file);
  if (library->handle_ == nullptr) {
    const char* error = dlerror();
    return Status::InvalidArgument(fmt::format("the candidate's library does not load: {}", error != nullptr ? error : "?"));
  }
  library->call_ = reinterpret_cast<int (*)(const void* const*)>(dlsym(library->handle_, kHostCallSymbol));
  const auto* count = static_cast<const unsigned*>(dlsym(library->handle_, kHostCountSymbol));
  const auto* bytes = static_cast<const unsigned*>(dlsym(library->handle_, kHostBytesSymbol));
  if (library->call_ == nullptr || count == nullptr || bytes == nullptr || *count == 0 || *count > kMostParameters) {
    return Status::InvalidArgument("the candidate's library lacks Hone's entry");
  }
  library->parameter_bytes_.assign(bytes, bytes + *count - 1);
  if (bytes[*count - 1] != sizeof(void*)) {
    return Status::InvalidArgument("the host function's last parameter must be the stream");
  }
  return library;
}

HostLibrary::~HostLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

std::string HostLibrary::Mismatch(const std::vector<size_t>& sizes) const {
  if (sizes.size() != parameter_bytes_.size()) {
    return fmt::format("the plan passes {} arguments and the stream; the function takes {} and the stream", sizes.size(),
                       parameter_bytes_.size());
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != parameter_bytes_[i]) {
      return fmt::format("argument {} has {} bytes in the plan; the function's parameter has {}", i, sizes[i], parameter_bytes_[i]);
    }
  }
  return {};
}

int HostLibrary::Call(const std::vector<const void*>& arguments, void* stream) const {
  HONE_CHECK(arguments.size() == parameter_bytes_.size(), "a host function called with a wrong number of arguments");
  std::vector<const void*> pointers = arguments;
  pointers.push_back(&stream);
  return call_(pointers.data());
}

SandboxPolicy HostModeWorkerPolicy(const std::string& program, const std::string& cuda_home, const std::string& scratch) {
  SandboxPolicy policy;
  policy.read_paths = SystemReadPaths();
  if (!cuda_home.empty()) policy.read_paths.push_back(cuda_home);
  AllowGpu(&policy);
  if (!scratch.empty()) policy.write_paths = {scratch};
  policy.exec_paths = SystemExecPaths();
  policy.exec_paths.push_back(program);
  policy.file_bytes = kMaxFileBytes;
  policy.open_files = 1024;
  return policy;
}

}  // namespace hone
