// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares what nvcc includes implicitly, for .cu files that the host's compiler compiles for the emulated runtime.
//
// Types, arithmetic, shuffles and atomics come from the simulated GPU's headers (src/tuner/device/sim/cuda), which are
// written against a small C interface (sim_abi.h); ../device_abi.cc implements that interface. This header adds the
// launch, and makes every operation that waits record its source line, so that a deadlock is reported with lines.
#pragma once

// Must be included before the keywords below become macros, because the standard library uses some of those words in
// attributes.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"
#include "hone_cuda.h"
#undef printf
#undef clock

template <typename T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

namespace hone::gnn::cuda::emulated {
struct Place {
  const char* file = "";
  int line = 0;
};
extern constinit thread_local Place current_place;
inline void At(const char* file, int line) { current_place = {file, line}; }

// An argument of a launch, and a function that clears the padding in a copy of it.
struct ArgumentBytes {
  const void* data = nullptr;
  size_t bytes = 0;
  void (*clear_padding)(void* copy) = nullptr;
};
template <typename T>
void ClearPadding(void* copy) {
  // Only small classes are cleared, because GCC 12 also clears members of larger classes with arrays.
  if constexpr (std::is_class_v<T> && sizeof(T) <= 256) __builtin_clear_padding(static_cast<T*>(copy));
}
// Enqueues a launch. `thread` runs one thread of the kernel. If the launch is captured, `arguments` are read before the
// call returns.
cudaError_t LaunchKernel(const void* kernel, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                         std::function<void()> thread, std::span<const ArgumentBytes> arguments);
// Returns the dynamic shared memory of the running block.
void* DynamicSharedMemory();
}  // namespace hone::gnn::cuda::emulated

// Launches a kernel; the arguments are copied before the call returns, as CUDA does.
template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  size_t at = 0;
  // The elements of a braced list are evaluated from left to right.
  std::tuple<Parameters...> values{*static_cast<Parameters*>(arguments[at++])...};
  at = 0;
  const hone::gnn::cuda::emulated::ArgumentBytes bytes[] = {
      {arguments[at++], sizeof(Parameters), &hone::gnn::cuda::emulated::ClearPadding<Parameters>}..., {}};
  return hone::gnn::cuda::emulated::LaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, shared_bytes, stream,
                                                 [kernel, values] { std::apply(kernel, values); },
                                                 std::span(bytes, sizeof...(Parameters)));
}

#define HONE_EMULATED_AT(...) (::hone::gnn::cuda::emulated::At(__FILE__, __LINE__), __VA_ARGS__)
#define __syncthreads() HONE_EMULATED_AT(__syncthreads())
#define __syncthreads_count(...) HONE_EMULATED_AT(__syncthreads_count(__VA_ARGS__))
#define __syncthreads_and(...) HONE_EMULATED_AT(__syncthreads_and(__VA_ARGS__))
#define __syncthreads_or(...) HONE_EMULATED_AT(__syncthreads_or(__VA_ARGS__))
#define __syncwarp(...) HONE_EMULATED_AT(__syncwarp(__VA_ARGS__))
#define __shfl_sync(...) HONE_EMULATED_AT(__shfl_sync(__VA_ARGS__))
#define __shfl_up_sync(...) HONE_EMULATED_AT(__shfl_up_sync(__VA_ARGS__))
#define __shfl_down_sync(...) HONE_EMULATED_AT(__shfl_down_sync(__VA_ARGS__))
#define __shfl_xor_sync(...) HONE_EMULATED_AT(__shfl_xor_sync(__VA_ARGS__))
#define __ballot_sync(...) HONE_EMULATED_AT(__ballot_sync(__VA_ARGS__))
#define __all_sync(...) HONE_EMULATED_AT(__all_sync(__VA_ARGS__))
#define __any_sync(...) HONE_EMULATED_AT(__any_sync(__VA_ARGS__))
#define __match_any_sync(...) HONE_EMULATED_AT(__match_any_sync(__VA_ARGS__))
#define __match_all_sync(...) HONE_EMULATED_AT(__match_all_sync(__VA_ARGS__))
#define __reduce_add_sync(...) HONE_EMULATED_AT(__reduce_add_sync(__VA_ARGS__))
#define __reduce_min_sync(...) HONE_EMULATED_AT(__reduce_min_sync(__VA_ARGS__))
#define __reduce_max_sync(...) HONE_EMULATED_AT(__reduce_max_sync(__VA_ARGS__))
#define __reduce_and_sync(...) HONE_EMULATED_AT(__reduce_and_sync(__VA_ARGS__))
#define __reduce_or_sync(...) HONE_EMULATED_AT(__reduce_or_sync(__VA_ARGS__))
#define __reduce_xor_sync(...) HONE_EMULATED_AT(__reduce_xor_sync(__VA_ARGS__))
