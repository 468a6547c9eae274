// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/features/ranking_kernels.h"

#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/base/wide_draw.cuh"
#include "gnn/cuda/features/inclusion_log.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kLanesANode = 8;  // lanes that sum one node's slots

using Word = unsigned long long;

__host__ __device__ int64_t BlocksOf(int64_t items, int64_t per_block) { return (items + per_block - 1) / per_block; }
__device__ int64_t Thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void SeedsKernel(InclusionOnDevice inclusion, const int32_t* train, int64_t count, double seed) {
  const int64_t i = Thread();
  if (i >= count) return;
  inclusion.known[train[i]] = seed;
  inclusion.trains[train[i]] = 1;
}

__global__ void DrawnKernel(GraphOnDevice graph, InclusionOnDevice inclusion, int32_t fanout, double seed) {
  const int64_t v = Thread();
  if (v >= graph.num_nodes) return;
  const double drawn =
      DrawnAfter(inclusion.drawn[v], inclusion.known[v], fanout, graph.row_offsets[v + 1] - graph.row_offsets[v]);
  inclusion.drawn[v] = drawn;
  inclusion.sent[v] = FixedLog(drawn);
  inclusion.received[v] = inclusion.trains[v] != 0 ? FixedLog(seed) : 0;
}

// Sums for each node what its neighbors send. No sum over 2^18 slots overflows, so clamping waits until the end.
__global__ void GatherKernel(GraphOnDevice graph, InclusionOnDevice inclusion) {
  const int64_t v = Thread() / kLanesANode;
  const int lane = static_cast<int>(threadIdx.x) % kLanesANode;
  Word sum = 0;
  if (v < graph.num_nodes) {
    const int64_t end = graph.row_offsets[v + 1];
    for (int64_t slot = graph.row_offsets[v] + lane; slot < end; slot += kLanesANode) {
      sum += __ldg(inclusion.sent + __ldg(graph.columns + slot));
    }
  }
  for (int offset = kLanesANode / 2; offset > 0; offset /= 2) {
    const auto low = __shfl_xor_sync(kFullWarp, static_cast<uint32_t>(sum), offset);
    const auto high = __shfl_xor_sync(kFullWarp, static_cast<uint32_t>(sum >> 32), offset);
    sum += static_cast<Word>(high) << 32 | low;
  }
  if (v >= graph.num_nodes || lane != 0) return;
  inclusion.known[v] = ProbabilityOf(inclusion.received[v] + sum);
}

// Adds what each node sends to the nodes that it lists.
__global__ void ScatterKernel(GraphOnDevice graph, InclusionOnDevice inclusion) {
  const int64_t v = Thread() / kLanesANode;
  const int lane = static_cast<int>(threadIdx.x) % kLanesANode;
  if (v >= graph.num_nodes) return;
  const Word amount = inclusion.sent[v];
  if (amount == 0) return;
  const int64_t end = graph.row_offsets[v + 1];
  for (int64_t slot = graph.row_offsets[v] + lane; slot < end; slot += kLanesANode) {
    Word* const to = inclusion.received + graph.columns[slot];
    if (__ldcg(to) < kEnough) atomicAdd(to, amount);
  }
}
__global__ void KnownKernel(int64_t num_nodes, InclusionOnDevice inclusion) {
  const int64_t v = Thread();
  if (v < num_nodes) inclusion.known[v] = ProbabilityOf(inclusion.received[v]);
}

__device__ void CountRead(uint32_t tag, int32_t node, uint32_t* stamps, uint32_t* counts) {
  if (__ldcg(stamps + node) != tag && atomicExch(stamps + node, tag) != tag) atomicAdd(counts + node, 1u);
}

template <int kLanes>
__global__ void __launch_bounds__(kBlock)
    CountReadsKernel(GraphOnDevice graph, int hop, int fanout, const RunState* state, const BatchHeader* header,
                     const int32_t* nodes, uint32_t* stamps, uint32_t* counts) {
  const int32_t rows = RowsAfter(header, hop);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const auto row = static_cast<int32_t>(Thread() / kLanes);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool active = row < rows;
  const uint32_t node = active ? static_cast<uint32_t>(nodes[row]) : 0;
  const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
  const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
  const int32_t slot = PickSlot<kLanes>(key, node, degree, fanout, lane);
  if (!active) return;
  if (lane == 0) CountRead(header->tag, static_cast<int32_t>(node), stamps, counts);
  if (lane < min(degree, fanout)) CountRead(header->tag, __ldg(graph.columns + begin + slot), stamps, counts);
}

// Counts reads for fanouts above a warp's lanes, with one warp per row.
__global__ void CountWideReadsKernel(GraphOnDevice graph, int hop, int fanout, const RunState* state,
                                     const BatchHeader* header, const int32_t* nodes, uint32_t* stamps, uint32_t* counts) {
  const auto row = static_cast<int32_t>(Thread() / 32);
  if (row >= RowsAfter(header, hop)) return;
  unsigned char* shared = DynamicShared<unsigned char>() + threadIdx.x / 32 * WideDrawBytes(fanout);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const DrawnRow drawn = DrawRow(graph, key, static_cast<uint32_t>(nodes[row]), fanout, shared);
  const auto lane = static_cast<int32_t>(threadIdx.x % 32);
  if (lane == 0) CountRead(header->tag, nodes[row], stamps, counts);
  for (int32_t slot = lane; slot < drawn.count; slot += 32) {
    CountRead(header->tag, drawn.Source(graph, slot), stamps, counts);
  }
}

__device__ uint64_t ScoreOf(const ScoresOnDevice& scores, int64_t v) {
  return scores.counts != nullptr ? scores.counts[v]
                                  : static_cast<uint64_t>(__double_as_longlong(scores.probabilities[v]));
}
__device__ uint32_t SlotsOf(const GraphOnDevice& graph, int64_t v) {
  return static_cast<uint32_t>(graph.row_offsets[v + 1] - graph.row_offsets[v]);
}

__host__ __device__ uint32_t DigitOf(uint64_t score, uint32_t slots, uint32_t unlike_id, int digit) {
  if (digit < 8) return static_cast<uint32_t>(score >> (56 - 8 * digit)) & 0xffu;
  const uint32_t word = digit < 12 ? slots : unlike_id;
  return word >> (24 - 8 * (digit % 4)) & 0xffu;
}

__global__ void __launch_bounds__(kBlock)
    HistogramKernel(GraphOnDevice graph, ScoresOnDevice scores, RankKey key, int digit, Word* histogram) {
  __shared__ uint32_t bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t v = Thread(); v < graph.num_nodes; v += threads) {
    const uint64_t score = ScoreOf(scores, v);
    const int of_score = digit < 8 ? digit : 8;
    if (of_score > 0 && score >> (64 - 8 * of_score) != key.score >> (64 - 8 * of_score)) continue;
    const uint32_t slots = digit < 8 ? 0 : SlotsOf(graph, v), unlike_id = ~static_cast<uint32_t>(v);
    if (digit > 8) {
      const int of_slots = digit < 12 ? digit - 8 : 4;
      if (slots >> (32 - 8 * of_slots) != key.slots >> (32 - 8 * of_slots)) continue;
    }
    if (digit > 12 && unlike_id >> (32 - 8 * (digit - 12)) != key.unlike_id >> (32 - 8 * (digit - 12))) continue;
    atomicAdd(&bins[DigitOf(score, slots, unlike_id, digit)], 1u);
  }
  __syncthreads();
  if (bins[threadIdx.x] != 0) atomicAdd(histogram + threadIdx.x, static_cast<Word>(bins[threadIdx.x]));
}

__device__ bool RanksUpTo(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last_key,
                          int64_t v) {
  const uint64_t score = ScoreOf(scores, v);
  if (score != last_key.score) return score > last_key.score;
  const uint32_t slots = SlotsOf(graph, v);
  if (slots != last_key.slots) return slots > last_key.slots;
  return ~static_cast<uint32_t>(v) >= last_key.unlike_id;
}

// Counts and lists ranked nodes with one thread block per tile, kBlock nodes at a time. `list` null: only counts.
__global__ void __launch_bounds__(kBlock) RankedKernel(GraphOnDevice graph, ScoresOnDevice scores, RankKey last_key,
                                                       int32_t* counts, const int32_t* counts_before, int32_t* list) {
  __shared__ int32_t warp_counts[kBlock / 32];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int64_t first_node = static_cast<int64_t>(blockIdx.x) * kRankTile;
  int32_t nodes_found = list != nullptr ? counts_before[blockIdx.x] : 0;
  for (int64_t offset = 0; offset < kRankTile; offset += kBlock) {
    const int64_t v = first_node + offset + threadIdx.x;
    const bool ranked = v < graph.num_nodes && RanksUpTo(graph, scores, last_key, v);
    const unsigned votes = __ballot_sync(kFullWarp, ranked);
    if (lane == 0) warp_counts[warp] = __popc(votes);
    __syncthreads();
    int32_t list_index = nodes_found;
    for (int w = 0; w < kBlock / 32; ++w) {
      if (w < warp) list_index += warp_counts[w];
      nodes_found += warp_counts[w];
    }
    if (ranked && list != nullptr) list[list_index + __popc(votes & ((1u << lane) - 1))] = static_cast<int32_t>(v);
    __syncthreads();
  }
  if (list == nullptr && threadIdx.x == 0) counts[blockIdx.x] = nodes_found;
}

__global__ void __launch_bounds__(kBlock)
    SumReadsKernel(const int32_t* places, int32_t cached, const uint32_t* counts, int64_t num_nodes, Word* sums) {
  __shared__ Word block_reads, block_hits;
  if (threadIdx.x == 0) block_reads = block_hits = 0;
  __syncthreads();
  Word reads = 0, hits = 0;
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t v = Thread(); v < num_nodes; v += threads) {
    reads += counts[v];
    hits += places == nullptr || (places[v] >= 0 && places[v] < cached) ? counts[v] : 0;
  }
  atomicAdd(&block_reads, reads);
  atomicAdd(&block_hits, hits);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(sums, block_reads);
  atomicAdd(sums + 1, block_hits);
}

// Returns a grid of at most 2048 blocks, which stride over the nodes, so that each block has many to sum up.
unsigned StridedGridSize(int64_t num_nodes) {
  const int64_t blocks = BlocksOf(num_nodes, kBlock);
  return static_cast<unsigned>(blocks < 2048 ? blocks : 2048);
}
unsigned GridSize(int64_t threads) { return static_cast<unsigned>(BlocksOf(threads, kBlock)); }

}  // namespace

cudaError_t EnqueueInclusionSeeds(const InclusionOnDevice& inclusion, const int32_t* train, int64_t count, double seed,
                                  cudaStream_t stream) {
  return Launch(SeedsKernel, GridSize(count), kBlock, 0, stream, inclusion, train, count, seed);
}

cudaError_t EnqueueInclusionHop(const GraphOnDevice& graph, const InclusionOnDevice& inclusion, int32_t fanout,
                                double seed, bool symmetric, cudaStream_t stream) {
  Launch(DrawnKernel, GridSize(graph.num_nodes), kBlock, 0, stream, graph, inclusion, fanout, seed);
  if (symmetric) {
    Launch(GatherKernel, GridSize(graph.num_nodes * kLanesANode), kBlock, 0, stream, graph, inclusion);
  } else {
    Launch(ScatterKernel, GridSize(graph.num_nodes * kLanesANode), kBlock, 0, stream, graph, inclusion);
    Launch(KnownKernel, GridSize(graph.num_nodes), kBlock, 0, stream, graph.num_nodes, inclusion);
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueCountReads(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                              const BatchHeader* header, const int32_t* nodes, uint32_t* stamps, uint32_t* counts,
                              cudaStream_t stream) {
  const auto launch = [&](auto kernel, int lanes) {
    return Launch(kernel, GridSize(int64_t{rows} * lanes), kBlock, 0, stream, graph, hop, fanout, state, header, nodes,
                  stamps, counts);
  };
  if (fanout > kNarrowFanout) {
    const int warps = WideWarps(fanout);
    return Launch(CountWideReadsKernel, static_cast<unsigned>(BlocksOf(rows, warps)), 32 * warps,
                  warps * WideDrawBytes(fanout), stream, graph, hop, fanout, state, header, nodes, stamps, counts);
  }
  if (fanout <= 8) return launch(CountReadsKernel<8>, 8);
  return fanout <= 16 ? launch(CountReadsKernel<16>, 16) : launch(CountReadsKernel<32>, 32);
}

cudaError_t EnqueueRankHistogram(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& key, int digit,
                                 unsigned long long* histogram, cudaStream_t stream) {
  return Launch(HistogramKernel, StridedGridSize(graph.num_nodes), kBlock, 0, stream, graph, scores, key, digit, histogram);
}

cudaError_t EnqueueCountRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last_key,
                               int32_t* tiles, cudaStream_t stream) {
  return Launch(RankedKernel, static_cast<unsigned>(BlocksOf(graph.num_nodes, kRankTile)), kBlock, 0, stream, graph,
                scores, last_key, tiles, nullptr, nullptr);
}

cudaError_t EnqueueListRanked(const GraphOnDevice& graph, const ScoresOnDevice& scores, const RankKey& last_key,
                              const int32_t* tiles, int32_t* list, cudaStream_t stream) {
  return Launch(RankedKernel, static_cast<unsigned>(BlocksOf(graph.num_nodes, kRankTile)), kBlock, 0, stream, graph,
                scores, last_key, nullptr, tiles, list);
}

cudaError_t EnqueueSumReads(const int32_t* places, int32_t cached, const uint32_t* counts, int64_t num_nodes,
                            unsigned long long* sums, cudaStream_t stream) {
  return Launch(SumReadsKernel, StridedGridSize(num_nodes), kBlock, 0, stream, places, cached, counts, num_nodes, sums);
}

}  // namespace hone::gnn::cuda
