// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Code that the kernels normed_product.cu and marked_product.cu share. They multiply tall matrices by a small one on
// tensor cores (wgmma) of capability 9.0, fed by TMA, and process the product before it is written. Only nvcc compiles
// this file.
//
// A block keeps a strip of 256 columns of the weight in shared memory and walks down the rows, two tiles of 64 at a
// time. Two warpgroups share a tile, 128 columns each, because processing the products takes more time than computing
// them, and needs the warps. A thread of a fifth warpgroup loads a tile's rows, 32 columns per stage. A block is alone
// on its multiprocessor. The strips' blocks work on the same rows at the same time, so the rows come from memory once,
// and otherwise from L2.
//
// Layout of a warpgroup's accumulators: thread t has rows r = 16 (t / 32) + t % 32 / 4 and r + 8, and in every eight
// columns the two from 2 (t % 4) on. Four neighboring threads (a quad) therefore share eight columns of a row, and
// exchange their values before these are written.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "gnn/cuda/base/device_math.cuh"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

inline constexpr int kStripColumns = 256;
inline constexpr int kTileRows = 64;
inline constexpr int kStageColumns = 32;   // columns of the rows that one stage loads
inline constexpr int kWeightColumns = 64;  // columns of the weight that one part has
inline constexpr int kTiles = 2;           // tiles in flight in a block
inline constexpr int kHalves = 2;          // halves of a strip, one per warpgroup of a tile
inline constexpr int kHalfColumns = kStripColumns / kHalves;
inline constexpr int kConsumers = kTiles * kHalves;
inline constexpr int kValues = kTileRows * kHalfColumns / 128;  // accumulators per thread
inline constexpr int kGroupThreads = 128;
inline constexpr int kThreads = (kConsumers + 1) * kGroupThreads;
// A multiprocessor's 65,536 registers give each of 640 threads 96 (a multiple of 8). The fifth warpgroup gives up
// registers that the others take. A warpgroup that asked for more registers than are free would wait forever.
static_assert(96 * kThreads >= 112 * kConsumers * kGroupThreads + 32 * kGroupThreads, "registers are handed on, not made");
inline constexpr int kMostStages = 16;
inline constexpr int kStageBytes = kTileRows * kStageColumns * 2;
inline constexpr int kPartBytes = kStripColumns * kWeightColumns * 2;
inline constexpr int kMostShared = 232448;  // the largest shared memory of a block, in bytes

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)  // elsewhere these instructions do not exist

// The following functions work on a barrier in shared memory (mbarrier), given by its address in shared memory. Expect
// announces bytes that a load will bring and arrives; Await waits until the phase of `parity` is complete.
__device__ inline uint32_t SharedAddress(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ inline void InitBarrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ inline void Expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void Arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void Await(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
// Starts the TMA load of a box of the matrix, from (column, row) on; `barrier` receives the bytes.
__device__ inline void Bring(uint32_t to, const CUtensorMap* map, int column, int row, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(reinterpret_cast<uint64_t>(map)), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// Returns the descriptor of a tile in shared memory whose rows are `kRowBytes` long and swizzled over that length.
template <int kRowBytes>
__device__ inline uint64_t Descriptor(uint32_t address) {
  constexpr uint64_t kLayout = kRowBytes == 128 ? 1 : 2;
  constexpr uint64_t kEightRows = kRowBytes * 8 / 16;
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | uint64_t{1} << 16 | kEightRows << 32 | kLayout << 62;
}

// Returns the descriptor of a part whose rows run along the summed dimension, [columns / 8][8 rows of 128 bytes]. The
// part of the next 64 columns is `next_part` bytes further.
__device__ inline uint64_t DescriptorAlong(uint32_t address, uint32_t next_part) {
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | static_cast<uint64_t>(next_part >> 4) << 16 |
         uint64_t{1024 / 16} << 32 | uint64_t{1} << 62;
}

__device__ inline void FenceRegisters(float (&d)[kValues]) {
#pragma unroll
  for (float& one : d) asm volatile("" : "+f"(one)::"memory");
}
__device__ inline void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void CommitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kUnderWay>
__device__ inline void AwaitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kUnderWay) : "memory");
}

#define HONE_FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HONE_SIXTEEN(d, i) HONE_FOUR(d, i), HONE_FOUR(d, i + 4), HONE_FOUR(d, i + 8), HONE_FOUR(d, i + 12)
// Computes d = [64 x 16] of a times [16 x 128] of b, plus d if `accumulates`. kAlong: a row of b's memory is one of its
// 16 rows, not one of its 128 columns.
template <bool kAlong>
__device__ inline void Multiply(float (&d)[kValues], uint64_t a, uint64_t b, bool accumulates) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, p, 1, 1, 0, %67;\n}\n"
      : HONE_SIXTEEN(d, 0), HONE_SIXTEEN(d, 16), HONE_SIXTEEN(d, 32), HONE_SIXTEEN(d, 48)
      : "l"(a), "l"(b), "r"(accumulates ? 1 : 0), "n"(kAlong ? 1 : 0));
}
#undef HONE_SIXTEEN
#undef HONE_FOUR

// A warpgroup's part of the ring of stages, with addresses in shared memory.
struct Ring {
  uint32_t memory, full, empty;  // addresses
  int stages;
  int stage = 0;
  uint32_t parity = 0;

  __device__ uint32_t FullAt() const { return full + static_cast<uint32_t>(stage) * 8; }
  __device__ uint32_t EmptyAt(int stage_number) const { return empty + static_cast<uint32_t>(stage_number) * 8; }
  __device__ uint32_t MemoryAt() const { return memory + static_cast<uint32_t>(stage * kStageBytes); }
  __device__ void Advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// Computes d (+)= the tile's rows times the weight. `weight_at(c)` returns the descriptor of the weight's part for
// stage c; kStep is its increment for the next 16 columns of the rows.
template <bool kAlong, uint64_t kStep, typename WeightAt>
__device__ inline void MultiplyTile(float (&d)[kValues], Ring& ring, int columns, bool accumulates,
                                    const WeightAt& weight_at) {
  int before = -1;
  for (int c = 0; c < columns / kStageColumns; ++c) {
    Await(ring.FullAt(), ring.parity);
    const uint64_t a = Descriptor<kStageColumns * 2>(ring.MemoryAt());
    const uint64_t b = weight_at(c);
    BeginProducts();
    Multiply<kAlong>(d, a, b, accumulates || c > 0);
    Multiply<kAlong>(d, a + 2, b + kStep, /*accumulates=*/true);
    CommitProducts();
    AwaitProducts<1>();
    if (before >= 0 && threadIdx.x % 32 == 0) Arrive(ring.EmptyAt(before));
    before = ring.stage;
    ring.Advance();
  }
  AwaitProducts<0>();
  FenceRegisters(d);
  if (threadIdx.x % 32 == 0) Arrive(ring.EmptyAt(before));
}

__device__ inline uint32_t OrOfQuad(uint32_t word) {
  word |= __shfl_xor_sync(kFullWarp, word, 1);
  return word | __shfl_xor_sync(kFullWarp, word, 2);
}

// Transposes words in a quad. Before, each thread has a word of each of four groups; afterwards, thread q has the
// quad's four words of group q.
__device__ inline uint4 WordsOfGroup(const uint32_t (&w)[4], int q) {
  const bool odd = (q & 1) != 0, high = (q & 2) != 0;
  const uint32_t kept0 = odd ? w[1] : w[0], kept1 = odd ? w[3] : w[2];
  const uint32_t got0 = __shfl_xor_sync(kFullWarp, odd ? w[0] : w[1], 1);
  const uint32_t got1 = __shfl_xor_sync(kFullWarp, odd ? w[2] : w[3], 1);
  const uint32_t even0 = odd ? got0 : kept0, odd0 = odd ? kept0 : got0;
  const uint32_t even1 = odd ? got1 : kept1, odd1 = odd ? kept1 : got1;
  const uint32_t other_even = __shfl_xor_sync(kFullWarp, high ? even0 : even1, 2);
  const uint32_t other_odd = __shfl_xor_sync(kFullWarp, high ? odd0 : odd1, 2);
  return high ? make_uint4(other_even, other_odd, even1, odd1) : make_uint4(even0, odd0, other_even, other_odd);
}

#endif

using Encode = decltype(&cuTensorMapEncodeTiled);

// Returns the driver's function, with which the program is not linked; null if the driver lacks it.
inline Encode FindEncode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Encode>(function);
}

// Returns whether the current device has these instructions, and its driver the function.
inline bool TileProductsServe() {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
#ifdef HONE_HAS_SM90A
  return major == 9 && minor == 0 && FindEncode() != nullptr;
#else
  return false;  // compiled for other GPUs, the kernels have no body, also where an H100 runs their PTX
#endif
}

// Makes the TMA descriptor of a [rows, columns] bf16 matrix that is loaded in boxes with swizzled rows.
inline Status Describe(Encode encode, const void* matrix, int64_t rows, int columns, int box_rows, int box_columns,
                CUtensorMap& map) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, box_columns == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return Status::Ok();
  return Status::Device("cuTensorMapEncodeTiled refused [" + std::to_string(rows) + ", " + std::to_string(columns) +
                        "] of bf16: error " + std::to_string(static_cast<int>(result)));
}

}  // namespace hone::gnn::cuda
