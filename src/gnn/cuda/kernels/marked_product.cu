// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements marked_product.h for capability 9.0, with the blocks, warpgroups and accumulators of tile_products.cuh.
//
// The weight is read as stored, [inner, outputs]: its rows run along the summed dimension. A warp adds up the columns
// of its 16 rows by halving, so that each lane ends with four columns, and keeps these sums over all of its tiles.
#include "gnn/cuda/kernels/marked_product.h"

#include <algorithm>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/kernels/column_sums.cuh"
#include "gnn/cuda/kernels/tile_products.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kSumRows = kTiles * kGroupThreads / 32;  // warps of a block that sum the same columns
constexpr int kSumBytes = kSumRows * kStripColumns * 4;
constexpr int kBarrierBytes = (2 * kTiles * kMostStages + 1) * 8;
constexpr int kBoxRows = 64;  // rows of the weight per TMA box
static_assert(kTiles * kTileRows == kLongPieceRows, "a block's two tiles are a piece");

// The kernel's arguments besides the matrices' descriptors.
struct Operands {
  int inner, stages;               // columns of grad; stages of a tile's ring
  float slope_above, slope_below;  // slopes above and below zero, times dropout's scale
  const RowMark* marks;
  __nv_bfloat16* before;
  float* partials;
};

int SharedBytes(int inner, int stages) {
  return inner * kStripColumns * 2 + kTiles * stages * kStageBytes + kSumBytes + kBarrierBytes;
}
// Returns the number of stages per tile that fit shared memory next to the weight.
int Stages(int inner) { return std::min((kMostShared - SharedBytes(inner, 0)) / (kTiles * kStageBytes), kMostStages); }

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

constexpr int kSums = 4;  // columns whose sums a thread holds

// Sends half of the values to the lane whose number differs in `bit`, and adds the received half to the values that
// stay.
template <int kCount>
__device__ inline void AddHalves(float (&sums)[32], int bit) {
  const bool upper = (threadIdx.x & static_cast<unsigned>(bit)) != 0;
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    const float stays = upper ? sums[i + kCount / 2] : sums[i], goes = upper ? sums[i] : sums[i + kCount / 2];
    sums[i] = stays + __shfl_xor_sync(kFullWarp, goes, bit);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    MarkedProductKernel(const __grid_constant__ CUtensorMap grad, const __grid_constant__ CUtensorMap weight,
                        RowsOnDevice rows, Operands operands) {
  unsigned char* shared = DynamicShared<unsigned char>();
  const int32_t count = RowsAfter(rows.header, rows.number);
  const int strips = rows.width / kStripColumns;
  const int strip = static_cast<int>(blockIdx.x) % strips;
  const int first_tile = static_cast<int>(blockIdx.x) / strips * kTiles;
  const int tile_step = static_cast<int>(gridDim.x) / strips * kTiles;
  const int tiles = (count + kTileRows - 1) / kTileRows;
  const int padded_tiles = (rows.padded_rows + kTileRows - 1) / kTileRows;
  if (first_tile >= padded_tiles) return;

  const int inner = operands.inner;
  const uint32_t part_bytes = static_cast<uint32_t>(inner) * kWeightColumns * 2;  // bytes of 64 columns of the strip
  const uint32_t base = SharedAddress(shared);
  const uint32_t ring_at = base + kStripColumns / kWeightColumns * part_bytes;
  const uint32_t sums_at = ring_at + static_cast<uint32_t>(kTiles * operands.stages * kStageBytes);
  const uint32_t barriers = sums_at + kSumBytes;
  const uint32_t weights_here = barriers + 2 * kTiles * kMostStages * 8;
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
  __syncthreads();

  const auto ring_of = [&](int consumer) {
    return Ring{ring_at + static_cast<uint32_t>(consumer * operands.stages * kStageBytes),
                barriers + static_cast<uint32_t>(consumer * kMostStages) * 8,
                barriers + static_cast<uint32_t>((kTiles + consumer) * kMostStages) * 8, operands.stages};
  };
  if (group == kConsumers) {  // this warpgroup loads what the others multiply
    asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
    const int warp = static_cast<int>(threadIdx.x) % kGroupThreads / 32;
    if (threadIdx.x % 32 != 0 || warp >= kTiles) return;
    if (warp == 0) {
      Expect(weights_here, kStripColumns / kWeightColumns * part_bytes);
      for (int part = 0; part < kStripColumns / kWeightColumns; ++part) {
        for (int row = 0; row < inner; row += kBoxRows) {
          Bring(base + static_cast<uint32_t>(part) * part_bytes + static_cast<uint32_t>(row * kWeightColumns * 2), &weight,
                strip * kStripColumns + part * kWeightColumns, row, weights_here);
        }
      }
    }
    Ring ring = ring_of(warp);
    for (int tile = first_tile + warp; tile < tiles; tile += tile_step) {
      for (int c = 0; c < inner; c += kStageColumns) {
        Await(ring.EmptyAt(ring.stage), ring.parity ^ 1);
        Expect(ring.FullAt(), kStageBytes);
        Bring(ring.MemoryAt(), &grad, c, tile * kTileRows, ring.FullAt());
        ring.Advance();
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 112;");
  const int lane = static_cast<int>(threadIdx.x) % 32, quad_lane = lane % 4;
  const int half = group % kHalves, tile_group = group / kHalves;
  const int first_column = strip * kStripColumns + half * kHalfColumns;
  const int vectors = rows.width / 8, first_vector = first_column / 8;
  const uint32_t half_at = base + static_cast<uint32_t>(half * kHalfColumns / kWeightColumns) * part_bytes;
  const auto weight_at = [&](int c) {
    return DescriptorAlong(half_at + static_cast<uint32_t>(c * kStageColumns * kWeightColumns * 2), part_bytes);
  };
  Ring ring = ring_of(tile_group);
  float d[kValues], totals[kSums] = {};
  Await(weights_here, 0);
  for (int tile = first_tile + tile_group; tile < padded_tiles; tile += tile_step) {
    const int32_t row0 = tile * kTileRows + static_cast<int32_t>(threadIdx.x) % kGroupThreads / 32 * 16 + lane / 4;
    __nv_bfloat16* to = operands.before + static_cast<int64_t>(row0) * rows.width + first_column + quad_lane * 8;
    if (tile >= tiles) {
#pragma unroll
      for (int g = 0; g < 4; ++g) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          if (row0 + 8 * h >= rows.padded_rows) continue;
          *reinterpret_cast<uint4*>(to + static_cast<int64_t>(8 * h) * rows.width + g * 32) = make_uint4(0, 0, 0, 0);
        }
      }
      continue;
    }
    // Thread quad_lane of a quad loads the marks of four groups of eight columns: those that the loop below handles
    // when g == quad_lane. The other threads of the quad get them by a shuffle.
    uint2 marks[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      marks[h] = make_uint2(0, 0);  // nothing is kept
      if (row0 + 8 * h < count) {
        marks[h] = __ldg(reinterpret_cast<const uint2*>(operands.marks + static_cast<int64_t>(row0 + 8 * h) * vectors +
                                                        first_vector + 4 * quad_lane));
      }
    }
    MultiplyTile<true, kStageColumns / 2 * kWeightColumns * 2 / 16>(d, ring, inner, /*accumulates=*/false, weight_at);

    // The product d[(4 g + j) * 4 + 2 h + e] of a lane is that of row row0 + 8 h, in group g of 32 columns, in tile j
    // of eight columns, and there column 2 quad_lane + e. A mark has 16 bits for such a tile: signs below, kept bits
    // above.
    float sums[32];
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      uint32_t words[2][4];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const uint32_t low = __shfl_sync(kFullWarp, marks[h].x, lane / 4 * 4 + g) >> 2 * quad_lane;
        const uint32_t high = __shfl_sync(kFullWarp, marks[h].y, lane / 4 * 4 + g) >> 2 * quad_lane;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const uint32_t mark = (j < 2 ? low : high) >> 16 * (j % 2);
          float value[2];
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const float slope = (mark & 1u << e) != 0 ? operands.slope_above : operands.slope_below;
            value[e] = (mark & 0x100u << e) != 0 ? d[(4 * g + j) * 4 + 2 * h + e] * slope : 0.0f;
          }
          const __nv_bfloat162 pair = __floats2bfloat162_rn(value[0], value[1]);
          words[h][j] = *reinterpret_cast<const uint32_t*>(&pair);
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {  // sums of the values as rounded for storing
        sums[(4 * g + j) * 2] = __uint_as_float(words[0][j] << 16) + __uint_as_float(words[1][j] << 16);
        sums[(4 * g + j) * 2 + 1] =
            __uint_as_float(words[0][j] & 0xffff0000u) + __uint_as_float(words[1][j] & 0xffff0000u);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const uint4 out = WordsOfGroup(words[h], quad_lane);
        if (row0 + 8 * h < rows.padded_rows) {
          *reinterpret_cast<uint4*>(to + static_cast<int64_t>(8 * h) * rows.width + g * 32) = out;
        }
      }
    }
    AddHalves<32>(sums, 16);
    AddHalves<16>(sums, 8);
    AddHalves<8>(sums, 4);
#pragma unroll
    for (int i = 0; i < kSums; ++i) totals[i] += sums[i];
  }

  // The lane's two groups of eight columns are adjacent, and it has two columns of each.
  auto* warp_sums = reinterpret_cast<float*>(shared + (sums_at - base)) +
                    (tile_group * kGroupThreads / 32 + static_cast<int>(threadIdx.x) % kGroupThreads / 32) * kStripColumns +
                    half * kHalfColumns;
  const int first_group = (lane & 16) / 2 + (lane & 8) / 2 + (lane & 4) / 2;
#pragma unroll
  for (int i = 0; i < kSums; ++i) warp_sums[(first_group + i / 2) * 8 + 2 * quad_lane + i % 2] = totals[i];
  asm volatile("bar.sync 1, %0;" ::"n"(kConsumers * kGroupThreads) : "memory");
  const auto column = static_cast<int>(threadIdx.x);
  if (column >= kStripColumns) return;
  const auto* column_sums = reinterpret_cast<const float*>(shared + (sums_at - base)) + column;
  float total = 0;
#pragma unroll
  for (int w = 0; w < kSumRows; ++w) total += column_sums[w * kStripColumns];
  operands.partials[static_cast<int64_t>(static_cast<int>(blockIdx.x) / strips) * rows.width + strip * kStripColumns +
                    column] = total;
}

#else  // other architectures never launch this kernel

__global__ void MarkedProductKernel(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                                    RowsOnDevice, Operands) {}

#endif

// Returns how many blocks work side by side down the rows; 0 if the device cannot be queried.
int BlocksDownTheRows(int outputs) {
  int device = 0, multiprocessors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return std::max(1, multiprocessors / (outputs / kStripColumns));
}

}  // namespace

bool MarkedProductServes(const MarkedProductShape& shape) {
  return shape.activation != Activation::kElu && shape.inner >= kBoxRows && shape.inner % kBoxRows == 0 &&
         shape.outputs > 0 && shape.outputs % kStripColumns == 0 && Stages(shape.inner) >= 4 && TileProductsServe();
}

int32_t MarkedProductMostPieces(int32_t padded_rows, const MarkedProductShape& shape) {
  return std::min(BlocksDownTheRows(shape.outputs), PieceCount(padded_rows, kLongPieceRows));
}

Status EnqueueMarkedProduct(const RowsOnDevice& rows, const MarkedProductShape& shape, const MarkedProduct& product,
                            cudaStream_t stream) {
  const Encode encode = FindEncode();
  if (encode == nullptr) return Status::Device("the driver has no cuTensorMapEncodeTiled: install one for CUDA 12 or newer");
  CUtensorMap grad{}, weight{};
  HONE_RETURN_IF_ERROR(Describe(encode, product.grad, rows.padded_rows, shape.inner, kTileRows, kStageColumns, grad));
  HONE_RETURN_IF_ERROR(Describe(encode, product.weight, shape.inner, shape.outputs, kBoxRows, kWeightColumns, weight));
  Operands operands{};
  operands.inner = shape.inner;
  operands.stages = Stages(shape.inner);
  const float scale = product.between.dropout.threshold == 0 ? 1.0f : product.between.dropout.scale;
  operands.slope_above = scale;
  operands.slope_below = scale * (shape.activation == Activation::kRelu        ? 0.0f
                                  : shape.activation == Activation::kLeakyRelu ? static_cast<float>(kLeakySlope)
                                                                               : 1.0f);
  operands.marks = product.marks;
  operands.before = static_cast<__nv_bfloat16*>(product.before);
  operands.partials = product.partials;
  const int shared = SharedBytes(shape.inner, operands.stages);
  HONE_CUDA_RETURN_IF_ERROR(
      cudaFuncSetAttribute(MarkedProductKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  HONE_CUDA_RETURN_IF_ERROR(Launch(MarkedProductKernel, BlocksDownTheRows(shape.outputs) * (shape.outputs / kStripColumns), kThreads,
                                   static_cast<size_t>(shared), stream, grad, weight, rows, operands));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
