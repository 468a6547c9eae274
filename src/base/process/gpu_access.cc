// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/process/gpu_access.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace hone {
namespace {

// Returns the folders in which the loader finds the NVIDIA driver, since containers mount it outside the system's
// folders: that of the link and that of its target. Empty if there is no driver.
std::vector<std::string> DriverFolders() {
  std::vector<std::string> folders;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return folders;
  link_map* map = nullptr;
  if (dlinfo(driver, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr) {
    const std::filesystem::path name(map->l_name);
    std::error_code ignored;
    for (const auto& file : {name, std::filesystem::canonical(name, ignored)}) {
      if (file.has_parent_path()) folders.push_back(file.parent_path().string());
    }
  }
  dlclose(driver);
  return folders;
}

}  // namespace

void AllowGpu(SandboxPolicy* policy) {
  for (std::string& folder : DriverFolders()) policy->read_paths.push_back(std::move(folder));
  // /proc as a whole stays closed: it holds the environment, and so the keys, of every process of this user.
  policy->own_process_files = true;
  policy->unix_listeners = true;
  for (const char* path :
       {"/usr/local/cuda", "/usr/share", "/proc/driver", "/proc/devices", "/proc/modules", "/proc/cpuinfo", "/proc/meminfo",
        "/proc/stat", "/proc/version", "/proc/filesystems", "/proc/sys/vm", "/proc/sys/kernel", "/sys/devices", "/sys/bus",
        "/sys/class", "/sys/module", "/sys/kernel/mm", "/sys/fs/cgroup", "/dev/null", "/dev/zero"}) {
    policy->read_paths.emplace_back(path);
  }
  for (const char* path : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps"}) {
    policy->device_paths.emplace_back(path);
  }
  for (int i = 0; i < 32; ++i) policy->device_paths.push_back(fmt::format("/dev/nvidia{}", i));
}

}  // namespace hone
