// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements sample_kernels.h.
#include "gnn/cuda/sample/sample_kernels.h"

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/tile_count.cuh"
#include "gnn/cuda/sample/node_table.cuh"
#include "gnn/cuda/sample/source_kernels.h"
#include "gnn/cuda/sample/wide_sample_kernels.h"
#include "gnn/sample/draw.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kSlotsAThread = 4;
static_assert(kNumberingTile == kBlock * kSlotsAThread, "slots numbered by one block");

__host__ __device__ int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }
__host__ __device__ int Tiles(const HopOnDevice& hop) { return Blocks(static_cast<int64_t>(hop.rows) * hop.fanout, kNumberingTile); }

__device__ int32_t RowsOf(const BatchHeader* header, int hop) { return header->valid != 0 ? header->hop_nodes[hop] : 0; }

// Makes the header of the state's next batch. Every block may call this, because the state advances only after all
// blocks have read it.
__device__ void NextBatch(const SeedsOnDevice& seeds, const RunState* state, BatchHeader* next_batch) {
  next_batch->valid = state->halt == 0 && state->next_sample_step < state->steps ? 1 : 0;
  next_batch->epoch = state->epoch;
  next_batch->step = state->next_sample_step;
  next_batch->tag = state->table_tag + 1;
  const int64_t seeds_a_step = static_cast<int64_t>(seeds.batch) * seeds.shards;
  const int64_t first = next_batch->step * seeds_a_step;
  const int64_t seeds_left = seeds.count - first;
  const int64_t step_seeds = seeds_left < seeds_a_step ? seeds_left : seeds_a_step;
  const int64_t shard = seeds.first_shard + static_cast<int64_t>(state->next_sample_shard);
  const int64_t begin = step_seeds * shard / seeds.shards, end = step_seeds * (shard + 1) / seeds.shards;
  next_batch->first_seed = first + begin;
  next_batch->weight = static_cast<double>(step_seeds);
  next_batch->hop_nodes[0] = next_batch->valid != 0 ? static_cast<int32_t>(end - begin) : 0;
}
__device__ void WriteBatch(const BatchHeader& next_batch, BatchHeader* header) {
  header->valid = next_batch.valid;
  header->epoch = next_batch.epoch;
  header->step = next_batch.step;
  header->tag = next_batch.tag;
  header->first_seed = next_batch.first_seed;
  header->weight = next_batch.weight;
  header->hop_nodes[0] = next_batch.hop_nodes[0];
}
// Advances the state to the batch after the one with tag `tag`.
__device__ void MoveOn(int32_t local_shards, bool valid, uint32_t tag, RunState* state) {
  state->table_tag = tag;
  if (!valid || ++state->next_sample_shard < static_cast<uint32_t>(local_shards)) return;
  state->next_sample_shard = 0;
  ++state->next_sample_step;
}

__device__ int32_t SeedAt(const SeedsOnDevice& seeds, const IndexPermutation& order, int64_t position) {
  return seeds.nodes[seeds.in_order == 0 ? order(position) : position];
}

// Begins a batch in one thread block. `advances_state`: no other kernel of this batch advances the state, so this one
// does.
__global__ void BeginBatchKernel(SeedsOnDevice seeds, bool advances_state, RunState* state, BatchHeader* header,
                                 int32_t* nodes) {
  __shared__ BatchHeader batch;
  if (threadIdx.x == 0) {
    NextBatch(seeds, state, &batch);
    WriteBatch(batch, header);
    if (advances_state) MoveOn(seeds.local_shards, batch.valid != 0, batch.tag, state);
  }
  __syncthreads();
  const IndexPermutation order(state->seed, batch.epoch, seeds.count);
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < batch.hop_nodes[0]; i += static_cast<int32_t>(blockDim.x)) {
    nodes[i] = SeedAt(seeds, order, batch.first_seed + i);
  }
}

// Draws a hop of up to kLanes slots per row. kFirst: this is hop 0, where the batch begins. Its seeds enter the table
// together with the nodes that they draw, which is possible because ranks do not depend on arrival order.
template <int kLanes, bool kFirst>
__global__ void SampleHopKernel(GraphOnDevice graph, SeedsOnDevice seeds, NodeTable table, int hop, HopOnDevice out,
                                const RunState* state, BatchHeader* header, int32_t* nodes) {
  __shared__ BatchHeader batch;
  if constexpr (kFirst) {
    if (threadIdx.x == 0) {
      NextBatch(seeds, state, &batch);
      if (blockIdx.x == 0) WriteBatch(batch, header);
    }
    __syncthreads();
  }
  const int32_t rows = kFirst ? batch.hop_nodes[0] : RowsOf(header, hop);
  const uint32_t tag = kFirst ? batch.tag : header->tag;
  const DrawKey key = {state->seed, kFirst ? batch.step : header->step, kFirst ? batch.epoch : header->epoch,
                       static_cast<uint32_t>(hop)};
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int32_t groups = static_cast<int32_t>(gridDim.x * blockDim.x / kLanes);
  const int32_t first_row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / kLanes);
  const int32_t warp_first = first_row - static_cast<int32_t>(threadIdx.x % 32) / kLanes;
  // Clears the tiles' words for NumberNewKernel, and the counts for RelabelKernel.
  const auto threads = static_cast<int32_t>(gridDim.x * blockDim.x);
  const auto thread = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (thread <= Tiles(out)) out.prefix_sum_scratch[thread] = 0;
  for (int32_t s = thread; out.first != nullptr && s < out.sources; s += threads) out.first[s] = 0;
  const IndexPermutation order(state->seed, kFirst ? batch.epoch : 0, kFirst ? seeds.count : 0);
  for (int32_t base = warp_first; base < rows; base += groups) {  // all lanes of a warp take equally many turns
    const int32_t row = base + (first_row - warp_first);
    const bool active = row < rows;
    uint32_t node = 0;
    if constexpr (kFirst) {
      if (active) node = static_cast<uint32_t>(SeedAt(seeds, order, batch.first_seed + row));
      if (active && lane == 0) nodes[row] = static_cast<int32_t>(node);
    } else {
      if (active) node = static_cast<uint32_t>(nodes[row]);
    }
    const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
    const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
    const int32_t slot = PickSlot<kLanes>(key, node, degree, out.fanout, lane);
    const int32_t count = degree < out.fanout ? degree : out.fanout;
    if (!active) continue;
    const int32_t slot_index = row * out.fanout + lane;
    const bool draws = lane < count;
    // A lane past the fanout inserts the seed concurrently; if there is no spare lane, the first lane does so
    // afterwards.
    const bool inserts_seed = kFirst && lane == out.fanout;
    uint32_t entry = kNoEntry;
    if (draws || inserts_seed) {
      const uint32_t drawn = draws ? static_cast<uint32_t>(__ldg(graph.columns + begin + slot)) : node;
      entry =
          Insert(table, tag, drawn, draws ? kNewRank + static_cast<uint32_t>(slot_index) : static_cast<uint32_t>(row));
    }
    if (kFirst && out.fanout == kLanes && lane == 0) Insert(table, tag, node, static_cast<uint32_t>(row));
    if (lane >= out.fanout) continue;
    out.entries[slot_index] = entry;
    if (lane == 0) out.counts[row] = count;
  }
}

// Inserts the nodes that EnqueueWideDraw has written to `out`, with the result of SampleHopKernel. One thread per slot.
__global__ void InsertDrawnKernel(NodeTable table, int hop, HopOnDevice out, const BatchHeader* header,
                                  const int32_t* nodes) {
  const int64_t slot_index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  if (slot_index <= Tiles(out)) out.prefix_sum_scratch[slot_index] = 0;
  for (int64_t s = slot_index; out.first != nullptr && s < out.sources; s += threads) out.first[s] = 0;
  if (slot_index >= static_cast<int64_t>(RowsOf(header, hop)) * out.fanout) return;
  const int32_t drawn = out.columns[slot_index];
  out.entries[slot_index] = drawn < 0 ? kNoEntry
                                 : Insert(table, header->tag, static_cast<uint32_t>(drawn),
                                          kNewRank + static_cast<uint32_t>(slot_index));
  const auto row = static_cast<uint32_t>(slot_index / out.fanout);
  if (hop == 0 && slot_index % out.fanout == 0) Insert(table, header->tag, static_cast<uint32_t>(nodes[row]), row);
}

// Numbers, in order, the slots that own their node, which are those with the node's lowest rank. One thread block per
// tile.
__global__ void __launch_bounds__(kBlock)
    NumberNewKernel(NodeTable table, HopOnDevice hop, int number, int32_t local_shards, RunState* state,
                    volatile uint32_t* host_halt, BatchHeader* header, int32_t* nodes) {
  __shared__ uint32_t warp_counts[kBlock / 32];
  __shared__ uint32_t tile_of_block, before_tile;
  const int32_t nodes_before = RowsOf(header, number);  // loaded while the tile is taken
  const int tile = TakeTile(hop.prefix_sum_scratch, &tile_of_block);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int64_t slot_count = static_cast<int64_t>(nodes_before) * hop.fanout;
  const int64_t first = static_cast<int64_t>(tile) * kNumberingTile + warp * (32 * kSlotsAThread) + lane;

  uint32_t entry[kSlotsAThread], node[kSlotsAThread];
  bool keeps[kSlotsAThread];
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i)
    entry[i] = first + i * 32 < slot_count ? hop.entries[first + i * 32] : kNoEntry;
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i) {
    const bool drawn = entry[i] != kNoEntry;
    const ulonglong2 found = drawn ? __ldcg(reinterpret_cast<const ulonglong2*>(&table.entries[entry[i]])) : ulonglong2{};
    node[i] = static_cast<uint32_t>(found.x);
    keeps[i] = drawn && static_cast<uint32_t>(found.y) == kNewRank + static_cast<uint32_t>(first + i * 32);
  }
  uint32_t rank[kSlotsAThread], in_warp = 0;
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i) {
    const unsigned kept_lanes = __ballot_sync(kFullWarp, keeps[i]);
    rank[i] = in_warp + static_cast<uint32_t>(__popc(kept_lanes & ((1u << lane) - 1)));
    in_warp += static_cast<uint32_t>(__popc(kept_lanes));
  }
  if (lane == 0) warp_counts[warp] = in_warp;
  __syncthreads();
  uint32_t warps_before = 0, in_tile = 0;
  for (int w = 0; w < kBlock / 32; ++w) {
    if (w < warp) warps_before += warp_counts[w];
    in_tile += warp_counts[w];
  }
  if (warp == 0) {
    const uint32_t before = CountBefore(hop.prefix_sum_scratch, tile, in_tile);
    if (lane == 0) before_tile = before;
  }
  __syncthreads();
  const int32_t nodes_after = nodes_before + static_cast<int32_t>(before_tile + warps_before);
#pragma unroll
  for (int i = 0; i < kSlotsAThread; ++i) {
    const int32_t id = nodes_after + static_cast<int32_t>(rank[i]);
    if (!keeps[i] || id >= hop.sources) continue;
    nodes[id] = static_cast<int32_t>(node[i]);
    table.entries[entry[i]].value = static_cast<unsigned long long>(~header->tag) << 32 | static_cast<uint32_t>(id);
  }
  // The last tile has received the counts of all other tiles, which have read the header by then.
  if (tile + 1 != static_cast<int>(gridDim.x) || threadIdx.x != 0) return;
  if (number == 0) MoveOn(local_shards, header->valid != 0, header->tag, state);
  const int32_t now_known = nodes_before + static_cast<int32_t>(before_tile + in_tile);
  header->hop_nodes[number + 1] = now_known < hop.sources ? now_known : hop.sources;
  if (now_known <= hop.sources) return;
  header->valid = 0;
  state->halt = 1;
  *host_halt = 1;
  __threadfence_system();
}

// Writes the local ids of slots; if there is a structure by source, it also counts each source's slots. One thread per
// slot.
__global__ void RelabelKernel(NodeTable table, HopOnDevice hop, int number, const BatchHeader* header) {
  const int64_t slot_count = static_cast<int64_t>(RowsOf(header, number)) * hop.fanout;
  const int64_t all_slots = static_cast<int64_t>(hop.rows) * hop.fanout;
  const int64_t slot_index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (slot_index >= all_slots) return;
  const uint32_t entry = slot_index < slot_count ? hop.entries[slot_index] : kNoEntry;
  const int32_t id = entry == kNoEntry ? -1 : static_cast<int32_t>(static_cast<uint32_t>(__ldcg(&table.entries[entry].value)));
  hop.columns[slot_index] = id;
  if (hop.first == nullptr) return;
  if (slot_index <= Blocks(hop.sources, kSourceTile)) hop.prefix_sum_scratch[slot_index] = 0;  // for EnqueueBySource
  if (id >= 0) hop.slot_ranks[slot_index] = static_cast<uint32_t>(atomicAdd(&hop.first[id], 1));
}

void LaunchBegin(const SeedsOnDevice& seeds, bool advances_state, RunState* state, BatchHeader* header, int32_t* nodes,
                 cudaStream_t stream) {
  const int threads = seeds.batch < 1024 ? Blocks(seeds.batch, 32) * 32 : 1024;
  Launch(BeginBatchKernel, 1, threads, 0, stream, seeds, advances_state, state, header, nodes);
}
}  // namespace

cudaError_t EnqueueBeginBatch(const SeedsOnDevice& seeds, RunState* state, BatchHeader* header, int32_t* nodes,
                              cudaStream_t stream) {
  LaunchBegin(seeds, /*advances_state=*/true, state, header, nodes, stream);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueSampleHop(const GraphOnDevice& graph, const SeedsOnDevice& seeds, const NodeTable& table, int hop,
                             const HopOnDevice& out, RunState* state, volatile uint32_t* host_halt, BatchHeader* header,
                             int32_t* nodes, cudaStream_t stream) {
  const auto sample = [&]<int kLanes>() {
    Launch(hop == 0 ? SampleHopKernel<kLanes, true> : SampleHopKernel<kLanes, false>, Blocks(out.rows, kBlock / kLanes),
           kBlock, 0, stream, graph, seeds, table, hop, out, state, header, nodes);
  };
  if (out.fanout > kNarrowFanout) {
    if (hop == 0) LaunchBegin(seeds, /*advances_state=*/false, state, header, nodes, stream);
    EnqueueWideDraw(graph, hop, out.fanout, out.rows, out.columns, out.counts, state, header, nodes, stream);
    Launch(InsertDrawnKernel, Blocks(static_cast<int64_t>(out.rows) * out.fanout, kBlock), kBlock, 0, stream, table, hop,
           out, header, nodes);
  } else if (out.fanout <= 8) {
    sample.template operator()<8>();
  } else if (out.fanout <= 16) {
    sample.template operator()<16>();
  } else {
    sample.template operator()<32>();
  }
  Launch(NumberNewKernel, Tiles(out), kBlock, 0, stream, table, out, hop, seeds.local_shards, state, host_halt, header,
         nodes);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueRelabel(const NodeTable& table, int hop, const HopOnDevice& out, const BatchHeader* header,
                           cudaStream_t stream) {
  Launch(RelabelKernel, Blocks(static_cast<int64_t>(out.rows) * out.fanout, kBlock), kBlock, 0, stream, table, out,
         hop, header);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
