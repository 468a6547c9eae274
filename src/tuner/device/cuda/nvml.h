// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's management library says about a GPU: clocks, temperature, power, why it is slowed down, and
// who else computes on it. Loaded at run time and optional: a machine without NVML, or a container that hides
// it, leaves the numbers at 0 and times are then classified from their spread alone.
#pragma once

#include <memory>
#include <string>

#include "tuner/device/device_session.h"

namespace hone {

class Nvml {
 public:
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // `uuid` as the driver gives it: 16 bytes. Null when NVML or the device is not there.
  static std::unique_ptr<Nvml> Open(const unsigned char* uuid);

  // Fields NVML does not know on this device stay 0. Takes well under a millisecond.
  DeviceCondition Read() const;
  std::string DriverVersion() const;  // "580.159.04"; empty when not known

 private:
  Nvml() = default;
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* device_ = nullptr;
};

// Whether the library can be opened here, whatever it then says of a device.
bool NvmlIsHere();

// "power cap, thermal slowdown"; empty for none that slow a kernel down (idle and application clocks do not
// count). Public for its test.
std::string ThrottleText(unsigned long long reasons);

}  // namespace hone
