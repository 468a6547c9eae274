// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Imitates the CUDA runtime, for tests of generated headers on machines without CUDA: it has the functions that the
// headers call, and runs kernels one thread after the other on the host. It has no barriers, shared memory or streams.
//
// A program registers how each kernel's arguments are unpacked (RunKernel), and reads what was launched from
// fake_launches().
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

// Returns the thread's own value, because one thread runs at a time: kernels that exchange values compile, and their
// results mean nothing.
template <typename T>
T __shfl_xor_sync(unsigned, T value, int, int = 32) {
  return value;
}

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorMisalignedAddress = 716,
  cudaErrorNotSupported = 801,
};
using cudaStream_t = void*;
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrL2CacheSize,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributeNonPortableClusterSizeAllowed,
};
enum cudaLaunchAttributeID {
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeProgrammaticStreamSerialization,
};
union cudaLaunchAttributeValue {
  struct {
    unsigned x, y, z;
  } clusterDim;
  int cooperative;
  int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

// The fake device's attributes, indexed by cudaDeviceAttr, and the list of its launches.
inline long long fake_attributes[] = {4, 9, 0, 1 << 20, 200 * 1024};
inline std::vector<std::string>& fake_launches() {
  static std::vector<std::string> list;
  return list;
}
inline std::map<const void*, std::pair<std::string, std::function<void(void**)>>>& fake_kernels() {
  static std::map<const void*, std::pair<std::string, std::function<void(void**)>>> kernels;
  return kernels;
}
template <typename... P, size_t... I>
void FakeCall(void (*kernel)(P...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_cv_t<P>*>(arguments[I])...);
}
// Registers how `kernel` is called, and its name in the list of launches.
template <typename... P>
void RunKernel(const char* name, const void* address, void (*kernel)(P...)) {
  fake_kernels()[address] = {
      name, [kernel](void** arguments) { FakeCall(kernel, arguments, std::index_sequence_for<P...>()); }};
}

inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = static_cast<int>(fake_attributes[attribute]);
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
  fake_launches().push_back("attribute " + std::to_string(value));
  return cudaSuccess;
}
// Returns the same upper bound as the simulated GPU: only threads limit the number of blocks.
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads, size_t) {
  *blocks = 2048 / threads;
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t) {
  fake_launches().push_back("memset " + std::to_string(value) + " " + std::to_string(bytes));
  std::memset(target, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*pointer, 0xa5, (bytes + 255) / 256 * 256);
  return cudaSuccess;
}
inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  std::free(pointer);
  return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  const auto found = fake_kernels().find(kernel);
  if (found == fake_kernels().end()) return cudaErrorInvalidValue;
  const dim3 g = config->gridDim, b = config->blockDim;
  char text[256];
  std::snprintf(text, sizeof text, "%s grid %u %u %u block %u %u %u shared %zu", found->second.first.c_str(), g.x, g.y,
                g.z, b.x, b.y, b.z, config->dynamicSmemBytes);
  std::string line = text;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& a = config->attrs[i];
    if (a.id == cudaLaunchAttributeClusterDimension) line += " cluster " + std::to_string(a.val.clusterDim.x);
    if (a.id == cudaLaunchAttributeCooperative) line += " cooperative";
    if (a.id == cudaLaunchAttributeProgrammaticStreamSerialization) line += " dependent";
  }
  fake_launches().push_back(line);
  gridDim = g;
  blockDim = b;
  for (blockIdx.z = 0; blockIdx.z < g.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < g.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < g.x; ++blockIdx.x)
        for (threadIdx.z = 0; threadIdx.z < b.z; ++threadIdx.z)
          for (threadIdx.y = 0; threadIdx.y < b.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < b.x; ++threadIdx.x) found->second.second(arguments);
  return cudaSuccess;
}
