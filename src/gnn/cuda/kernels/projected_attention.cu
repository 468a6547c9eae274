// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements projected_attention.h.
#include <type_traits>

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/kernels/projected_attention.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;
constexpr int kBlocksEach = 3;        // blocks per multiprocessor, which limits the registers of a thread
constexpr int kGradientBlocks = 264;  // as many as 132 multiprocessors hold at once, two each
constexpr int kAhead = 4;             // rows that a lane loads before it uses the first
constexpr int kGradientAhead = 8;     // the same in the pass that makes the logits' gradients, which has more registers
constexpr int kEach = 4;              // sources that a warp handles going back
constexpr int kColumns = 256;         // most columns: eight for each lane
constexpr int kShareLanes = 32;       // lanes that add up the partials of a column

int Blocks(int64_t warps) { return static_cast<int>((warps + kWarps - 1) / kWarps); }

__device__ float Leaky(float slope, float x) { return x > 0.0f ? x : slope * x; }
__device__ float Dot(const Float8& a, const Float8& b) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += a.v[i] * b.v[i];
  return sum;
}
__device__ void AddScaled(float factor, const Float8& x, Float8& to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to.v[i] += factor * x.v[i];
}
__device__ void Scale(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

// A lane's place in the row of a destination. kLanes lanes next to one another have the columns of a head.
template <int kLanes>
struct LaneInRow {
  int32_t heads, vectors;
  int lane;
  int32_t head;
  bool in_row;  // whether the row has columns for the lane
  __device__ explicit LaneInRow(const ProjectedAttention& attention)
      : heads(attention.heads),
        vectors(attention.heads * kLanes),
        lane(static_cast<int>(threadIdx.x % 32)),
        head(min(lane / kLanes, attention.heads - 1)),
        in_row(lane < attention.heads * kLanes) {}
  __device__ bool speaks() const { return in_row && lane % kLanes == 0; }  // whether the lane writes for its head
  __device__ static float HeadSum(float x) {
#pragma unroll
    for (int offset = kLanes / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
    return x;
  }
  template <typename T>
  __device__ RawOf<T> Fetch(const T* rows, int32_t row) const {
    RawOf<T> raw = {};
    if (in_row) raw = LoadRaw(rows + (static_cast<int64_t>(row) * vectors + lane) * 8);
    return raw;
  }
  // Returns the lane's eight columns of a vector that has one value per column of a row.
  __device__ Float8 Own(const float* vector) const { return in_row ? Load8(vector + lane * 8) : Float8{}; }
};

// Calls take(slot, source, row of the source) for the slots of a destination in their order, where `slot` is below
// `count`. The whole warp calls it. kRows rows are loaded together.
template <int kRows, int kLanes, typename T, typename Take>
__device__ void EachSlot(const LaneInRow<kLanes>& lane_in_row, const T* rows, const int32_t* columns, int32_t count,
                         const Take& take) {
  for (int32_t first = 0; first < count; first += 32) {
    const int32_t column = first + lane_in_row.lane < count ? __ldg(columns + first + lane_in_row.lane) : 0;
    const int32_t chunk = min(32, count - first);
    for (int32_t j = 0; j < chunk; j += kRows) {
      RawOf<T> raw[kRows];
#pragma unroll
      for (int a = 0; a < kRows; ++a) {
        const int32_t source = __shfl_sync(kFullWarp, column, (j + a) % 32);
        if (j + a < chunk) raw[a] = lane_in_row.Fetch(rows, source);
      }
#pragma unroll
      for (int a = 0; a < kRows; ++a) {
        const int32_t source = __shfl_sync(kFullWarp, column, (j + a) % 32);
        if (j + a < chunk) take(first + j + a, source, Widen(raw[a]));
      }
    }
  }
}

template <int kLanes, typename T>
__global__ void __launch_bounds__(kBlock, kBlocksEach)
    ProjectedAttentionKernel(ProjectedAttention attention, HopOnDevice hop, const BatchHeader* header, T* out) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, attention.number)) return;
  const LaneInRow<kLanes> lane_in_row(attention);
  const T* z = static_cast<const T*>(attention.z);
  const float slope = attention.negative_slope;
  const int32_t count = hop.counts[row];
  const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
  float* slots =
      attention.weights.slots + static_cast<int64_t>(row) * hop.fanout * lane_in_row.heads + lane_in_row.head;
  float* self = attention.weights.self + static_cast<int64_t>(row) * lane_in_row.heads + lane_in_row.head;

  const Float8 att_src = lane_in_row.Own(attention.att_src), own_row = Widen(lane_in_row.Fetch(z, row));
  const float destination_score = lane_in_row.HeadSum(Dot(lane_in_row.Own(attention.att_dst), own_row));
  const float own_score = lane_in_row.HeadSum(Dot(att_src, own_row)) + destination_score;
  // The largest logit so far, and the sums of weights and of weighted rows relative to it.
  float max_logit = Leaky(slope, own_score), weight_sum = 1;
  Float8 sum = own_row;
  EachSlot<kAhead>(lane_in_row, z, columns, count, [&](int32_t slot, int32_t source, const Float8& x) {
    const float score = lane_in_row.HeadSum(Dot(att_src, x)) + destination_score;
    if (lane_in_row.speaks()) slots[static_cast<int64_t>(slot) * lane_in_row.heads] = score;
    if (source == row) return;
    const float logit = Leaky(slope, score), new_max = fmaxf(max_logit, logit);
    const float rescale = __expf(max_logit - new_max), weight = __expf(logit - new_max);
    weight_sum = weight_sum * rescale + weight;
    Scale(rescale, sum);
    AddScaled(weight, x, sum);
    max_logit = new_max;
  });
  __syncwarp();
  const float inverse = 1.0f / weight_sum;
  const auto alpha_of = [&](float score) {
    const float alpha = __expf(Leaky(slope, score) - max_logit) * inverse;
    return score > 0.0f ? alpha : -alpha;
  };
  for (int32_t slot = lane_in_row.lane % kLanes; lane_in_row.in_row && slot < count; slot += kLanes) {
    float& value = slots[static_cast<int64_t>(slot) * lane_in_row.heads];
    value = __ldg(columns + slot) == row ? 0.0f : alpha_of(value);
  }
  if (lane_in_row.speaks()) *self = alpha_of(own_score);
  Scale(inverse, sum);
  if (lane_in_row.in_row) Store8(out + (static_cast<int64_t>(row) * lane_in_row.vectors + lane_in_row.lane) * 8, sum);
}

// Computes the gradients of the logits, and each block's partial sum of those of att_src and att_dst. Let d be
// the products of grad_out with the rows, e (`expected`) their mean weighted by alpha, and s the slopes of leaky_relu.
// Then a logit's gradient is alpha (d - e) s. As e is known last, two sums over the rows x are taken, of alpha d s x
// and of alpha s x, and combined at the end.
template <int kLanes, typename T>
__global__ void __launch_bounds__(kBlock, kGradientBlocks / 132)
    ProjectedLogitGradientKernel(ProjectedAttention attention, HopOnDevice hop, const BatchHeader* header,
                                 const T* grad_out, AttentionGradients gradients) {
  __shared__ float warp_sums[kWarps][kColumns];
  const int32_t rows = RowsAfter(header, attention.number);
  if (static_cast<int32_t>(blockIdx.x) * kWarps >= rows) return;
  const LaneInRow<kLanes> lane_in_row(attention);
  const T* z = static_cast<const T*>(attention.z);
  const float slope = attention.negative_slope;
  Float8 grad_att_src = {}, grad_att_dst = {};
  const auto stride = static_cast<int32_t>(gridDim.x) * kWarps;
  for (auto row = static_cast<int32_t>(blockIdx.x * kWarps + threadIdx.x / 32); row < rows; row += stride) {
    const int32_t count = hop.counts[row];
    const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
    const int64_t first_slot = static_cast<int64_t>(row) * hop.fanout * lane_in_row.heads + lane_in_row.head;
    const float* alphas = attention.weights.slots + first_slot;
    float* logit_grads = gradients.slots + first_slot;
    float* self = gradients.self + static_cast<int64_t>(row) * 2 * lane_in_row.heads + lane_in_row.head;
    const auto alpha_times_slope = [&](float alpha) { return fabsf(alpha) * (alpha < 0.0f ? slope : 1.0f); };

    const Float8 g = Widen(lane_in_row.Fetch(grad_out, row)), own_row = Widen(lane_in_row.Fetch(z, row));
    const float own_alpha = attention.weights.self[static_cast<int64_t>(row) * lane_in_row.heads + lane_in_row.head];
    const float own_dot = lane_in_row.HeadSum(Dot(g, own_row));
    float expected = fabsf(own_alpha) * own_dot;
    Float8 sum_by_dots = {}, sum_by_slopes = {};
    AddScaled(alpha_times_slope(own_alpha) * own_dot, own_row, sum_by_dots);
    AddScaled(alpha_times_slope(own_alpha), own_row, sum_by_slopes);
    EachSlot<kGradientAhead>(lane_in_row, z, columns, count, [&](int32_t slot, int32_t, const Float8& x) {
      const float alpha = alphas[static_cast<int64_t>(slot) * lane_in_row.heads];
      const float dot = lane_in_row.HeadSum(Dot(g, x));
      if (lane_in_row.speaks()) logit_grads[static_cast<int64_t>(slot) * lane_in_row.heads] = dot;
      expected += fabsf(alpha) * dot;
      AddScaled(alpha_times_slope(alpha) * dot, x, sum_by_dots);
      AddScaled(alpha_times_slope(alpha), x, sum_by_slopes);
    });
    __syncwarp();
    float logit_grad_sum = 0;
    for (int32_t slot = lane_in_row.lane % kLanes; lane_in_row.in_row && slot < count; slot += kLanes) {
      const int64_t at = static_cast<int64_t>(slot) * lane_in_row.heads;
      const float value = alpha_times_slope(alphas[at]) * (logit_grads[at] - expected);
      logit_grads[at] = value;
      logit_grad_sum += value;
    }
    const float own_value = alpha_times_slope(own_alpha) * (own_dot - expected);
    logit_grad_sum = lane_in_row.HeadSum(logit_grad_sum) + own_value;
    if (lane_in_row.speaks()) {
      self[0] = own_value;
      self[lane_in_row.heads] = logit_grad_sum;
    }
    AddScaled(1.0f, sum_by_dots, grad_att_src);
    AddScaled(-expected, sum_by_slopes, grad_att_src);
    AddScaled(logit_grad_sum, own_row, grad_att_dst);
  }
  const int32_t width = lane_in_row.vectors * 8;
  float* partial = gradients.partials + static_cast<int64_t>(blockIdx.x) * 2 * width;
  const auto store_block_sum = [&](const Float8& lane_sum, float* to) {
    if (lane_in_row.in_row) Store8(&warp_sums[threadIdx.x / 32][lane_in_row.lane * 8], lane_sum);
    __syncthreads();
    if (static_cast<int32_t>(threadIdx.x) < width) {
      float sum = 0;
      for (int w = 0; w < kWarps; ++w) sum += warp_sums[w][threadIdx.x];
      to[threadIdx.x] = sum;
    }
    __syncthreads();
  };
  store_block_sum(grad_att_src, partial);
  store_block_sum(grad_att_dst, partial + width);
}

// Adds up the blocks' partial sums of a column, in one order whatever the envelope.
__global__ void ProjectedJoinKernel(int number, int32_t width, const BatchHeader* header, const float* partials,
                                    float* grad_att_src, float* grad_att_dst) {
  __shared__ float sums[kShareLanes][33];
  const auto column = static_cast<int32_t>(blockIdx.x * 32 + threadIdx.x);
  const int32_t blocks = min(kGradientBlocks, (RowsAfter(header, number) + kWarps - 1) / kWarps);
  float sum = 0;
  for (auto block = static_cast<int32_t>(threadIdx.y); column < 2 * width && block < blocks; block += kShareLanes) {
    sum += partials[static_cast<int64_t>(block) * 2 * width + column];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= 2 * width) return;
  for (int lane = 1; lane < kShareLanes; ++lane) sum += sums[lane][threadIdx.x];
  (column < width ? grad_att_src : grad_att_dst)[column % width] = sum;
}

// Computes the gradient of z by source. At most one slot drew most sources, so the rows of several are loaded together.
template <int kLanes, typename T>
__global__ void __launch_bounds__(kBlock, kBlocksEach)
    ProjectedSourceGradientKernel(ProjectedAttention attention, HopOnDevice hop, const BatchHeader* header,
                                  const T* grad_out, int32_t padded_sources, AttentionGradients gradients, T* grad_z) {
  const int32_t rows = RowsAfter(header, attention.number), sources = RowsAfter(header, attention.number + 1);
  const auto base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kEach;
  if (base >= padded_sources) return;
  const LaneInRow<kLanes> lane_in_row(attention);
  const bool exists = lane_in_row.lane < kEach && base + lane_in_row.lane < sources;
  const int32_t own_begin = exists ? __ldg(hop.first + base + lane_in_row.lane) : 0;
  const int32_t own_end = exists ? __ldg(hop.end + base + lane_in_row.lane) : 0;
  const auto own_slot = static_cast<int32_t>(own_begin < own_end ? __ldg(hop.sorted_slots + own_begin) : 0);
  const float* alphas = attention.weights.slots + lane_in_row.head;
  const float* values = gradients.slots + lane_in_row.head;
  RawOf<T> raw[kEach];
  float weight[kEach], value[kEach];
#pragma unroll
  for (int a = 0; a < kEach; ++a) {
    const bool drawn = __shfl_sync(kFullWarp, own_end - own_begin, a) > 0;
    const int32_t slot = __shfl_sync(kFullWarp, own_slot, a);
    raw[a] = {};
    weight[a] = value[a] = 0;
    if (!drawn) continue;
    raw[a] = lane_in_row.Fetch(grad_out, slot / hop.fanout);
    weight[a] = fabsf(alphas[static_cast<int64_t>(slot) * lane_in_row.heads]);
    value[a] = values[static_cast<int64_t>(slot) * lane_in_row.heads];
  }
  const Float8 by_source = lane_in_row.Own(attention.att_src), by_destination = lane_in_row.Own(attention.att_dst);
#pragma unroll
  for (int a = 0; a < kEach; ++a) {
    const int32_t source = base + a;
    if (source >= padded_sources) break;
    const int32_t begin = __shfl_sync(kFullWarp, own_begin, a), end = __shfl_sync(kFullWarp, own_end, a);
    Float8 sum = {};
    float score = value[a];
    AddScaled(weight[a], Widen(raw[a]), sum);
    for (int32_t from = begin + 1; from < end; from += 32) {
      const auto slot =
          static_cast<int32_t>(from + lane_in_row.lane < end ? __ldg(hop.sorted_slots + from + lane_in_row.lane) : 0);
      const int32_t chunk = min(32, end - from);
      for (int j = 0; j < chunk; ++j) {
        const int32_t one = __shfl_sync(kFullWarp, slot, j);
        AddScaled(fabsf(alphas[static_cast<int64_t>(one) * lane_in_row.heads]),
                  Widen(lane_in_row.Fetch(grad_out, one / hop.fanout)), sum);
        score += values[static_cast<int64_t>(one) * lane_in_row.heads];
      }
    }
    if (source < rows) {
      const float* self = gradients.self + static_cast<int64_t>(source) * 2 * lane_in_row.heads + lane_in_row.head;
      AddScaled(fabsf(attention.weights.self[static_cast<int64_t>(source) * lane_in_row.heads + lane_in_row.head]),
                Widen(lane_in_row.Fetch(grad_out, source)), sum);
      score += self[0];
      AddScaled(self[lane_in_row.heads], by_destination, sum);
    }
    AddScaled(score, by_source, sum);
    if (source >= sources) sum = {};
    if (lane_in_row.in_row)
      Store8(grad_z + (static_cast<int64_t>(source) * lane_in_row.vectors + lane_in_row.lane) * 8, sum);
  }
}

// Calls with(lanes of a head, a value of the element's type).
template <typename With>
cudaError_t WithLanes(const ProjectedAttention& attention, Element element, const With& with) {
  const auto typed = [&](auto lanes) {
    return element == Element::kFloat32 ? with(lanes, float{}) : with(lanes, __nv_bfloat16{});
  };
  if (attention.heads * attention.head_width > kColumns) return cudaErrorInvalidValue;
  switch (attention.head_width) {
    case 8:
      return typed(std::integral_constant<int, 1>{});
    case 16:
      return typed(std::integral_constant<int, 2>{});
    case 32:
      return typed(std::integral_constant<int, 4>{});
    case 64:
      return typed(std::integral_constant<int, 8>{});
    case 128:
      return typed(std::integral_constant<int, 16>{});
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t EnqueueProjectedAttention(const ProjectedAttention& attention, const HopOnDevice& hop, Element element,
                                      const BatchHeader* header, void* out, cudaStream_t stream) {
  return WithLanes(attention, element, [&]<typename Lanes, typename T>(Lanes, T) {
    return Launch(ProjectedAttentionKernel<Lanes::value, T>, Blocks(hop.rows), kBlock, 0, stream, attention, hop,
                  header, static_cast<T*>(out));
  });
}

int64_t ProjectedAttentionPartials(const ProjectedAttention& attention) {
  return int64_t{kGradientBlocks} * 2 * attention.heads * attention.head_width;
}

cudaError_t EnqueueProjectedAttentionBackward(const ProjectedAttention& attention, const HopOnDevice& hop,
                                              Element element, const BatchHeader* header, const void* grad_out,
                                              int32_t padded_sources, const AttentionGradients& gradients, void* grad_z,
                                              float* grad_att_src, float* grad_att_dst, cudaStream_t stream) {
  return WithLanes(attention, element, [&]<typename Lanes, typename T>(Lanes, T) {
    const T* grad = static_cast<const T*>(grad_out);
    // The number of blocks is that of the largest envelope, because the order of sums depends on it.
    Launch(ProjectedLogitGradientKernel<Lanes::value, T>, kGradientBlocks, kBlock, 0, stream, attention, hop, header,
           grad, gradients);
    const int32_t width = attention.heads * attention.head_width;
    Launch(ProjectedJoinKernel, dim3(static_cast<unsigned>((2 * width + 31) / 32)), dim3(32, kShareLanes), 0, stream,
           attention.number, width, header, gradients.partials, grad_att_src, grad_att_dst);
    return Launch(ProjectedSourceGradientKernel<Lanes::value, T>, Blocks((padded_sources + kEach - 1) / kEach), kBlock,
                  0, stream, attention, hop, header, grad, padded_sources, gradients, static_cast<T*>(grad_z));
  });
}

}  // namespace hone::gnn::cuda
