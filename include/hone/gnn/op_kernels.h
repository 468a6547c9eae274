// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device functions for kernels of an operation of your own (op.h): a batch's sizes, elements as floats, and dropout's
// bits. LaunchOp launches a kernel as a plain function call. Only files that nvcc compiles can include this header.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "hone/gnn/op.h"

namespace hone::gnn {

// Return the number of the batch's destinations and of its sources.
__device__ inline int32_t NumDst(const DeviceHop& hop) { return *hop.valid != 0 ? *hop.num_dst : 0; }
__device__ inline int32_t NumSrc(const DeviceHop& hop) { return *hop.valid != 0 ? *hop.num_src : 0; }

__device__ inline float LoadElement(const float* p) { return *p; }
__device__ inline float LoadElement(const __nv_bfloat16* p) { return __bfloat162float(*p); }
__device__ inline void StoreElement(float* p, float x) { *p = x; }
__device__ inline void StoreElement(__nv_bfloat16* p, float x) { *p = __float2bfloat16_rn(x); }

// A drop probability, rounded to a 65,536th as DropoutRow (layer.h) does.
struct DeviceDropRate {
  uint32_t threshold = 0;  // 0: nothing is dropped
  float scale = 1;         // factor of what is kept
  static DeviceDropRate Of(double probability) {
    DeviceDropRate rate;
    const auto rounded = static_cast<uint32_t>(probability * 65536.0 + 0.5);
    rate.threshold = rounded < 65535u ? rounded : 65535u;
    rate.scale = static_cast<float>(65536.0 / (65536.0 - rate.threshold));
    return rate;
  }
};

// Returns whether dropout keeps element `column` of the row of `node`: the bit that DropoutRow draws on the CPU.
__device__ inline bool Kept(const DeviceHop& hop, const DeviceDropRate& rate, int32_t node, int32_t column) {
  if (rate.threshold == 0) return true;
  // Philox4x32-7 (Salmon, Moraes, Dror and Shaw 2011), keyed by the seed of dropout's own domain.
  const uint64_t key = *hop.seed ^ (uint64_t{0x64726f70} << 32);
  uint32_t word[4] = {static_cast<uint32_t>(node), *hop.step, *hop.epoch,
                      hop.layer << 24 | hop.site << 16 | static_cast<uint32_t>(column) / 8};
  uint32_t key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 7; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * word[0], product1 = uint64_t{0xCD9E8D57u} * word[2];
    const uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ word[1] ^ key0;
    const uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ word[3] ^ key1;
    word[0] = next0;
    word[1] = static_cast<uint32_t>(product1);
    word[2] = next2;
    word[3] = static_cast<uint32_t>(product0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  const int in_eight = column % 8;
  return (word[in_eight / 2] >> (in_eight % 2 * 16) & 0xffffu) >= rate.threshold;
}

// Enqueues kernel(arguments…) on the call's stream, with the arguments converted to the kernel's parameters. kDevice,
// with the runtime's words, if the launch is refused.
template <typename... Parameters, typename... Arguments>
Status LaunchOp(const DeviceOpCall& call, void (*kernel)(Parameters...), int64_t blocks, int threads,
                Arguments&&... arguments) {
  if (blocks == 0) return Status::Ok();
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  const cudaError_t error = std::apply(
      [&](auto&... value) {
        void* pointers[] = {&value..., nullptr};
        return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)),
                                pointers, size_t{0}, call.stream);
      },
      values);
  if (error == cudaSuccess) return Status::Ok();
  return Status::Device(std::string("a kernel of an operation was not launched: ") + cudaGetErrorString(error));
}

}  // namespace hone::gnn
