// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <vector>

namespace hone {
namespace {

// NVML's header is a package of its own and absent from many toolkits; these few declarations follow its
// documented, stable C interface.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned kClockSm = 1;

struct ProcessInfo {  // nvmlProcessInfo_v2_t, used by nvmlDeviceGetComputeRunningProcesses_v3
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

struct Reason {
  unsigned long long bit;
  const char* text;
};
// Reasons that slow a running kernel below its set clock. NVML's others are left out: idle (bit 0), application clocks
// (bit 1) and display (bit 8).
constexpr std::array kReasons = {
    Reason{0x04, "software power cap"},      Reason{0x08, "hardware slowdown"},
    Reason{0x10, "sync boost"},              Reason{0x20, "software thermal slowdown"},
    Reason{0x40, "hardware thermal slowdown"}, Reason{0x80, "power brake"},
};

}  // namespace

struct Nvml::Functions {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
  int (*clock)(void*, unsigned, unsigned*) = nullptr;
  int (*reasons)(void*, unsigned long long*) = nullptr;
  int (*processes)(void*, unsigned*, ProcessInfo*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
};

std::string ThrottleText(unsigned long long reasons) {
  std::string text;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += reason.text;
  }
  return text;
}

bool NvmlIsHere() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

std::unique_ptr<Nvml> Nvml::Open(const unsigned char* uuid) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto functions = std::make_unique<Functions>();
  Functions& f = *functions;
  const auto find = [library](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  f.library = library;
  find(f.init, "nvmlInit_v2");
  find(f.shutdown, "nvmlShutdown");
  find(f.by_uuid, "nvmlDeviceGetHandleByUUID");
  find(f.clock, "nvmlDeviceGetClockInfo");
  find(f.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  if (f.reasons == nullptr) find(f.reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  find(f.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(f.driver_version, "nvmlSystemGetDriverVersion");
  if (f.init == nullptr || f.by_uuid == nullptr || f.init() != kSuccess) {
    dlclose(library);
    return nullptr;
  }
  std::unique_ptr<Nvml> nvml(new Nvml);
  nvml->functions_ = std::move(functions);  // the destructor shuts NVML down from here on
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  if (f.by_uuid(text.c_str(), &nvml->device_) != kSuccess) return nullptr;
  return nvml;
}

Nvml::~Nvml() {
  if (functions_ == nullptr) return;
  if (functions_->shutdown != nullptr) functions_->shutdown();
  dlclose(functions_->library);
}

DeviceCondition Nvml::Read() const {
  const Functions& f = *functions_;
  DeviceCondition condition;
  unsigned value = 0;
  if (f.clock != nullptr && f.clock(device_, kClockSm, &value) == kSuccess) condition.sm_clock_mhz = value;
  unsigned long long reasons = 0;
  if (f.reasons != nullptr && f.reasons(device_, &reasons) == kSuccess) condition.throttle = ThrottleText(reasons);
  if (f.processes != nullptr) {
    // Process numbers may belong to another namespace (containers), so this process is not looked for: one of the
    // entries counts as its own.
    std::vector<ProcessInfo> processes(64);
    unsigned count = static_cast<unsigned>(processes.size());
    const int result = f.processes(device_, &count, processes.data());
    if (result == kSuccess || result == kInsufficientSize) {
      condition.other_processes = count > 1 ? static_cast<int>(count) - 1 : 0;
    }
  }
  return condition;
}

std::string Nvml::DriverVersion() const {
  char text[96] = {};
  if (functions_->driver_version == nullptr || functions_->driver_version(text, sizeof text) != kSuccess) return "";
  return text;
}

}  // namespace hone
