// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of sample_kernels.h.
#include "gnn/cuda/sample_kernels.h"

#include <cub/device/device_radix_sort.cuh>

#include "gnn/cuda/device_math.cuh"
#include "gnn/cuda/feature_rows.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/pick_slot.cuh"
#include "gnn/cuda/staging_kernels.h"
#include "gnn/sample/draw.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kSlotsAThread = 8;
constexpr int kTile = kBlock * kSlotsAThread;  // slots numbered by one block
constexpr uint32_t kNoEntry = 0xffffffffu;

__host__ int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }
__host__ int Tiles(const HopOnDevice& hop) { return Blocks(static_cast<int64_t>(hop.rows) * hop.fanout, kTile); }

__device__ int32_t RowsOf(const BatchHeader* header, int hop) { return header->valid != 0 ? header->hop_nodes[hop] : 0; }

// Entry of `node`, whose rank becomes at most `rank`. Stale keys read from a cache are harmless: the exchange fails.
__device__ uint32_t Insert(const NodeTable& table, uint32_t tag, uint32_t node, uint32_t rank) {
  const unsigned long long key = static_cast<unsigned long long>(tag) << 32 | node;
  uint32_t at = (node * 0x9E3779B1u ^ node >> 15) * 0x85EBCA77u >> 3 & table.mask;
  for (;;) {
    unsigned long long current = __ldcg(&table.keys[at]);
    if (current != key && static_cast<uint32_t>(current >> 32) != tag) {
      const unsigned long long before = atomicCAS(&table.keys[at], current, key);
      if (before == current) break;
      current = before;
      if (static_cast<uint32_t>(current >> 32) != tag) continue;
    }
    if (current == key) break;
    at = (at + 1) & table.mask;
  }
  atomicMin(&table.values[at], static_cast<unsigned long long>(~tag) << 32 | rank);
  return at;
}

__global__ void BeginBatchKernel(SeedsOnDevice seeds, RunState* state, BatchHeader* header) {
  const bool valid = state->halt == 0 && state->next_sample_step < state->steps;
  header->valid = valid ? 1 : 0;
  header->epoch = state->epoch;
  header->step = state->next_sample_step;
  header->tag = ++state->table_tag;
  const int64_t most = static_cast<int64_t>(seeds.batch) * seeds.shards;
  const int64_t first = header->step * most;
  const int64_t left = seeds.count - first;
  const int64_t all = left < most ? left : most;
  const int64_t shard = seeds.first_shard + static_cast<int64_t>(state->next_sample_shard);
  const int64_t begin = all * shard / seeds.shards, end = all * (shard + 1) / seeds.shards;
  header->first_seed = first + begin;
  header->weight = static_cast<double>(all);
  header->hop_nodes[0] = valid ? static_cast<int32_t>(end - begin) : 0;
  if (!valid || ++state->next_sample_shard < static_cast<uint32_t>(seeds.local_shards)) return;
  state->next_sample_shard = 0;
  ++state->next_sample_step;
}

__global__ void SeedsKernel(SeedsOnDevice seeds, NodeTable table, const RunState* state, const BatchHeader* header,
                            int32_t* nodes) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= RowsOf(header, 0)) return;
  int64_t position = header->first_seed + i;
  if (seeds.in_order == 0) position = IndexPermutation(state->seed, header->epoch, seeds.count)(position);
  const int32_t node = seeds.nodes[position];
  nodes[i] = node;
  Insert(table, header->tag, static_cast<uint32_t>(node), static_cast<uint32_t>(i));
}

template <int kLanes>
__global__ void SampleHopKernel(GraphOnDevice graph, NodeTable table, int hop, HopOnDevice out, const RunState* state,
                                const BatchHeader* header, const int32_t* nodes) {
  const int32_t rows = RowsOf(header, hop);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int32_t groups = static_cast<int32_t>(gridDim.x * blockDim.x / kLanes);
  const int32_t mine = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / kLanes);
  const int32_t warp_first = mine - static_cast<int32_t>(threadIdx.x % 32) / kLanes;
  for (int32_t base = warp_first; base < rows; base += groups) {  // the same turns for all of a warp
    const int32_t row = base + (mine - warp_first);
    const bool active = row < rows;
    const uint32_t node = active ? static_cast<uint32_t>(nodes[row]) : 0;
    const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
    const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
    const int32_t slot = PickSlot<kLanes>(key, node, degree, out.fanout, lane);
    const int32_t count = degree < out.fanout ? degree : out.fanout;
    if (!active || lane >= out.fanout) continue;
    const int32_t place = row * out.fanout + lane;
    out.entries[place] = lane < count ? Insert(table, header->tag, static_cast<uint32_t>(__ldg(graph.columns + begin + slot)),
                                               kNewRank + static_cast<uint32_t>(place))
                                      : kNoEntry;
    if (lane == 0) out.counts[row] = count;
  }
}

// Whether the slot keeps its node: nobody with a lower rank met it.
__device__ bool Keeps(const NodeTable& table, const HopOnDevice& hop, int64_t place, int64_t places) {
  if (place >= places) return false;
  const uint32_t entry = hop.entries[place];
  return entry != kNoEntry &&
         static_cast<uint32_t>(__ldcg(&table.values[entry])) == kNewRank + static_cast<uint32_t>(place);
}

__device__ int BlockSum(int value, int* warp_sums) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kFullWarp, value, offset);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  int sum = 0;
  for (int w = 0; w < kBlock / 32; ++w) sum += warp_sums[w];
  __syncthreads();
  return sum;
}

__global__ void CountNewKernel(NodeTable table, HopOnDevice hop, int number, const BatchHeader* header) {
  __shared__ int warp_sums[kBlock / 32];
  const int64_t places = static_cast<int64_t>(RowsOf(header, number)) * hop.fanout;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x * kSlotsAThread;
  int kept = 0;
  for (int i = 0; i < kSlotsAThread; ++i) kept += Keeps(table, hop, first + i, places) ? 1 : 0;
  const int sum = BlockSum(kept, warp_sums);
  if (threadIdx.x == 0) hop.tile_counts[blockIdx.x] = sum;
}

__global__ void NumberNewKernel(NodeTable table, HopOnDevice hop, int number, RunState* state,
                                volatile uint32_t* host_halt, BatchHeader* header, int32_t* nodes) {
  __shared__ int warp_sums[kBlock / 32];
  const int32_t known = RowsOf(header, number);
  const int64_t places = static_cast<int64_t>(known) * hop.fanout;
  int before = 0;
  for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += kBlock) before += hop.tile_counts[tile];
  before = BlockSum(before, warp_sums);

  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x * kSlotsAThread;
  int kept = 0;
  for (int i = 0; i < kSlotsAThread; ++i) kept += Keeps(table, hop, first + i, places) ? 1 : 0;
  int inclusive = kept;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int lower = __shfl_up_sync(kFullWarp, inclusive, offset);
    if (threadIdx.x % 32 >= static_cast<unsigned>(offset)) inclusive += lower;
  }
  if (threadIdx.x % 32 == 31) warp_sums[threadIdx.x / 32] = inclusive;
  __syncthreads();
  int rank = before + inclusive - kept;
  for (unsigned w = 0; w < threadIdx.x / 32; ++w) rank += warp_sums[w];

  for (int i = 0; i < kSlotsAThread && kept > 0; ++i) {
    if (!Keeps(table, hop, first + i, places)) continue;
    const int32_t id = known + rank++;
    if (id >= hop.sources) break;
    const uint32_t entry = hop.entries[first + i];
    nodes[id] = static_cast<int32_t>(static_cast<uint32_t>(table.keys[entry]));
    table.values[entry] = static_cast<unsigned long long>(~header->tag) << 32 | static_cast<uint32_t>(id);
  }
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == kBlock - 1) {
    const int32_t now_known = known + rank;
    header->hop_nodes[number + 1] = now_known < hop.sources ? now_known : hop.sources;
    if (now_known > hop.sources) {
      state->halt = 1;
      *host_halt = 1;
      __threadfence_system();
    }
  }
}

// Halting makes the batch invalid one kernel later: the numbering's own blocks must all see the same rows.
__global__ void RelabelKernel(NodeTable table, HopOnDevice hop, int number, const RunState* state, const BatchHeader* header) {
  const int64_t places = state->halt != 0 ? 0 : static_cast<int64_t>(RowsOf(header, number)) * hop.fanout;
  const int64_t all = static_cast<int64_t>(hop.rows) * hop.fanout;
  const int64_t place = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (place >= all) return;
  const uint32_t entry = place < places ? hop.entries[place] : kNoEntry;
  const int32_t id = entry == kNoEntry ? -1 : static_cast<int32_t>(static_cast<uint32_t>(__ldcg(&table.values[entry])));
  hop.columns[place] = id;
  hop.slot_keys[place] = id < 0 ? static_cast<uint32_t>(hop.sources) : static_cast<uint32_t>(id);
  hop.slots[place] = static_cast<uint32_t>(place);
}

__global__ void ValidateKernel(const RunState* state, BatchHeader* header) {
  if (state->halt != 0) header->valid = 0;
}

__global__ void RunsKernel(HopOnDevice hop) {
  const int64_t all = static_cast<int64_t>(hop.rows) * hop.fanout;
  const int64_t t = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= all) return;
  const uint32_t source = hop.sorted_keys[t];
  if (source >= static_cast<uint32_t>(hop.sources)) return;
  if (t == 0 || hop.sorted_keys[t - 1] != source) hop.first[source] = static_cast<int32_t>(t);
  if (t + 1 == all || hop.sorted_keys[t + 1] != source) hop.end[source] = static_cast<int32_t>(t + 1);
}

int KeyBits(const HopOnDevice& hop) {
  int bits = 1;
  while ((int64_t{1} << bits) <= hop.sources) ++bits;
  return bits;
}

// A warp draws for 32 / kLanes rows at once and then gathers row by row: lane = part of a row, and 32 / parts
// neighbors side by side.
template <typename Rows, typename Out, int kLanes>
__global__ void __launch_bounds__(kBlock)
    SampleMeanKernel(GraphOnDevice graph, Rows features, int hop, int fanout, const RunState* state,
                     const BatchHeader* header, const int32_t* nodes, Out* out) {
  constexpr int kRows = 32 / kLanes;
  const int32_t rows = RowsOf(header, hop);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int vectors = graph.feature_vectors;
  int parts = 1;  // lanes to a feature row
  while (parts < vectors && parts < 32) parts *= 2;
  const int side = lane / parts, sides = 32 / parts, part = lane % parts;
  const int32_t warps = static_cast<int32_t>(gridDim.x * blockDim.x / 32);
  const int32_t warp = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  for (int32_t base = warp * kRows; base < rows; base += warps * kRows) {
    const int32_t row = base + lane / kLanes;
    const bool active = row < rows;
    const uint32_t node = active ? static_cast<uint32_t>(nodes[row]) : 0;
    const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
    const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
    const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane % kLanes);
    const int32_t count = degree < fanout ? degree : fanout;
    const int32_t neighbor = active && lane % kLanes < count ? features.Place(__ldg(graph.columns + begin + slot)) : 0;
    const auto own = features.Place(node);
    for (int r = 0; r < kRows && base + r < rows; ++r) {
      const int32_t neighbors = __shfl_sync(kFullWarp, count, r * kLanes);
      const auto self = __shfl_sync(kFullWarp, own, r * kLanes);
      Out* to = out + static_cast<int64_t>(base + r) * vectors * 16;
      for (int first = 0; first < vectors; first += parts) {
        const int vector = first + part;
        const bool reads = vector < vectors;
        Float8 sum = {};
#pragma unroll 4
        for (int j = 0; j < neighbors; j += sides) {
          const int which = j + side;
          const int32_t place = __shfl_sync(kFullWarp, neighbor, r * kLanes + (which < kLanes ? which : 0));
          if (reads && which < neighbors) {
            const Float8 x = Load8(features.At(place) + vector * 8);
#pragma unroll
            for (int i = 0; i < 8; ++i) sum.v[i] += x.v[i];
          }
        }
        for (int offset = parts; offset < 32; offset *= 2) {
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
        }
        if (!reads) continue;
        if (side == 0) {
          const float scale = neighbors > 0 ? 1.0f / static_cast<float>(neighbors) : 0.0f;
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] *= scale;
          Store8(to + vector * 8, sum);
        }
        if (side == (sides > 1 ? 1 : 0)) {
          Store8(to + (vectors + vector) * 8, Load8(features.At(self) + vector * 8));
        }
      }
    }
  }
}

template <typename Rows, typename Out>
cudaError_t LaunchSampleMean(const GraphOnDevice& graph, const Rows& features, int hop, int fanout, int32_t rows, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, Out* out, cudaStream_t stream) {
  if (fanout <= 8) {
    Launch(SampleMeanKernel<Rows, Out, 8>, Blocks(rows, 4 * kBlock / 32), kBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  } else if (fanout <= 16) {
    Launch(SampleMeanKernel<Rows, Out, 16>, Blocks(rows, 2 * kBlock / 32), kBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  } else {
    Launch(SampleMeanKernel<Rows, Out, 32>, Blocks(rows, kBlock / 32), kBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  }
  return cudaPeekAtLastError();
}

template <typename In>
cudaError_t LaunchSampleMean(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, Element out_element, void* out,
                             cudaStream_t stream) {
  return WithRows<In>(graph, [&](const auto& features) {
    if (out_element == Element::kFloat32) {
      return LaunchSampleMean(graph, features, hop, fanout, rows, state, header, nodes, static_cast<float*>(out), stream);
    }
    return LaunchSampleMean(graph, features, hop, fanout, rows, state, header, nodes, static_cast<__nv_bfloat16*>(out),
                            stream);
  });
}

}  // namespace

cudaError_t EnqueueBeginBatch(const SeedsOnDevice& seeds, const NodeTable& table, RunState* state, BatchHeader* header,
                              int32_t* nodes, cudaStream_t stream) {
  Launch(BeginBatchKernel, 1, 1, 0, stream, seeds, state, header);
  Launch(SeedsKernel, Blocks(seeds.batch, kBlock), kBlock, 0, stream, seeds, table, state, header, nodes);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueSampleHop(const GraphOnDevice& graph, const NodeTable& table, int hop, const HopOnDevice& out,
                             RunState* state, volatile uint32_t* host_halt, BatchHeader* header, int32_t* nodes,
                             cudaStream_t stream) {
  if (out.fanout <= 8) {
    Launch(SampleHopKernel<8>, Blocks(out.rows, kBlock / 8), kBlock, 0, stream, graph, table, hop, out, state, header,
           nodes);
  } else if (out.fanout <= 16) {
    Launch(SampleHopKernel<16>, Blocks(out.rows, kBlock / 16), kBlock, 0, stream, graph, table, hop, out, state,
           header, nodes);
  } else {
    Launch(SampleHopKernel<32>, Blocks(out.rows, kBlock / 32), kBlock, 0, stream, graph, table, hop, out, state,
           header, nodes);
  }
  Launch(CountNewKernel, Tiles(out), kBlock, 0, stream, table, out, hop, header);
  Launch(NumberNewKernel, Tiles(out), kBlock, 0, stream, table, out, hop, state, host_halt, header, nodes);
  Launch(RelabelKernel, Blocks(static_cast<int64_t>(out.rows) * out.fanout, kBlock), kBlock, 0, stream, table, out,
         hop, state, header);
  Launch(ValidateKernel, 1, 1, 0, stream, state, header);
  return cudaPeekAtLastError();
}

size_t SortScratchBytes(const HopOnDevice& hop) {
  size_t bytes = 0;
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, hop.slot_keys, hop.sorted_keys, hop.slots, hop.sorted_slots,
                                  hop.rows * hop.fanout, 0, KeyBits(hop));
  return bytes;
}

cudaError_t EnqueueBySource(const HopOnDevice& hop, void* scratch, size_t scratch_bytes, cudaStream_t stream) {
  const int places = hop.rows * hop.fanout;
  cudaError_t error = cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, hop.slot_keys, hop.sorted_keys, hop.slots,
                                                      hop.sorted_slots, places, 0, KeyBits(hop), stream);
  if (error != cudaSuccess) return error;
  error = cudaMemsetAsync(hop.first, 0, static_cast<size_t>(hop.sources) * sizeof(int32_t), stream);
  if (error != cudaSuccess) return error;
  error = cudaMemsetAsync(hop.end, 0, static_cast<size_t>(hop.sources) * sizeof(int32_t), stream);
  if (error != cudaSuccess) return error;
  Launch(RunsKernel, Blocks(places, kBlock), kBlock, 0, stream, hop);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueSampleMean(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                              const RunState* state, const BatchHeader* header, const int32_t* nodes,
                              Element out_element, void* out, cudaStream_t stream) {
  cudaError_t error = EnqueueStage(graph, hop, fanout, rows, state, header, nodes, stream);
  if (error != cudaSuccess) return error;
  switch (feature_element) {
    case Element::kFloat32:
      error = LaunchSampleMean<float>(graph, hop, fanout, rows, state, header, nodes, out_element, out, stream);
      break;
    case Element::kFloat16:
      error = LaunchSampleMean<__half>(graph, hop, fanout, rows, state, header, nodes, out_element, out, stream);
      break;
    case Element::kBFloat16:
      error = LaunchSampleMean<__nv_bfloat16>(graph, hop, fanout, rows, state, header, nodes, out_element, out, stream);
      break;
  }
  return error != cudaSuccess ? error : EnqueueUnstage(graph, stream);
}

}  // namespace hone::gnn::cuda
