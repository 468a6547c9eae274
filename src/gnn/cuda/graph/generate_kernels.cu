// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements generate_kernels.h.
#include "gnn/cuda/graph/generate_kernels.h"

#include <algorithm>

#include "gnn/cuda/base/launch.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kTile = 256;  // nodes per tile, and threads per block
constexpr int kLevels = 3;

__device__ int64_t BlockBegin(const SyntheticSpec& s, int64_t block) {
  return block >= s.num_blocks ? s.num_nodes : block * s.block_nodes;
}

__device__ uint32_t CountOf(const SlotCounts& slots, int level) {
  return level == kLevelBlock ? slots.block : level == kLevelRegion ? slots.region : slots.global;
}

// The slot counts of a tile's nodes. before[level][i] is the number of slots of the nodes before the i-th;
// before[level][kTile] is that of all nodes.
struct Tile {
  uint32_t before[kLevels][kTile + 1];
};

// Counts the slots of a tile; a node past `end` has none. All threads must call it.
__device__ void CountTile(const SyntheticSpec& spec, const DegreeTableView& table, int64_t first, int64_t end, Tile& tile) {
  const int t = static_cast<int>(threadIdx.x);
  SlotCounts own_slots{0, 0, 0};
  if (first + t < end) own_slots = SlotsOf(spec, table, first + t);
  __syncthreads();  // the previous tile may still be in use
  for (int level = 0; level < kLevels; ++level) tile.before[level][t + 1] = CountOf(own_slots, level);
  if (t < kLevels) tile.before[t][0] = 0;
  for (int offset = 1; offset < kTile; offset *= 2) {  // prefix sum (Hillis and Steele)
    __syncthreads();
    uint32_t earlier[kLevels];
    for (int level = 0; level < kLevels; ++level) earlier[level] = t >= offset ? tile.before[level][t + 1 - offset] : 0;
    __syncthreads();
    for (int level = 0; level < kLevels; ++level) tile.before[level][t + 1] += earlier[level];
  }
  __syncthreads();
}

// Returns the node of the tile that owns slot `slot` counted by `before`: the last i with before(i) <= slot.
template <typename Before>
__device__ int NodeOfSlot(const Before& before, uint32_t slot) {
  int low = 0, high = kTile - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (before(middle) <= slot) low = middle; else high = middle - 1;
  }
  return low;
}

__global__ void __launch_bounds__(kTile) CountSlotsKernel(SyntheticSpec spec, DegreeTableView table, uint64_t* slots) {
  __shared__ Tile tile;
  const int64_t end = BlockBegin(spec, blockIdx.x + 1);
  uint64_t sums[kLevels] = {0, 0, 0};
  for (int64_t first = BlockBegin(spec, blockIdx.x); first < end; first += kTile) {
    CountTile(spec, table, first, end, tile);
    for (int level = 0; level < kLevels; ++level) sums[level] += tile.before[level][kTile];
  }
  if (threadIdx.x != 0) return;
  for (int level = 0; level < kLevels; ++level) slots[level * spec.num_blocks + blockIdx.x] = sums[level];
}

__global__ void __launch_bounds__(kTile) OwnersKernel(SyntheticSpec spec, DegreeTableView table, SlotStarts starts,
                                                      int64_t* row_offsets, int32_t* block_owners,
                                                      int32_t* region_owners, int32_t* global_owners) {
  __shared__ Tile tile;
  const int64_t block = blockIdx.x;
  int32_t* const owners[kLevels] = {block_owners, region_owners, global_owners};
  const int64_t end = BlockBegin(spec, block + 1);
  uint64_t next_slot[kLevels];
  for (int level = 0; level < kLevels; ++level) next_slot[level] = starts.level[level][block];
  for (int64_t first = BlockBegin(spec, block); first < end; first += kTile) {
    CountTile(spec, table, first, end, tile);
    const int t = static_cast<int>(threadIdx.x);
    if (first + t < end) {
      uint64_t offset = 0;
      for (int level = 0; level < kLevels; ++level) offset += next_slot[level] + tile.before[level][t];
      row_offsets[first + t] = static_cast<int64_t>(offset);
    }
    for (int level = 0; level < kLevels; ++level) {
      const uint32_t* before = tile.before[level];
      for (uint32_t slot = threadIdx.x; slot < before[kTile]; slot += kTile) {
        const int i = NodeOfSlot([&](int n) { return before[n]; }, slot);
        owners[level][next_slot[level] + slot] = static_cast<int32_t>(first + i);
      }
      next_slot[level] += before[kTile];
    }
  }
  if (block + 1 == spec.num_blocks && threadIdx.x == 0) {
    row_offsets[spec.num_nodes] = static_cast<int64_t>(next_slot[0] + next_slot[1] + next_slot[2]);
  }
}

// The slots that a level's permutation pairs: `permutation.count` of them from `first` on.
struct Pairing {
  KeyedPermutation permutation;
  uint64_t first;
};
static_assert(sizeof(Pairing) % 8 == 0 && alignof(Pairing) <= 8);

__device__ Pairing PairingOf(const SyntheticSpec& spec, const SlotStarts& starts, int level, int64_t block) {
  int64_t first_block = 0, end_block = spec.num_blocks;
  uint64_t group = 0;
  if (level == kLevelBlock) {
    first_block = block;
    end_block = block + 1;
    group = static_cast<uint64_t>(block);
  } else if (level == kLevelRegion) {
    const int64_t region = RegionOfBlock(spec, block);
    first_block = region * spec.blocks_per_region;
    if (region + 1 < spec.num_regions) end_block = first_block + spec.blocks_per_region;
    group = static_cast<uint64_t>(region);
  }
  const uint64_t first = starts.level[level][first_block];
  const uint64_t count = starts.level[level][end_block] - first;
  return {MakePermutation(spec.seed, static_cast<uint32_t>(level), group, count, kPurposePairing), first};
}

__global__ void __launch_bounds__(kTile) ColumnsKernel(SyntheticSpec spec, DegreeTableView table, SlotStarts starts,
                                                       const int32_t* block_owners, const int32_t* region_owners,
                                                       const int32_t* global_owners, int32_t* columns) {
  __shared__ Tile tile;
  __shared__ uint64_t pairing_words[kLevels * sizeof(Pairing) / 8];  // raw: Pairing's members have initial values
  Pairing* const pairing = reinterpret_cast<Pairing*>(pairing_words);
  const int64_t block = blockIdx.x;
  const int32_t* const owners[kLevels] = {block_owners, region_owners, global_owners};
  if (threadIdx.x < kLevels) pairing[threadIdx.x] = PairingOf(spec, starts, static_cast<int>(threadIdx.x), block);
  const int64_t end = BlockBegin(spec, block + 1);
  uint64_t next_slot[kLevels];
  for (int level = 0; level < kLevels; ++level) next_slot[level] = starts.level[level][block];
  for (int64_t first = BlockBegin(spec, block); first < end; first += kTile) {
    CountTile(spec, table, first, end, tile);
    const auto before = [&](int n) { return tile.before[0][n] + tile.before[1][n] + tile.before[2][n]; };
    int32_t* const out = columns + (next_slot[0] + next_slot[1] + next_slot[2]);
    const uint32_t slots = before(kTile);
    for (uint32_t slot = threadIdx.x; slot < slots; slot += kTile) {
      const int i = NodeOfSlot(before, slot);
      uint32_t within = slot - before(i);  // index among the node's slots: its block's come first, then its region's,
                                           // then the global ones
      int level = 0;
      for (; level < kLevels - 1; ++level) {
        const uint32_t count = tile.before[level][i + 1] - tile.before[level][i];
        if (within < count) break;
        within -= count;
      }
      const Pairing& pairs = pairing[level];
      const uint64_t paired_slot = next_slot[level] + tile.before[level][i] + within - pairs.first;
      out[slot] = owners[level][pairs.first + PartnerSlot(pairs.permutation, paired_slot)];
    }
    for (int level = 0; level < kLevels; ++level) next_slot[level] += tile.before[level][kTile];
  }
}

__global__ void CentroidsKernel(SyntheticSpec spec, int32_t quads, PhiloxWords* centroids) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < spec.num_classes * quads) centroids[i] = CentroidWords(spec, i / quads, i % quads);
}

// Generates four elements per thread, padding included; a row has `quads` groups of four.
template <Element kElement>
__global__ void FeaturesKernel(SyntheticSpec spec, int32_t quads, const PhiloxWords* centroids, int64_t row_quads,
                               int64_t first, int64_t count, unsigned char* rows) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count * row_quads; at += step) {
    const int64_t row = at / row_quads, v = first + row;
    const int32_t quad = static_cast<int32_t>(at - row * row_quads);
    int32_t units[4] = {0, 0, 0, 0};
    if (quad < quads) {
      const PhiloxWords centroid = centroids[ClassOfBlock(spec, BlockOf(spec, v)) * quads + quad];
      const PhiloxWords noise = NoiseWords(spec, v, quad);
      for (int i = 0; i < 4; ++i) {
        if (quad * 4 + i < spec.width) units[i] = FeatureUnits(spec, centroid[static_cast<size_t>(i)], noise[static_cast<size_t>(i)]);
      }
    }
    if constexpr (kElement == Element::kFloat32) {
      reinterpret_cast<float4*>(rows)[at] =
          make_float4(static_cast<float>(units[0]) * kFeatureUnit, static_cast<float>(units[1]) * kFeatureUnit,
                      static_cast<float>(units[2]) * kFeatureUnit, static_cast<float>(units[3]) * kFeatureUnit);
    } else {
      uint32_t bits[4];
      for (int i = 0; i < 4; ++i) {
        bits[i] = kElement == Element::kFloat16 ? FeatureHalfBits(units[i]) : FeatureBFloat16Bits(units[i]);
      }
      reinterpret_cast<uint2*>(rows)[at] = make_uint2(bits[0] | bits[1] << 16, bits[2] | bits[3] << 16);
    }
  }
}

__global__ void LabelsKernel(SyntheticSpec spec, int32_t* labels) {
  const int64_t v = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (v >= spec.num_nodes) return;
  labels[v] = LabelRank(spec, v) < 0 ? -1 : ObservedLabel(spec, v, ClassOfBlock(spec, BlockOf(spec, v)));
}

dim3 BlocksOf(const SyntheticSpec& spec) { return dim3(static_cast<unsigned>(spec.num_blocks)); }
dim3 BlocksFor(int64_t threads) {
  return dim3(static_cast<unsigned>(std::clamp<int64_t>((threads + kTile - 1) / kTile, 1, 1 << 30)));
}

}  // namespace

cudaError_t EnqueueCountSlots(const SyntheticSpec& spec, const DegreeTableView& table, uint64_t* slots,
                              cudaStream_t stream) {
  return Launch(CountSlotsKernel, BlocksOf(spec), kTile, 0, stream, spec, table, slots);
}

cudaError_t EnqueueOwners(const SyntheticSpec& spec, const DegreeTableView& table, const SlotStarts& starts,
                          int64_t* row_offsets, int32_t* const owners[3], cudaStream_t stream) {
  return Launch(OwnersKernel, BlocksOf(spec), kTile, 0, stream, spec, table, starts, row_offsets, owners[0], owners[1],
                owners[2]);
}

cudaError_t EnqueueColumns(const SyntheticSpec& spec, const DegreeTableView& table, const SlotStarts& starts,
                           const int32_t* const owners[3], int32_t* columns, cudaStream_t stream) {
  return Launch(ColumnsKernel, BlocksOf(spec), kTile, 0, stream, spec, table, starts, owners[0], owners[1], owners[2],
                columns);
}

cudaError_t EnqueueFeatures(const SyntheticSpec& spec, Element element, int64_t stride_bytes, void* centroids,
                            int64_t first, int64_t count, void* rows, cudaStream_t stream) {
  const int32_t quads = (spec.width + 3) / 4;
  auto* random_words = static_cast<PhiloxWords*>(centroids);
  auto* bytes = static_cast<unsigned char*>(rows);
  (void)Launch(CentroidsKernel, BlocksFor(int64_t{spec.num_classes} * quads), kTile, 0, stream, spec, quads,
               random_words);
  const int64_t row_quads = stride_bytes / (element == Element::kFloat32 ? 16 : 8);
  const dim3 grid = BlocksFor(std::min<int64_t>(count * row_quads, int64_t{1} << 26));
  switch (element) {
    case Element::kFloat32:
      return Launch(FeaturesKernel<Element::kFloat32>, grid, kTile, 0, stream, spec, quads, random_words, row_quads,
                    first, count, bytes);
    case Element::kFloat16:
      return Launch(FeaturesKernel<Element::kFloat16>, grid, kTile, 0, stream, spec, quads, random_words, row_quads,
                    first, count, bytes);
    case Element::kBFloat16:
      return Launch(FeaturesKernel<Element::kBFloat16>, grid, kTile, 0, stream, spec, quads, random_words, row_quads,
                    first, count, bytes);
  }
  return cudaErrorInvalidValue;
}

cudaError_t EnqueueLabels(const SyntheticSpec& spec, int32_t* labels, cudaStream_t stream) {
  return Launch(LabelsKernel, BlocksFor(spec.num_nodes), kTile, 0, stream, spec, labels);
}

}  // namespace hone::gnn::cuda
