// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads the CUDA driver at run time, so that one `hone` binary serves machines with and without a GPU.
//
// Only types come from the toolkit's header; every function is looked up in libcuda.so.1 under the exact versioned name
// written here, so that a newer toolkit's header macros cannot select another version. All entry points exist since
// CUDA 12.4. The table is made once per process and never unloaded (the driver does not survive dlclose); it may be
// used from any thread.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "hone/base/status.h"

// X(member, symbol, parameters)
#define HONE_CUDA_ENTRY_POINTS(X)                                                                                     \
  X(Init, "cuInit", (unsigned))                                                                                       \
  X(DriverGetVersion, "cuDriverGetVersion", (int*))                                                                   \
  X(GetErrorName, "cuGetErrorName", (CUresult, const char**))                                                         \
  X(GetErrorString, "cuGetErrorString", (CUresult, const char**))                                                     \
  X(DeviceGetCount, "cuDeviceGetCount", (int*))                                                                       \
  X(DeviceGet, "cuDeviceGet", (CUdevice*, int))                                                                       \
  X(DeviceGetName, "cuDeviceGetName", (char*, int, CUdevice))                                                         \
  X(DeviceGetUuid, "cuDeviceGetUuid_v2", (CUuuid*, CUdevice))                                                         \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int*, CUdevice_attribute, CUdevice))                                 \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t*, CUdevice))                                                       \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext*, CUdevice))                                       \
  X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                                              \
  X(CtxSetCurrent, "cuCtxSetCurrent", (CUcontext))                                                                    \
  X(CtxSetLimit, "cuCtxSetLimit", (CUlimit, size_t))                                                                  \
  X(CtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache", ())                                                     \
  X(ModuleLoadDataEx, "cuModuleLoadDataEx", (CUmodule*, const void*, unsigned, CUjit_option*, void**))                \
  X(ModuleUnload, "cuModuleUnload", (CUmodule))                                                                       \
  X(ModuleGetFunction, "cuModuleGetFunction", (CUfunction*, CUmodule, const char*))                                   \
  X(ModuleGetGlobal, "cuModuleGetGlobal_v2", (CUdeviceptr*, size_t*, CUmodule, const char*))                          \
  X(FuncLoad, "cuFuncLoad", (CUfunction))                                                                             \
  X(FuncGetAttribute, "cuFuncGetAttribute", (int*, CUfunction_attribute, CUfunction))                                 \
  X(FuncSetAttribute, "cuFuncSetAttribute", (CUfunction, CUfunction_attribute, int))                                  \
  X(FuncGetParamInfo, "cuFuncGetParamInfo", (CUfunction, size_t, size_t*, size_t*))                                   \
  X(OccupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int*, CUfunction, int, size_t))         \
  X(LaunchKernelEx, "cuLaunchKernelEx", (const CUlaunchConfig*, CUfunction, void**, void**))                          \
  X(TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                                   \
    (CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,   \
     const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))  \
  X(MemGetInfo, "cuMemGetInfo_v2", (size_t*, size_t*))                                                                \
  X(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr*, size_t))                                                                \
  X(MemFree, "cuMemFree_v2", (CUdeviceptr))                                                                           \
  X(MemGetAllocationGranularity, "cuMemGetAllocationGranularity",                                                     \
    (size_t*, const CUmemAllocationProp*, CUmemAllocationGranularity_flags))                                          \
  X(MemCreate, "cuMemCreate", (CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*, unsigned long long)) \
  X(MemRelease, "cuMemRelease", (CUmemGenericAllocationHandle))                                                       \
  X(MemAddressReserve, "cuMemAddressReserve", (CUdeviceptr*, size_t, size_t, CUdeviceptr, unsigned long long))        \
  X(MemAddressFree, "cuMemAddressFree", (CUdeviceptr, size_t))                                                        \
  X(MemMap, "cuMemMap", (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))              \
  X(MemUnmap, "cuMemUnmap", (CUdeviceptr, size_t))                                                                    \
  X(MemSetAccess, "cuMemSetAccess", (CUdeviceptr, size_t, const CUmemAccessDesc*, size_t))                            \
  X(MemHostAlloc, "cuMemHostAlloc", (void**, size_t, unsigned))                                                       \
  X(MemFreeHost, "cuMemFreeHost", (void*))                                                                            \
  X(MemExportToShareableHandle, "cuMemExportToShareableHandle",                                                       \
    (void*, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long))                             \
  X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void*, size_t, CUstream))                            \
  X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void*, CUdeviceptr, size_t, CUstream))                                  \
  X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (CUdeviceptr, CUdeviceptr, size_t, CUstream))                            \
  X(MemsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))                                 \
  X(MemsetD16Async, "cuMemsetD16Async", (CUdeviceptr, unsigned short, size_t, CUstream))                              \
  X(MemsetD32Async, "cuMemsetD32Async", (CUdeviceptr, unsigned, size_t, CUstream))                                    \
  X(StreamCreate, "cuStreamCreate", (CUstream*, unsigned))                                                            \
  X(StreamDestroy, "cuStreamDestroy_v2", (CUstream))                                                                  \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream, CUstreamCaptureMode))                                   \
  X(StreamEndCapture, "cuStreamEndCapture", (CUstream, CUgraph*))                                                     \
  X(StreamGetCaptureInfo, "cuStreamGetCaptureInfo_v3",                                                                \
    (CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**, const CUgraphEdgeData**, size_t*)) \
  X(LaunchHostFunc, "cuLaunchHostFunc", (CUstream, CUhostFn, void*))                                                  \
  X(EventCreate, "cuEventCreate", (CUevent*, unsigned))                                                               \
  X(EventDestroy, "cuEventDestroy_v2", (CUevent))                                                                     \
  X(EventRecord, "cuEventRecord", (CUevent, CUstream))                                                                \
  X(EventQuery, "cuEventQuery", (CUevent))                                                                            \
  X(EventElapsedTime, "cuEventElapsedTime", (float*, CUevent, CUevent))                                               \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags", (CUgraphExec*, CUgraph, unsigned long long))                     \
  X(GraphUpload, "cuGraphUpload", (CUgraphExec, CUstream))                                                            \
  X(GraphLaunch, "cuGraphLaunch", (CUgraphExec, CUstream))                                                            \
  X(GraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2",                                                \
    (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2*))                                                    \
  X(GraphExecMemsetNodeSetParams, "cuGraphExecMemsetNodeSetParams",                                                   \
    (CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS*, CUcontext))                                            \
  X(GraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec))                                                            \
  X(GraphDestroy, "cuGraphDestroy", (CUgraph))

namespace hone {

struct CudaDriver {
#define HONE_CUDA_MEMBER(member, symbol, parameters) CUresult(CUDAAPI* member) parameters = nullptr;
  HONE_CUDA_ENTRY_POINTS(HONE_CUDA_MEMBER)
#undef HONE_CUDA_MEMBER
  int version = 0;  // 13000 for CUDA 13.0

  // Returns "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
  std::string Describe(CUresult result) const;
};

// Loads and initialises the driver on the first call; later calls return the same result.
// kUnavailable when libcuda.so.1 is absent, too old or finds no device, with the remedy.
Result<const CudaDriver*> LoadCudaDriver();

// Loads a library of another name, for tests. Loads it anew every time.
Result<CudaDriver> LoadCudaDriverFrom(const std::string& library);

// Returns kDevice, "WHAT: CUDA_ERROR_… (…)"; OK for CUDA_SUCCESS.
Status CudaStatus(const CudaDriver& driver, CUresult result, std::string_view what);

#define HONE_CUDA_RETURN_IF_ERROR(driver, expr, what)                    \
  do {                                                                   \
    const CUresult hone_cuda_result_ = (expr);                           \
    if (hone_cuda_result_ != CUDA_SUCCESS) {                             \
      return ::hone::CudaStatus((driver), hone_cuda_result_, (what));    \
    }                                                                    \
  } while (false)

}  // namespace hone
