// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/cuda_facts.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace hone {
namespace {

struct Chip {
  std::string_view name;  // part of the driver's name; the first match wins
  double memory_bandwidth, fp32_flops, tensor_bf16_flops;
};

// Values are from vendor datasheets. More specific names come before names that they contain.
constexpr std::array kChips = {
    Chip{"GH200 480GB", 4.0e12, 66.9e12, 989.4e12},
    Chip{"H200 NVL", 4.8e12, 60.0e12, 835.5e12},
    Chip{"H200", 4.8e12, 66.9e12, 989.4e12},
    Chip{"H100 NVL", 3.9e12, 60.0e12, 835.5e12},
    Chip{"H100 PCIe", 2.0e12, 51.2e12, 756.0e12},
    Chip{"H100", 3.35e12, 66.9e12, 989.4e12},
    Chip{"H20", 4.0e12, 44.0e12, 148.0e12},
    Chip{"B200", 8.0e12, 75.0e12, 2250.0e12},
    Chip{"A100-SXM4-80GB", 2.039e12, 19.5e12, 312.0e12},
    Chip{"A100 80GB PCIe", 1.935e12, 19.5e12, 312.0e12},
    Chip{"A100", 1.555e12, 19.5e12, 312.0e12},
    Chip{"A30", 0.933e12, 10.3e12, 165.0e12},
    Chip{"A10", 0.600e12, 31.2e12, 125.0e12},
    Chip{"L40S", 0.864e12, 91.6e12, 362.0e12},
    Chip{"L40", 0.864e12, 90.5e12, 181.0e12},
    Chip{"L4", 0.300e12, 30.3e12, 121.0e12},
    Chip{"RTX 4090", 1.008e12, 82.6e12, 165.2e12},
    Chip{"RTX 3090", 0.936e12, 35.6e12, 71.0e12},
};

// Units of one multiprocessor, FMA counted as two.
struct Generation {
  int cc;
  double fp32_per_clock, bf16_per_clock;
};
constexpr std::array kGenerations = {
    Generation{75, 128, 0},      Generation{80, 128, 2048},  Generation{86, 256, 512},   Generation{87, 256, 1024},
    Generation{89, 256, 512},    Generation{90, 256, 4096},  Generation{100, 256, 8192}, Generation{103, 256, 8192},
    Generation{110, 256, 4096},  Generation{120, 256, 1024},
};

}  // namespace

void FillPeakRates(DeviceFacts& facts, double sm_clock_hz, double dram_bytes_per_second) {
  const double clocks = facts.sm_count * sm_clock_hz;
  facts.memory_bandwidth = dram_bytes_per_second;
  facts.fp32_flops = 128 * clocks;
  for (const Generation& generation : kGenerations) {
    if (generation.cc > facts.cc_major * 10 + facts.cc_minor) break;
    facts.fp32_flops = generation.fp32_per_clock * clocks;
    facts.tensor_bf16_flops = generation.bf16_per_clock * clocks;
  }
  // A multiprocessor reads at most 64 bytes a clock from L2, whatever L2 could deliver: no kernel reads faster, as
  // required of a bound for refusing impossible times.
  facts.l2_bandwidth = 64 * clocks;
  for (const Chip& chip : kChips) {
    if (facts.name.find(chip.name) == std::string::npos) continue;
    facts.memory_bandwidth = chip.memory_bandwidth;
    facts.fp32_flops = chip.fp32_flops;
    facts.tensor_bf16_flops = chip.tensor_bf16_flops;
    break;
  }
}

Result<DeviceFacts> ReadDeviceFacts(const CudaDriver& driver, int ordinal) {
  DeviceFacts facts;
  facts.id = fmt::format("cuda:{}", ordinal);
  const std::string what = "reading the attributes of " + facts.id;
  CUdevice device = 0;
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.DeviceGet(&device, ordinal), what);
  std::array<char, 256> name{};
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.DeviceGetName(name.data(), static_cast<int>(name.size()), device), what);
  facts.name = name.data();
  size_t bytes = 0;
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.DeviceTotalMem(&bytes, device), what);
  facts.memory_bytes = static_cast<int64_t>(bytes);

  CUresult failed = CUDA_SUCCESS;
  const auto read_attribute = [&](CUdevice_attribute attribute) {
    int value = 0;
    const CUresult result = driver.DeviceGetAttribute(&value, attribute, device);
    if (result != CUDA_SUCCESS) failed = result;
    return value;
  };
  facts.cc_major = read_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  facts.cc_minor = read_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.sm_count = read_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.l2_bytes = read_attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  facts.smem_per_block = read_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  facts.smem_optin = read_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts.smem_per_sm = read_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  facts.max_threads_per_block = read_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  facts.max_threads_per_sm = read_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  facts.max_blocks_per_sm = read_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  facts.registers_per_sm = read_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  HONE_CUDA_RETURN_IF_ERROR(driver, failed, what);
  // The attributes are deprecated and absent from some drivers: zero selects the table's value.
  const double sm_clock_hz = read_attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e3;
  const double memory_clock_hz = read_attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * 1e3;
  const double bus_bytes = read_attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0;
  FillPeakRates(facts, sm_clock_hz, 2 * memory_clock_hz * bus_bytes);  // two transfers a clock
  facts.driver = fmt::format("CUDA {}.{}", driver.version / 1000, driver.version % 1000 / 10);
  return facts;
}

}  // namespace hone
