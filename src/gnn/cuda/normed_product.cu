// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of normed_product.h for capability 9.0, on tensor cores by wgmma and fed by TMA.
//
// A block keeps a strip of 256 columns of both weights in shared memory and goes down the rows, two tiles of 64 at a
// time. Two warpgroups have a tile, 128 columns each: what is done between and after the products takes more time than
// they do, and needs the warps. A thread of a fifth warpgroup brings a tile's rows, 32 columns a stage. A block is alone
// on its multiprocessor. As many blocks as there are strips stand side by side over the same rows, which come from
// memory once and from L2 otherwise.
//
// A warpgroup's accumulators: thread t has rows 16 (t / 32) + t % 32 / 4 and 8 further down, and of every eight columns
// the two from 2 (t % 4) on. Four neighboring threads (a quad) so share eight columns of a row, which is what marks are
// for, and swap what they have before it is written.
#include "gnn/cuda/normed_product.h"

#include <cuda.h>

#include <string>

#include "gnn/cuda/cuda_support.h"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/row_marks.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kStripColumns = 256;
constexpr int kTileRows = 64;
constexpr int kStageColumns = 32;   // of the rows
constexpr int kWeightColumns = 64;  // of a part of a weight
constexpr int kTiles = 2;   // under way in a block
constexpr int kHalves = 2;  // of a strip
constexpr int kHalfColumns = kStripColumns / kHalves;
constexpr int kConsumers = kTiles * kHalves;
constexpr int kValues = kTileRows * kHalfColumns / 128;  // a thread
constexpr int kGroupThreads = 128;
constexpr int kThreads = (kConsumers + 1) * kGroupThreads;
// 65,536 registers come to 96 for each of 640 threads; what the fifth warpgroup gives up is what the others get. One that
// asked for more than there is would wait for ever.
static_assert(96 * kThreads >= 112 * kConsumers * kGroupThreads + 32 * kGroupThreads, "registers are handed on, not made");
constexpr int kMostStages = 16;
constexpr int kStageBytes = kTileRows * kStageColumns * 2;
constexpr int kPartBytes = kStripColumns * kWeightColumns * 2;
constexpr int kMostShared = 232448;  // bytes a block may have
constexpr int kCoefficientBytes = kStripColumns * 8;
constexpr int kBarrierBytes = (2 * kTiles * kMostStages + 1) * 8;

struct Operands {
  int inputs, residual_inputs;
  int stages;
  ColumnCoefficients coefficients;
  Between between;
  const float* residual_bias;
  __nv_bfloat16* y;
  __nv_bfloat16* also;
  int64_t also_stride;
  const uint8_t* kept;
  RowMark* marks;
};

int SharedBytes(int inputs, int stages) {
  return inputs / kWeightColumns * kPartBytes + kTiles * stages * kStageBytes + kCoefficientBytes + kBarrierBytes;
}
int Stages(int inputs) {
  const int room = (kMostShared - SharedBytes(inputs, 0)) / (kTiles * kStageBytes);
  return room < kMostStages ? room : kMostStages;
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

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
// A box of the matrix from (column, row) on.
__device__ inline void Bring(uint32_t to, const CUtensorMap* map, int column, int row, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(reinterpret_cast<uint64_t>(map)), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// Of a tile in shared memory whose rows are `kRowBytes` long and swizzled by as much.
template <int kRowBytes>
__device__ inline uint64_t Descriptor(uint32_t address) {
  constexpr uint64_t kLayout = kRowBytes == 128 ? 1 : 2;
  constexpr uint64_t kEightRows = kRowBytes * 8 / 16;
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | uint64_t{1} << 16 | kEightRows << 32 | kLayout << 62;
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
// d = [64 x 16] of a times [16 x 128] of b, plus d where it accumulates.
__device__ inline void Multiply(float (&d)[kValues], uint64_t a, uint64_t b, bool accumulates) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, p, 1, 1, 0, 0;\n}\n"
      : HONE_SIXTEEN(d, 0), HONE_SIXTEEN(d, 16), HONE_SIXTEEN(d, 32), HONE_SIXTEEN(d, 48)
      : "l"(a), "l"(b), "r"(accumulates ? 1 : 0));
}
#undef HONE_SIXTEEN
#undef HONE_FOUR

// A warpgroup's part of the ring of stages.
struct Ring {
  uint32_t memory, full, empty;  // addresses
  int stages;
  int stage = 0;
  uint32_t parity = 0;

  __device__ uint32_t FullAt() const { return full + static_cast<uint32_t>(stage) * 8; }
  __device__ uint32_t EmptyAt(int which) const { return empty + static_cast<uint32_t>(which) * 8; }
  __device__ uint32_t MemoryAt() const { return memory + static_cast<uint32_t>(stage * kStageBytes); }
  __device__ void Advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// d (+)= the tile's rows times the weight's parts from `weight` on.
__device__ inline void MultiplyTile(float (&d)[kValues], Ring& ring, int columns, uint32_t weight, bool accumulates) {
  int before = -1;
  for (int c = 0; c < columns / kStageColumns; ++c) {
    Await(ring.FullAt(), ring.parity);
    const uint64_t a = Descriptor<kStageColumns * 2>(ring.MemoryAt());
    const uint64_t b = Descriptor<kWeightColumns * 2>(weight + static_cast<uint32_t>(c / 2 * kPartBytes)) +
                       static_cast<uint64_t>(c % 2 * 4);
    BeginProducts();
    Multiply(d, a, b, accumulates || c > 0);
    Multiply(d, a + 2, b + 2, true);
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

// Thread q of a quad has a word of each of four groups; afterwards it has the quad's four words of group q.
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

__global__ void __launch_bounds__(kThreads, 1)
    NormedProductKernel(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap weight,
                        const __grid_constant__ CUtensorMap residual,
                        const __grid_constant__ CUtensorMap residual_weight, RowsOnDevice rows, Operands operands) {
  unsigned char* shared = DynamicShared<unsigned char>();
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int strips = rows.width / kStripColumns;
  const int strip = static_cast<int>(blockIdx.x) % strips;
  const int first_tile = static_cast<int>(blockIdx.x) / strips * kTiles;
  const int tile_step = static_cast<int>(gridDim.x) / strips * kTiles;
  const int tiles = (count + kTileRows - 1) / kTileRows;
  if (first_tile >= tiles) return;

  const int inputs = operands.inputs + operands.residual_inputs;
  const uint32_t base = SharedAddress(shared);
  const uint32_t ring_at = base + static_cast<uint32_t>(inputs / kWeightColumns * kPartBytes);
  const uint32_t coefficients_at = ring_at + static_cast<uint32_t>(kTiles * operands.stages * kStageBytes);
  const uint32_t barriers = coefficients_at + kCoefficientBytes;
  const uint32_t weights_here = barriers + 2 * kTiles * kMostStages * 8;
  auto* coefficients = reinterpret_cast<float2*>(shared + (coefficients_at - base));
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  if (threadIdx.x == 0) {
    for (uint32_t i = 0; i < kTiles * kMostStages; ++i) {
      InitBarrier(barriers + i * 8, 1);                                                     // full
      InitBarrier(barriers + (kTiles * kMostStages + i) * 8, kHalves * kGroupThreads / 32);  // empty
    }
    InitBarrier(weights_here, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  if (threadIdx.x < kStripColumns) {
    const auto column = strip * kStripColumns + static_cast<int>(threadIdx.x);
    // What dropout multiplies by is positive, so that it may come before the activation.
    const float kept_scale = operands.kept == nullptr ? 1.0f : operands.between.dropout.scale;
    const float scale = operands.coefficients.scale[column];
    const float shift = operands.coefficients.shift[column] - operands.coefficients.mean[column] * scale;
    coefficients[threadIdx.x] = {scale * kept_scale, shift * kept_scale};
  }
  __syncthreads();

  const auto ring_of = [&](int which) {
    return Ring{ring_at + static_cast<uint32_t>(which * operands.stages * kStageBytes),
                barriers + static_cast<uint32_t>(which * kMostStages) * 8,
                barriers + static_cast<uint32_t>((kTiles + which) * kMostStages) * 8, operands.stages};
  };
  if (group == kConsumers) {  // brings what the others multiply
    asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
    const int which = static_cast<int>(threadIdx.x) % kGroupThreads / 32;
    if (threadIdx.x % 32 != 0 || which >= kTiles) return;
    if (which == 0) {
      Expect(weights_here, static_cast<uint32_t>(inputs / kWeightColumns * kPartBytes));
      for (int c = 0; c < inputs; c += kWeightColumns) {
        const bool own = c < operands.inputs;
        Bring(base + static_cast<uint32_t>(c / kWeightColumns * kPartBytes), own ? &weight : &residual_weight,
              own ? c : c - operands.inputs, strip * kStripColumns, weights_here);
      }
    }
    Ring ring = ring_of(which);
    for (int tile = first_tile + which; tile < tiles; tile += tile_step) {
      for (int c = 0; c < inputs; c += kStageColumns) {
        Await(ring.EmptyAt(ring.stage), ring.parity ^ 1);
        Expect(ring.FullAt(), kStageBytes);
        const bool own = c < operands.inputs;
        Bring(ring.MemoryAt(), own ? &x : &residual, own ? c : c - operands.inputs, tile * kTileRows, ring.FullAt());
        ring.Advance();
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 112;");
  const int q = static_cast<int>(threadIdx.x) % 4;
  const int half = group % kHalves;
  const Activation activation = operands.between.activation;
  const float below = activation == Activation::kRelu        ? 0.0f
                      : activation == Activation::kLeakyRelu ? static_cast<float>(kLeakySlope)
                                                             : 1.0f;
  const int first_column = strip * kStripColumns + half * kHalfColumns;
  const int vectors = rows.width / 8, first_vector = first_column / 8;
  const int32_t seeds = RowsAfter(rows.header, 0);
  const uint32_t half_at = base + static_cast<uint32_t>(half * kHalfColumns * kWeightColumns * 2);
  const float2* half_coefficients = coefficients + half * kHalfColumns;
  Ring ring = ring_of(group / kHalves);
  float d[kValues];
  Await(weights_here, 0);
  for (int tile = first_tile + group / kHalves; tile < tiles; tile += tile_step) {
    const int32_t row0 = tile * kTileRows + static_cast<int32_t>(threadIdx.x) % kGroupThreads / 32 * 16 +
                         static_cast<int32_t>(threadIdx.x) % 32 / 4;
    // The half's 16 groups of eight columns, a byte each.
    uint32_t kept[2][4];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      uint4 words = make_uint4(~0u, ~0u, ~0u, ~0u);
      if (operands.kept != nullptr && row0 + 8 * h < count) {
        words = __ldg(reinterpret_cast<const uint4*>(operands.kept + static_cast<int64_t>(row0 + 8 * h) * vectors +
                                                     first_vector));
      }
      kept[h][0] = words.x;
      kept[h][1] = words.y;
      kept[h][2] = words.z;
      kept[h][3] = words.w;
    }
    MultiplyTile(d, ring, operands.inputs, half_at, false);

    uint32_t my_above[2] = {}, my_kept[2] = {};
#pragma unroll
    for (int g = 0; g < 4; ++g) {  // four groups of eight columns
      uint32_t above[2] = {};
      const uint32_t shifted[2] = {kept[0][g] >> 2 * q, kept[1][g] >> 2 * q};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float4 c = *reinterpret_cast<const float4*>(&half_coefficients[(4 * g + j) * 8 + 2 * q]);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& p = d[(4 * g + j) * 4 + 2 * h + e];
            const float z = e == 0 ? fmaf(p, c.x, c.y) : fmaf(p, c.z, c.w);
            const bool up = z > 0.0f;
            if (up) above[h] |= 1u << (8 * j + e);
            p = (shifted[h] & 1u << (8 * j + e)) == 0 ? 0.0f : up ? z : z * below;
          }
        }
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        above[h] = OrOfQuad(above[h] << 2 * q);
        if (g == q) {
          my_above[h] = above[h];
          my_kept[h] = kept[h][g];
        }
      }
    }
    if (operands.marks != nullptr) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (row0 + 8 * h >= count) continue;
        *reinterpret_cast<uint2*>(operands.marks + static_cast<int64_t>(row0 + 8 * h) * vectors + first_vector + 4 * q) =
            make_uint2(__byte_perm(my_above[h], my_kept[h], 0x5140), __byte_perm(my_above[h], my_kept[h], 0x7362));
      }
    }
    if (operands.residual_inputs > 0) {
      if (operands.residual_bias != nullptr) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
          const float2 bias = __ldg(reinterpret_cast<const float2*>(operands.residual_bias + first_column + j * 8 + 2 * q));
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            d[j * 4 + 2 * h] += bias.x;
            d[j * 4 + 2 * h + 1] += bias.y;
          }
        }
      }
      FenceRegisters(d);
      MultiplyTile(d, ring, operands.residual_inputs,
                   half_at + static_cast<uint32_t>(operands.inputs / kWeightColumns * kPartBytes), true);
    }
#pragma unroll
    for (int g = 0; g < 4; ++g) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        uint32_t words[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float* p = d + (4 * g + j) * 4 + 2 * h;
          const __nv_bfloat162 pair = __floats2bfloat162_rn(p[0], p[1]);
          words[j] = *reinterpret_cast<const uint32_t*>(&pair);
        }
        const uint4 out = WordsOfGroup(words, q);
        const int32_t row = row0 + 8 * h;
        const int column = first_column + (4 * g + q) * 8;
        if (row < count) *reinterpret_cast<uint4*>(operands.y + static_cast<int64_t>(row) * rows.width + column) = out;
        if (row < seeds && operands.also != nullptr) {
          *reinterpret_cast<uint4*>(operands.also + row * operands.also_stride + column) = out;
        }
      }
    }
  }
}

#else  // another architecture of the same program: never launched there

__global__ void NormedProductKernel(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                                    const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                                    RowsOnDevice, Operands) {}

#endif

using Encode = decltype(&cuTensorMapEncodeTiled);

// The driver's function, which the program is not linked with; null on a driver without it.
Encode FindEncode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Encode>(function);
}

// Of [rows, columns] bf16, brought in boxes whose rows are swizzled.
Status Describe(Encode encode, const void* matrix, int64_t rows, int columns, int box_rows, int box_columns,
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

}  // namespace

bool NormedProductServes(const NormedProductShape& shape) {
  const int inputs = shape.inputs + shape.residual_inputs;
  if (shape.activation == Activation::kElu || shape.inputs < kWeightColumns || shape.inputs % kWeightColumns != 0 ||
      shape.residual_inputs % kWeightColumns != 0 || shape.outputs < 1 || shape.outputs % kStripColumns != 0 ||
      Stages(inputs) < 4) {
    return false;
  }
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return major == 9 && minor == 0 && FindEncode() != nullptr;
}

Status EnqueueNormedProduct(const RowsOnDevice& rows, const NormedProductShape& shape, const NormedProduct& product,
                            cudaStream_t stream) {
  const Encode encode = FindEncode();
  if (encode == nullptr) return Status::Device("the driver has no cuTensorMapEncodeTiled: install one for CUDA 12 or newer");
  int device = 0, multiprocessors = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CUtensorMap x{}, weight{}, residual{}, residual_weight{};
  HONE_RETURN_IF_ERROR(Describe(encode, product.x, rows.padded_rows, shape.inputs, kTileRows, kStageColumns, x));
  HONE_RETURN_IF_ERROR(
      Describe(encode, product.weight, shape.outputs, shape.inputs, kStripColumns, kWeightColumns, weight));
  if (shape.residual_inputs > 0) {
    HONE_RETURN_IF_ERROR(Describe(encode, product.residual, rows.padded_rows, shape.residual_inputs, kTileRows,
                                  kStageColumns, residual));
    HONE_RETURN_IF_ERROR(Describe(encode, product.residual_weight, shape.outputs, shape.residual_inputs, kStripColumns,
                                  kWeightColumns, residual_weight));
  }
  const int inputs = shape.inputs + shape.residual_inputs;
  Operands operands{};
  operands.inputs = shape.inputs;
  operands.residual_inputs = shape.residual_inputs;
  operands.stages = Stages(inputs);
  operands.coefficients = product.coefficients;
  operands.between = product.between;
  operands.residual_bias = product.residual_bias;
  operands.y = static_cast<__nv_bfloat16*>(product.y);
  operands.also = static_cast<__nv_bfloat16*>(product.also);
  operands.also_stride = product.also_stride;
  operands.kept = product.kept;
  operands.marks = product.marks;
  const int shared = SharedBytes(inputs, operands.stages);
  HONE_CUDA_RETURN_IF_ERROR(
      cudaFuncSetAttribute(NormedProductKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  const int strips = shape.outputs / kStripColumns;
  const int groups = multiprocessors / strips > 0 ? multiprocessors / strips : 1;
  HONE_CUDA_RETURN_IF_ERROR(Launch(NormedProductKernel, groups * strips, kThreads, static_cast<size_t>(shared), stream, x,
                                   weight, residual, residual_weight, rows, operands));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
