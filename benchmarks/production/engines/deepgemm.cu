// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// DeepGEMM's product of block-scaled 8-bit floats for Hopper (sm90_fp8_gemm_1d2d), as a contender (../contender.h): its
// kernel, with the block sizes, stages and clusters that its heuristics (csrc/jit_kernels/heuristics/sm90.hpp) give for
// the task's timed shapes on 132 multiprocessors. It wants the scales of a with rows innermost; they are transposed
// before the timing, so that their transposition costs it nothing.
//
//   nvcc -shared -Xcompiler -fPIC -std=c++20 -O3 --expt-relaxed-constexpr -gencode arch=compute_90a,code=sm_90a
//     -I DEEPGEMM/deep_gemm/include -I CUTLASS/include -I .. deepgemm.cu -o deepgemm.so
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#include <map>

#include "contender.h"

namespace {

struct Prepared {
  CUtensorMap a, b, d, a_scale;
};
std::map<const void*, Prepared> prepared;  // keyed by the problem's a

constexpr int kSms = 132;

__global__ void Transpose(const float* from, float* to, int rows, int columns, int stride) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < rows * columns) to[i % columns * stride + i / columns] = from[i];
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

bool Map(CUtensorMap* map, CUtensorMapDataType type, void* data, size_t inner, size_t outer, size_t row_bytes,
         unsigned box_inner, unsigned box_outer, int swizzle) {
  static const Encode encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    return reinterpret_cast<Encode>(function);
  }();
  const cuuint64_t dims[2] = {inner, outer}, strides[1] = {row_bytes};
  const cuuint32_t box[2] = {box_inner, box_outer}, steps[2] = {1, 1};
  const CUtensorMapSwizzle mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                  : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                  : CU_TENSOR_MAP_SWIZZLE_NONE;
  return encode != nullptr &&
         encode(map, type, 2, data, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, mode,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <int kM, int kN, int kStages, int kMulticast, bool kOnA, int kSwizzleD>
struct Config {
  static bool Prepare(const HoneProblem& p, Prepared* out) {
    const size_t m = p.dims[0], n = p.dims[1], k = p.dims[2], steps = (k + 127) / 128, rows = (m + 3) / 4 * 4;
    float* scales = nullptr;
    if (cudaMalloc(&scales, rows * steps * sizeof(float)) != cudaSuccess) return false;
    Transpose<<<(m * steps + 255) / 256, 256>>>(static_cast<const float*>(p.tensors[1]), scales, m, steps, rows);
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
    return Map(&out->a, CU_TENSOR_MAP_DATA_TYPE_UINT8, p.tensors[0], k, m, k, 128, kM, 128) &&
           Map(&out->b, CU_TENSOR_MAP_DATA_TYPE_UINT8, p.tensors[2], k, n, k, 128, kN, 128) &&
           Map(&out->d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, p.tensors[4], n, m, n * 2, kSwizzleD / 2, kM, kSwizzleD) &&
           Map(&out->a_scale, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, scales, rows, steps, rows * 4, kM, 1, 0);
  }

  static int Launch(const HoneProblem& p, const Prepared& maps, cudaStream_t stream) {
    constexpr int kMath = kM <= 64 ? 128 : 256;
    const int k = static_cast<int>(p.dims[2]), steps = (k + 127) / 128;
    const auto round = [](int value, int to) { return (value + to - 1) / to * to; };
    const int shared = round(kM * kN * 2, 1024) + 256 + round(steps * 4 * (128 % kN == 0 ? 1 : 2), 8) +
                       kStages * (kM * 128 + kN * 128 + round(kM * 4, 128));
    auto kernel =
        &deep_gemm::sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, 0, 0, 1, kM, kN, 128, 128, 128, kSwizzleD, kStages,
                                            128, kMath, kMulticast, kOnA, kSms, deep_gemm::GemmType::Normal,
                                            cutlass::bfloat16_t, deep_gemm::epilogue::transform::EpilogueIdentity>;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) != cudaSuccess) return 2;
    cudaLaunchConfig_t config{};
    config.gridDim = kSms;
    config.blockDim = 128 + kMath;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    cudaLaunchAttribute cluster[1];
    cluster[0].id = cudaLaunchAttributeClusterDimension;
    cluster[0].val.clusterDim = {kMulticast, 1, 1};
    config.attrs = cluster;
    config.numAttrs = 1;
    int* const none = nullptr;
    return cudaLaunchKernelEx(&config, kernel, static_cast<float*>(p.tensors[3]), none,
                              static_cast<uint32_t>(p.dims[0]), static_cast<uint32_t>(p.dims[1]),
                              static_cast<uint32_t>(p.dims[2]), maps.a, maps.b, maps.d, maps.a_scale) == cudaSuccess
               ? 0
               : 2;
  }
};

#ifdef SMALL_TILES  // what its heuristics chose before tiles of 256 rows were offered
template <typename F>
int Choose(const HoneProblem& p, F&& with) {
  if (p.dims[0] <= 64) return with(Config<64, 128, 8, 1, false, 128>{});
  return with(Config<128, 128, 5, 2, false, 128>{});
}
#else
template <typename F>
int Choose(const HoneProblem& p, F&& with) {
  if (p.dims[0] <= 64) return with(Config<64, 96, 10, 2, false, 64>{});
  if (p.dims[0] <= 128) return with(Config<128, 128, 5, 2, true, 128>{});
  return with(Config<256, 128, 3, 2, true, 128>{});
}
#endif

}  // namespace

extern "C" const char* contender_task(void) { return "fp8_block_matmul"; }

// Dimensions: m, n, k. Tensors: a, a_scale, b, b_scale, c.
extern "C" int contender_prepare(const HoneProblem* p) {
  return Choose(*p, [&](auto config) { return decltype(config)::Prepare(*p, &prepared[p->tensors[0]]) ? 0 : 2; });
}

extern "C" int contender_launch(const HoneProblem* p, void* stream) {
  const auto found = prepared.find(p->tensors[0]);
  if (found == prepared.end()) return 1;
  return Choose(
      *p, [&](auto config) { return decltype(config)::Launch(*p, found->second, static_cast<cudaStream_t>(stream)); });
}
