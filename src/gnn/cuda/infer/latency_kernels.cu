// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements latency_kernels.h.
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/base/wide_draw.cuh"
#include "gnn/cuda/infer/latency_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;
constexpr int kBeginBlock = 1024;
constexpr int kTile = kCountedDraws;

__device__ int32_t DrawsOf(const GraphOnDevice& graph, int32_t node, int32_t fanout) {
  const int64_t degree = __ldg(graph.row_offsets + node + 1) - __ldg(graph.row_offsets + node);
  return degree < fanout ? static_cast<int32_t>(degree) : fanout;
}

// Draws the neighbors of `row` by a whole warp and gives them the local ids from `at` on. If `active` is false, nothing
// is drawn.
__device__ void DrawRow(const GraphOnDevice& graph, const DrawKey& key, const HopOnDevice& out, int32_t row, bool active,
                        int32_t node, int32_t count, int32_t at, int32_t* nodes) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
  const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
  const int32_t slot = PickSlot<32>(key, static_cast<uint32_t>(node), degree, out.fanout, lane);
  if (active && lane < count) {
    const int32_t id = at + lane;
    const bool fits = id < out.sources;
    const int32_t drawn = __ldg(graph.columns + begin + slot);
    // Attention recognizes a node's edge to itself by the id.
    out.columns[static_cast<int64_t>(row) * out.fanout + lane] = drawn == node ? row : fits ? id : 0;
    if (fits) nodes[id] = drawn;
  }
  if (active && lane == 0) out.counts[row] = count;
}

__device__ void CountNodes(int32_t total, const HopOnDevice& out, int hop, RequestOnDevice* current, BatchHeader* header) {
  header->hop_nodes[hop + 1] = total < out.sources ? total : out.sources;
  if (total > out.sources) current->overflow = 1;
}

// Begins a request in one thread block, with one warp per two seeds. The request is read once, by one instruction,
// because host memory is far away.
__global__ void __launch_bounds__(kBeginBlock)
    BeginRequestKernel(const LatencyRequest* request, GraphOnDevice graph, HopOnDevice out, const RunState* state,
                       RequestOnDevice* current, BatchHeader* header, int32_t* nodes) {
  constexpr int kParts = sizeof(LatencyRequest) / sizeof(uint4);
  static_assert(sizeof(LatencyRequest) % sizeof(uint4) == 0 && kParts <= 32, "a warp's lanes read all of it");
  __shared__ LatencyRequest current_request;
  __shared__ int32_t counts[kMostSeeds];
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < kParts)
    reinterpret_cast<uint4*>(&current_request)[thread] = __ldcv(reinterpret_cast<const uint4*>(request) + thread);
  __syncthreads();
  const int32_t nodes_before = current_request.count;
  if (thread < nodes_before) nodes[thread] = current_request.nodes[thread];
  if (thread == 0) {
    header->valid = 1;
    header->step = header->epoch = 0;
    header->hop_nodes[0] = nodes_before;
    current->sequence = current_request.sequence;
    current->count = nodes_before;
    current->logits = current_request.logits;
    current->overflow = 0;
  }
  if (out.fanout == 0) return;
  if (thread < kMostSeeds)
    counts[thread] = thread < nodes_before ? DrawsOf(graph, current_request.nodes[thread], out.fanout) : 0;
  __syncthreads();
  const int lane = thread % 32;
  const DrawKey key = {state->seed, 0, 0, 0};
  for (int32_t row = thread / 32; row < nodes_before; row += kBeginBlock / 32) {
    int32_t counts_before = (lane < row ? counts[lane] : 0) + (lane + 32 < row ? counts[lane + 32] : 0);
    for (int offset = 16; offset > 0; offset /= 2) counts_before += __shfl_xor_sync(kFullWarp, counts_before, offset);
    DrawRow(graph, key, out, row, /*active=*/true, current_request.nodes[row], counts[row],
            nodes_before + counts_before, nodes);
    if (row + 1 == nodes_before && lane == 0)
      CountNodes(nodes_before + counts_before + counts[row], out, 0, current, header);
  }
}

// Draws a hop with one warp per row. Every block computes where its rows' draws begin from the degrees of all rows
// before them: a few thousand cached reads instead of another kernel.
__global__ void __launch_bounds__(kBlock) DrawHopKernel(GraphOnDevice graph, int hop, HopOnDevice out,
                                                        const RunState* state, RequestOnDevice* current,
                                                        BatchHeader* header, int32_t* nodes) {
  __shared__ int32_t sums[kWarps];
  __shared__ int32_t counts[kWarps];
  const int32_t hop_nodes = header->hop_nodes[hop];
  const auto first_row = static_cast<int32_t>(blockIdx.x) * kWarps;
  if (first_row >= hop_nodes) return;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int32_t row = first_row + warp;
  const bool active = row < hop_nodes;
  const int32_t node = active ? nodes[row] : 0;
  const int32_t count = active ? DrawsOf(graph, node, out.fanout) : 0;
  int32_t counts_before = 0;
  for (int32_t r = static_cast<int32_t>(threadIdx.x); r < first_row; r += kBlock)
    counts_before += DrawsOf(graph, nodes[r], out.fanout);
  for (int offset = 16; offset > 0; offset /= 2) counts_before += __shfl_xor_sync(kFullWarp, counts_before, offset);
  if (lane == 0) {
    sums[warp] = counts_before;
    counts[warp] = count;
  }
  __syncthreads();
  int32_t at = hop_nodes, in_block = 0;
  for (int w = 0; w < kWarps; ++w) {
    at += sums[w] + (w < warp ? counts[w] : 0);
    in_block += counts[w];
  }

  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  DrawRow(graph, key, out, row, active, node, count, at, nodes);
  // The last block that has rows knows where the hop's local ids end: its own draws have the ids from `at` on.
  if (first_row + kWarps >= hop_nodes && threadIdx.x == 0) CountNodes(at + in_block, out, hop, current, header);
}

// Counts the draws of kTile rows per block, for fanouts above a warp's lanes. Hops may then have hundreds of thousands
// of rows, too many for every block to count the draws of all rows before its own.
__global__ void __launch_bounds__(kBlock)
    CountDrawsKernel(GraphOnDevice graph, int hop, HopOnDevice out, const BatchHeader* header, const int32_t* nodes) {
  __shared__ int32_t sums[kWarps];
  const int32_t hop_nodes = header->hop_nodes[hop];
  const auto first = static_cast<int32_t>(blockIdx.x) * kTile;
  if (first >= hop_nodes) return;
  const int32_t end = first + kTile < hop_nodes ? first + kTile : hop_nodes;
  int32_t sum = 0;
  for (int32_t row = first + static_cast<int32_t>(threadIdx.x); row < end; row += kBlock) {
    const int32_t count = DrawsOf(graph, nodes[row], out.fanout);
    out.counts[row] = count;
    sum += count;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kFullWarp, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kWarps; ++w) sum += sums[w];
  out.prefix_sum_scratch[blockIdx.x] = static_cast<uint32_t>(sum);
}

// Draws a hop after CountDrawsKernel, with one warp per row.
__global__ void WideDrawHopKernel(GraphOnDevice graph, int hop, HopOnDevice out, const RunState* state, RequestOnDevice* current,
                                  BatchHeader* header, int32_t* nodes) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const int32_t hop_nodes = header->hop_nodes[hop];
  if (row >= hop_nodes) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t tile = row / kTile;
  int32_t counts_before = 0;
  for (int32_t t = lane; t < tile; t += 32) counts_before += static_cast<int32_t>(out.prefix_sum_scratch[t]);
  for (int32_t r = tile * kTile + lane; r < row; r += 32) counts_before += out.counts[r];
  for (int offset = 16; offset > 0; offset /= 2) counts_before += __shfl_xor_sync(kFullWarp, counts_before, offset);
  const int32_t at = hop_nodes + counts_before;

  unsigned char* shared = DynamicShared<unsigned char>() + threadIdx.x / 32 * WideDrawBytes(out.fanout);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(hop)};
  const int32_t node = nodes[row];
  const DrawnRow drawn = hone::gnn::cuda::DrawRow(graph, key, static_cast<uint32_t>(node), out.fanout, shared);
  for (int32_t slot = lane; slot < drawn.count; slot += 32) {
    const int32_t id = at + slot, source = drawn.Source(graph, slot);
    const bool fits = id < out.sources;
    out.columns[static_cast<int64_t>(row) * out.fanout + slot] = source == node ? row : fits ? id : 0;  // as in DrawRow
    if (fits) nodes[id] = source;
  }
  if (row + 1 == hop_nodes && lane == 0) CountNodes(at + drawn.count, out, hop, current, header);
}

// Runs one warp per seed; the last block to finish publishes the reply.
__global__ void __launch_bounds__(kBlock)
    ReplyKernel(const RequestOnDevice* current, const float* logits, int32_t stride, int32_t classes, uint32_t* finished,
                volatile LatencyReply* reply, volatile float* to) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row < current->count) {
    const bool wanted = current->logits != 0;
    float best = 0;
    int32_t class_index = classes;  // no class yet
    for (int32_t c = lane; c < classes; c += 32) {
      const float value = logits[static_cast<int64_t>(row) * stride + c];
      if (wanted) to[static_cast<int64_t>(row) * classes + c] = value;
      if (class_index == classes || value > best) {
        best = value;
        class_index = c;
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const float other_value = __shfl_xor_sync(kFullWarp, best, offset);
      const int32_t other_class = __shfl_xor_sync(kFullWarp, class_index, offset);
      if (other_class < classes &&
          (class_index == classes || other_value > best || (other_value == best && other_class < class_index))) {
        best = other_value;
        class_index = other_class;
      }
    }
    if (lane == 0) reply->classes[row] = class_index;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();  // orders the whole block's writes, which the barrier has joined, before the count
  if (atomicAdd(finished, 1u) + 1 != gridDim.x) return;
  *finished = 0;
  reply->overflow = current->overflow;
  __threadfence_system();
  reply->sequence = current->sequence;
}

unsigned Blocks(int32_t rows) { return static_cast<unsigned>((rows + kWarps - 1) / kWarps); }

}  // namespace

cudaError_t EnqueueBeginRequest(const LatencyRequest* request, const GraphOnDevice& graph, const HopOnDevice* first,
                                const RunState* state, RequestOnDevice* current, BatchHeader* header, int32_t* nodes,
                                cudaStream_t stream) {
  Launch(BeginRequestKernel, 1, kBeginBlock, 0, stream, request, graph, first == nullptr ? HopOnDevice{} : *first, state,
         current, header, nodes);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueDrawHop(const GraphOnDevice& graph, int hop, const HopOnDevice& out, const RunState* state,
                           RequestOnDevice* current, BatchHeader* header, int32_t* nodes, cudaStream_t stream) {
  if (out.fanout <= kNarrowFanout) {
    Launch(DrawHopKernel, Blocks(out.rows), kBlock, 0, stream, graph, hop, out, state, current, header, nodes);
    return cudaPeekAtLastError();
  }
  const int warps = WideWarps(out.fanout);
  Launch(CountDrawsKernel, static_cast<unsigned>((out.rows + kTile - 1) / kTile), kBlock, 0, stream, graph, hop, out, header,
         nodes);
  Launch(WideDrawHopKernel, static_cast<unsigned>((out.rows + warps - 1) / warps), 32 * warps,
         warps * WideDrawBytes(out.fanout), stream, graph, hop, out, state, current, header, nodes);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueReply(const RequestOnDevice* current, const float* logits, int32_t stride, int32_t classes, int32_t seeds,
                         uint32_t* finished, LatencyReply* reply, float* to, cudaStream_t stream) {
  Launch(ReplyKernel, Blocks(seeds), kBlock, 0, stream, current, logits, stride, classes, finished, reply, to);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
