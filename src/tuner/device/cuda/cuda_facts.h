// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Collects facts about a GPU: the driver's attributes, completed by datasheets.
//
// The driver reports sizes and clocks; peak rates come from a table of chips by name (vendor datasheets, dense figures)
// and, for chips not in it, from clock, width and units per multiprocessor.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "tuner/device/cuda/cuda_driver.h"

namespace hone {

Result<DeviceFacts> ReadDeviceFacts(const CudaDriver& driver, int ordinal);

// Fills memory_bandwidth, l2_bandwidth, fp32_flops and tensor_bf16_flops of `facts`, whose name, capability, counts and
// sizes are set. `sm_clock_hz` and `dram_bytes_per_second` are computed from the driver's clocks. Pure.
void FillPeakRates(DeviceFacts& facts, double sm_clock_hz, double dram_bytes_per_second);

}  // namespace hone
