// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of sample_kernels.h.
#include "gnn/cuda/sample_kernels.h"

#include "gnn/cuda/device_math.cuh"
#include "gnn/cuda/feature_rows.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/pick_slot.cuh"
#include "gnn/cuda/row_loads.cuh"
#include "gnn/cuda/source_kernels.h"
#include "gnn/cuda/tile_count.cuh"
#include "gnn/sample/draw.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kSampleMeanBlock = 128;
constexpr int kSlotsAThread = 4;
static_assert(kNumberingTile == kBlock * kSlotsAThread, "slots numbered by one block");
constexpr uint32_t kNoEntry = 0xffffffffu;

__host__ __device__ int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }
__host__ __device__ int Tiles(const HopOnDevice& hop) { return Blocks(static_cast<int64_t>(hop.rows) * hop.fanout, kNumberingTile); }

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

// One block: the step's books first, then a thread a seed.
__global__ void BeginBatchKernel(SeedsOnDevice seeds, NodeTable table, RunState* state, BatchHeader* header, int32_t* nodes) {
  __shared__ BatchHeader now;
  if (threadIdx.x == 0) {
    const bool valid = state->halt == 0 && state->next_sample_step < state->steps;
    now.valid = valid ? 1 : 0;
    now.epoch = state->epoch;
    now.step = state->next_sample_step;
    now.tag = ++state->table_tag;
    const int64_t most = static_cast<int64_t>(seeds.batch) * seeds.shards;
    const int64_t first = now.step * most;
    const int64_t left = seeds.count - first;
    const int64_t all = left < most ? left : most;
    const int64_t shard = seeds.first_shard + static_cast<int64_t>(state->next_sample_shard);
    const int64_t begin = all * shard / seeds.shards, end = all * (shard + 1) / seeds.shards;
    now.first_seed = first + begin;
    now.weight = static_cast<double>(all);
    now.hop_nodes[0] = valid ? static_cast<int32_t>(end - begin) : 0;
    header->valid = now.valid;
    header->epoch = now.epoch;
    header->step = now.step;
    header->tag = now.tag;
    header->first_seed = now.first_seed;
    header->weight = now.weight;
    header->hop_nodes[0] = now.hop_nodes[0];
    if (valid && ++state->next_sample_shard >= static_cast<uint32_t>(seeds.local_shards)) {
      state->next_sample_shard = 0;
      ++state->next_sample_step;
    }
  }
  __syncthreads();
  const IndexPermutation order(state->seed, now.epoch, seeds.count);
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < now.hop_nodes[0]; i += static_cast<int32_t>(blockDim.x)) {
    const int64_t position = now.first_seed + i;
    const int32_t node = seeds.nodes[seeds.in_order == 0 ? order(position) : position];
    nodes[i] = node;
    Insert(table, now.tag, static_cast<uint32_t>(node), static_cast<uint32_t>(i));
  }
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
  // For the numbering, and the counts of RelabelKernel.
  const auto threads = static_cast<int32_t>(gridDim.x * blockDim.x);
  const auto thread = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (thread <= Tiles(out)) out.tile_words[thread] = 0;
  for (int32_t s = thread; out.first != nullptr && s < out.sources; s += threads) out.first[s] = 0;
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

// Numbers the slots that keep their node, in order: those nobody with a lower rank has met. A block a tile.
__global__ void __launch_bounds__(kBlock)
    NumberNewKernel(NodeTable table, HopOnDevice hop, int number, RunState* state, volatile uint32_t* host_halt,
                    BatchHeader* header, int32_t* nodes) {
  __shared__ uint32_t warp_counts[kBlock / 32];
  __shared__ uint32_t tile_of_block, before_tile;
  const int tile = TakeTile(hop.tile_words, &tile_of_block);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int32_t known = RowsOf(header, number);
  const int64_t places = static_cast<int64_t>(known) * hop.fanout;
  const int64_t first = static_cast<int64_t>(tile) * kNumberingTile + warp * (32 * kSlotsAThread) + lane;

  uint32_t entry[kSlotsAThread], node[kSlotsAThread];
  bool keeps[kSlotsAThread];
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i) entry[i] = first + i * 32 < places ? hop.entries[first + i * 32] : kNoEntry;
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i) {
    const bool drawn = entry[i] != kNoEntry;
    node[i] = drawn ? static_cast<uint32_t>(__ldcg(&table.keys[entry[i]])) : 0;
    keeps[i] = drawn && static_cast<uint32_t>(__ldcg(&table.values[entry[i]])) == kNewRank + static_cast<uint32_t>(first + i * 32);
  }
  uint32_t rank[kSlotsAThread], in_warp = 0;
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i) {
    const unsigned kept = __ballot_sync(kFullWarp, keeps[i]);
    rank[i] = in_warp + static_cast<uint32_t>(__popc(kept & ((1u << lane) - 1)));
    in_warp += static_cast<uint32_t>(__popc(kept));
  }
  if (lane == 0) warp_counts[warp] = in_warp;
  __syncthreads();
  uint32_t warps_before = 0, in_tile = 0;
  for (int w = 0; w < kBlock / 32; ++w) {
    if (w < warp) warps_before += warp_counts[w];
    in_tile += warp_counts[w];
  }
  if (warp == 0) {
    const uint32_t before = CountBefore(hop.tile_words, tile, in_tile);
    if (lane == 0) before_tile = before;
  }
  __syncthreads();
  const int32_t next = known + static_cast<int32_t>(before_tile + warps_before);
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i) {
    const int32_t id = next + static_cast<int32_t>(rank[i]);
    if (!keeps[i] || id >= hop.sources) continue;
    nodes[id] = static_cast<int32_t>(node[i]);
    table.values[entry[i]] = static_cast<unsigned long long>(~header->tag) << 32 | static_cast<uint32_t>(id);
  }
  // The last tile has heard of all others, which have read the header by then.
  if (tile + 1 != static_cast<int>(gridDim.x) || threadIdx.x != 0) return;
  const int32_t now_known = known + static_cast<int32_t>(before_tile + in_tile);
  header->hop_nodes[number + 1] = now_known < hop.sources ? now_known : hop.sources;
  if (now_known <= hop.sources) return;
  header->valid = 0;
  state->halt = 1;
  *host_halt = 1;
  __threadfence_system();
}

// Where there is a structure by source, slots are also counted by source.
__global__ void RelabelKernel(NodeTable table, HopOnDevice hop, int number, const BatchHeader* header) {
  const int64_t places = static_cast<int64_t>(RowsOf(header, number)) * hop.fanout;
  const int64_t all = static_cast<int64_t>(hop.rows) * hop.fanout;
  const int64_t place = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (place >= all) return;
  const uint32_t entry = place < places ? hop.entries[place] : kNoEntry;
  const int32_t id = entry == kNoEntry ? -1 : static_cast<int32_t>(static_cast<uint32_t>(__ldcg(&table.values[entry])));
  hop.columns[place] = id;
  if (hop.first == nullptr) return;
  if (place <= Blocks(hop.sources, kSourceTile)) hop.tile_words[place] = 0;  // for the structure by source
  if (id >= 0) hop.slot_ranks[place] = static_cast<uint32_t>(atomicAdd(&hop.first[id], 1));
}

// A warp draws for 32 / kLanes rows at once and then gathers several of them side by side: lane = part of a row, and all
// of a row's neighbors are on their way before the first is added.
template <typename Rows, typename Out, int kLanes>
__global__ void __launch_bounds__(kSampleMeanBlock)
    SampleMeanKernel(GraphOnDevice graph, Rows features, int hop, int fanout, const RunState* state,
                     const BatchHeader* header, const int32_t* nodes, Out* out) {
  using In = std::remove_cv_t<std::remove_pointer_t<decltype(features.At(0))>>;
  constexpr int kRows = 32 / kLanes;
  constexpr int kAhead = kLanes == 8 ? 5 : 4;
  const int32_t rows = RowsOf(header, hop);
  const int32_t warp = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const int32_t base = warp * kRows;
  if (base >= rows) return;
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int vectors = graph.feature_vectors;
  int parts = 1;  // lanes to a feature row
  while (parts < vectors && parts < 32) parts *= 2;
  const int sides = 32 / parts, side = lane / parts, part = lane % parts;
  const int together = sides < kRows ? sides : kRows;  // rows side by side, and sides that share one
  const int shares = sides / together;
  const int share = side % shares;

  const int32_t drawn_row = base + lane / kLanes;
  const bool active = drawn_row < rows;
  const uint32_t node = active ? static_cast<uint32_t>(nodes[drawn_row]) : 0;
  const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
  const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
  const auto own = features.Place(node);
  const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane % kLanes);
  const int32_t count = degree < fanout ? degree : fanout;
  const int32_t neighbor = active && lane % kLanes < count ? features.Place(__ldg(graph.columns + begin + slot)) : 0;

  for (int r = 0; r < kRows; r += together) {
    const int which = r + side / shares;
    const int32_t row = base + which;
    const int32_t neighbors = __shfl_sync(kFullWarp, count, which * kLanes);
    const auto self = __shfl_sync(kFullWarp, own, which * kLanes);
    for (int first = 0; first < vectors; first += parts) {
      const int vector = first + part;
      const bool reads = row < rows && vector < vectors;
      RawOf<In> own_raw;
      if (reads && share == 0) own_raw = LoadRaw(features.At(self) + vector * 8);
      Float8 sum = {};
      for (int j = 0; j < fanout; j += kAhead * shares) {
        RawOf<In> raw[kAhead];
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          const int at = j + a * shares + share;
          const int32_t place = __shfl_sync(kFullWarp, neighbor, which * kLanes + at % kLanes);
          if (reads && at < neighbors) raw[a] = LoadRaw(features.At(place) + vector * 8);
        }
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          if (!reads || j + a * shares + share >= neighbors) continue;
          const Float8 x = Widen(raw[a]);
#pragma unroll
          for (int i = 0; i < 8; ++i) sum.v[i] += x.v[i];
        }
      }
      for (int offset = parts; offset < parts * shares; offset *= 2) {
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
      }
      if (!reads || share != 0) continue;
      const float scale = neighbors > 0 ? 1.0f / static_cast<float>(neighbors) : 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) sum.v[i] *= scale;
      Out* to = out + static_cast<int64_t>(row) * vectors * 16 + vector * 8;
      Store8(to, sum);
      Store8(to + vectors * 8, Widen(own_raw));
    }
  }
}

template <typename Rows, typename Out>
cudaError_t LaunchSampleMean(const GraphOnDevice& graph, const Rows& features, int hop, int fanout, int32_t rows, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, Out* out, cudaStream_t stream) {
  if (fanout <= 8) {
    Launch(SampleMeanKernel<Rows, Out, 8>, Blocks(rows, 4 * kSampleMeanBlock / 32), kSampleMeanBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  } else if (fanout <= 16) {
    Launch(SampleMeanKernel<Rows, Out, 16>, Blocks(rows, 2 * kSampleMeanBlock / 32), kSampleMeanBlock, 0, stream, graph, features, hop, fanout,
           state, header, nodes, out);
  } else {
    Launch(SampleMeanKernel<Rows, Out, 32>, Blocks(rows, kSampleMeanBlock / 32), kSampleMeanBlock, 0, stream, graph, features, hop, fanout,
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
  const int threads = seeds.batch < 1024 ? Blocks(seeds.batch, 32) * 32 : 1024;
  Launch(BeginBatchKernel, 1, threads, 0, stream, seeds, table, state, header, nodes);
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
  Launch(NumberNewKernel, Tiles(out), kBlock, 0, stream, table, out, hop, state, host_halt, header, nodes);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueRelabel(const NodeTable& table, int hop, const HopOnDevice& out, const BatchHeader* header,
                           cudaStream_t stream) {
  Launch(RelabelKernel, Blocks(static_cast<int64_t>(out.rows) * out.fanout, kBlock), kBlock, 0, stream, table, out,
         hop, header);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueSampleMean(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                              const RunState* state, const BatchHeader* header, const int32_t* nodes,
                              Element out_element, void* out, cudaStream_t stream) {
  cudaError_t error = cudaErrorInvalidValue;
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
  return error;
}

}  // namespace hone::gnn::cuda
