// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements normed_product.h for capability 9.0, on tensor cores by wgmma and fed by TMA.
//
// Blocks, warpgroups and accumulators are those of tile_products.cuh; both weights lie in shared memory. A quad of
// threads shares eight columns of a row, and such a group of columns has one mark.
#include "gnn/cuda/kernels/normed_product.h"

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_marks.cuh"
#include "gnn/cuda/kernels/tile_products.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kCoefficientBytes = kStripColumns * 8;
constexpr int kBarrierBytes = (2 * kTiles * kMostStages + 1) * 8;

// The kernel's arguments besides the matrices' descriptors.
struct Operands {
  int inputs, residual_inputs;
  int stages;  // stages of a tile's ring
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
// Returns the number of stages per tile that fit shared memory next to the weights.
int StagesThatFit(int inputs) {
  const int room = (kMostShared - SharedBytes(inputs, 0)) / (kTiles * kStageBytes);
  return room < kMostStages ? room : kMostStages;
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

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
    // Dropout's scale is positive, so it may be applied before the activation.
    const float kept_scale = operands.kept == nullptr ? 1.0f : operands.between.dropout.scale;
    const float scale = operands.coefficients.scale[column];
    const float shift = operands.coefficients.shift[column] - operands.coefficients.mean[column] * scale;
    coefficients[threadIdx.x] = {scale * kept_scale, shift * kept_scale};
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
      Expect(weights_here, static_cast<uint32_t>(inputs / kWeightColumns * kPartBytes));
      for (int c = 0; c < inputs; c += kWeightColumns) {
        const bool is_own = c < operands.inputs;
        Bring(base + static_cast<uint32_t>(c / kWeightColumns * kPartBytes), is_own ? &weight : &residual_weight,
              is_own ? c : c - operands.inputs, strip * kStripColumns, weights_here);
      }
    }
    Ring ring = ring_of(warp);
    for (int tile = first_tile + warp; tile < tiles; tile += tile_step) {
      for (int c = 0; c < inputs; c += kStageColumns) {
        Await(ring.EmptyAt(ring.stage), ring.parity ^ 1);
        Expect(ring.FullAt(), kStageBytes);
        const bool is_own = c < operands.inputs;
        Bring(ring.MemoryAt(), is_own ? &x : &residual, is_own ? c : c - operands.inputs, tile * kTileRows,
              ring.FullAt());
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
  const auto weight_from = [](uint32_t first_part) {
    return [first_part](int c) {
      return Descriptor<kWeightColumns * 2>(first_part + static_cast<uint32_t>(c / 2 * kPartBytes)) +
             static_cast<uint64_t>(c % 2 * 4);
    };
  };
  Ring ring = ring_of(group / kHalves);
  float d[kValues];
  Await(weights_here, 0);
  for (int tile = first_tile + group / kHalves; tile < tiles; tile += tile_step) {
    const int32_t row0 = tile * kTileRows + static_cast<int32_t>(threadIdx.x) % kGroupThreads / 32 * 16 +
                         static_cast<int32_t>(threadIdx.x) % 32 / 4;
    // Dropout's bytes for the half's 16 groups of eight columns.
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
    MultiplyTile<false, 2>(d, ring, operands.inputs, /*accumulates=*/false, weight_from(half_at));

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
      MultiplyTile<false, 2>(
          d, ring, operands.residual_inputs, /*accumulates=*/true,
          weight_from(half_at + static_cast<uint32_t>(operands.inputs / kWeightColumns * kPartBytes)));
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

#else  // other architectures never launch this kernel

__global__ void NormedProductKernel(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                                    const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
                                    RowsOnDevice, Operands) {}

#endif

}  // namespace

bool NormedProductServes(const NormedProductShape& shape) {
  const int inputs = shape.inputs + shape.residual_inputs;
  if (shape.activation == Activation::kElu || shape.inputs < kWeightColumns || shape.inputs % kWeightColumns != 0 ||
      shape.residual_inputs % kWeightColumns != 0 || shape.outputs < 1 || shape.outputs % kStripColumns != 0 ||
      StagesThatFit(inputs) < 4) {
    return false;
  }
  return TileProductsServe();
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
  operands.stages = StagesThatFit(inputs);
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
