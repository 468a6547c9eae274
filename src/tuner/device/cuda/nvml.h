// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a GPU's state from NVIDIA's management library: its clock, reasons for slowing down, and other processes on the
// GPU. The library is loaded at run time and optional: a machine without NVML, or a container that
// hides it, leaves the numbers at 0 and times are then classified from their spread alone.
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

  // `uuid` is the driver's: 16 bytes. Returns null when NVML or the device is absent.
  static std::unique_ptr<Nvml> Open(const unsigned char* uuid);

  // Reads the state; fields that NVML does not know on this device stay 0. Each question to NVML takes a fifth of a
  // millisecond, so only what classifies a timing is asked.
  DeviceCondition Read() const;
  std::string DriverVersion() const;  // "580.159.04"; empty when not known

 private:
  Nvml() = default;
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* device_ = nullptr;
};

// Returns whether the library can be opened, whatever it reports about a device.
bool NvmlIsHere();

// Returns "power cap, thermal slowdown"; empty if no reason slows a kernel down (idle and application clocks do not
// count). Public for its test.
std::string ThrottleText(unsigned long long reasons);

}  // namespace hone
