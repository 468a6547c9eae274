// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace hone {
namespace {

constexpr char kDriverLibrary[] = "libcuda.so.1";
constexpr int kOldestDriver = 12040;  // CUDA 12.4, as the driver writes versions

}  // namespace

std::string CudaDriver::Describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (GetErrorName == nullptr || GetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    return fmt::format("CUDA error {}", static_cast<int>(result));
  }
  if (GetErrorString == nullptr || GetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) return name;
  return fmt::format("{} ({})", name, text);
}

Result<CudaDriver> LoadCudaDriverFrom(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return Status::Unavailable(fmt::format(
        "the CUDA driver could not be loaded ({}). Install the NVIDIA driver (535 or newer), or, inside a container, "
        "start it with the GPUs passed through; without a GPU use --device sim",
        why != nullptr ? why : library));
  }
  CudaDriver driver;
  std::string missing;
#define HONE_CUDA_LOAD(member, symbol, parameters)                                             \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(handle, symbol));            \
  if (driver.member == nullptr && missing.empty()) missing = symbol;
  HONE_CUDA_ENTRY_POINTS(HONE_CUDA_LOAD)
#undef HONE_CUDA_LOAD
  if (driver.DriverGetVersion != nullptr) driver.DriverGetVersion(&driver.version);
  if (!missing.empty()) {
    dlclose(handle);
    return Status::Unavailable(fmt::format(
        "the CUDA driver in {} (for CUDA {}.{}) is too old: it has no {}. Hone needs a driver for CUDA {}.{} or newer; "
        "install NVIDIA driver 550 or newer, or use --device sim",
        library, driver.version / 1000, driver.version % 1000 / 10, missing, kOldestDriver / 1000,
        kOldestDriver % 1000 / 10));
  }
  if (const CUresult result = driver.Init(0); result != CUDA_SUCCESS) {
    return Status::Unavailable(fmt::format(
        "the CUDA driver in {} is there but cannot be used: {}. `nvidia-smi` shows whether the GPU is visible; a driver "
        "updated without a reboot and a container started without its GPUs are the usual reasons; without a GPU use "
        "--device sim",
        library, driver.Describe(result)));
  }
  return driver;
}

Result<const CudaDriver*> LoadCudaDriver() {
  static const Result<CudaDriver> loaded = LoadCudaDriverFrom(kDriverLibrary);
  if (!loaded.ok()) return loaded.status();
  return &loaded.value();
}

Status CudaStatus(const CudaDriver& driver, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return Status::Ok();
  return Status::Device(fmt::format("{}: {}", what, driver.Describe(result)));
}

}  // namespace hone
