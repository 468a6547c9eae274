// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/engine/feed_kernels.h"

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/sample/sample_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;

unsigned Blocks(int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }
__device__ int64_t Thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

// Unpacks one slot per thread.
__global__ void UnpackHopKernel(const int32_t* offsets, const int32_t* columns, int32_t rows, HopOnDevice hop) {
  const int64_t place = Thread();
  if (place >= static_cast<int64_t>(hop.rows) * hop.fanout) return;
  const auto row = static_cast<int32_t>(place / hop.fanout), slot = static_cast<int32_t>(place % hop.fanout);
  const int32_t begin = row < rows ? offsets[row] : 0;
  const int32_t count = row < rows ? offsets[row + 1] - begin : 0;
  const int32_t id = slot < count ? columns[begin + slot] : -1;
  hop.columns[place] = id;
  if (slot == 0 && row < rows) hop.counts[row] = count;
  if (hop.first != nullptr && id >= 0) hop.slot_ranks[place] = static_cast<uint32_t>(atomicAdd(&hop.first[id], 1));
}

__global__ void WidenKernel(const int32_t* from, int64_t count, int64_t* to) {
  const int64_t i = Thread();
  if (i < count) to[i] = from[i];
}
__global__ void CountUpKernel(int64_t count, int32_t* to) {
  const int64_t i = Thread();
  if (i < count) to[i] = static_cast<int32_t>(i);
}

}  // namespace

cudaError_t EnqueueUnpackHop(const int32_t* offsets, const int32_t* columns, int32_t rows, const HopOnDevice& out,
                             cudaStream_t stream) {
  const int64_t places = static_cast<int64_t>(out.rows) * out.fanout;
  if (out.first != nullptr) {
    const int64_t scratch_words = (places + kNumberingTile - 1) / kNumberingTile + 1;
    cudaError_t error =
        cudaMemsetAsync(out.prefix_sum_scratch, 0, static_cast<size_t>(scratch_words) * sizeof(uint32_t), stream);
    if (error == cudaSuccess) {
      error = cudaMemsetAsync(out.first, 0, static_cast<size_t>(out.sources) * sizeof(int32_t), stream);
    }
    if (error != cudaSuccess) return error;
  }
  return Launch(UnpackHopKernel, Blocks(places), kBlock, 0, stream, offsets, columns, rows, out);
}

cudaError_t EnqueueWiden(const int32_t* from, int64_t count, int64_t* to, cudaStream_t stream) {
  return Launch(WidenKernel, Blocks(count), kBlock, 0, stream, from, count, to);
}

cudaError_t EnqueueCountUp(int64_t count, int32_t* to, cudaStream_t stream) {
  return Launch(CountUpKernel, Blocks(count), kBlock, 0, stream, count, to);
}

}  // namespace hone::gnn::cuda
