// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/emulated/op_plants_device.h"
#include "hone/gnn/op_kernels.h"

namespace hone::gnn {
namespace {

constexpr int kBlock = 128;
int64_t Blocks(int64_t threads) { return (threads + kBlock - 1) / kBlock; }
__device__ int64_t Thread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

// Returns the feature that the edge in a slot adds to column c; 0 if edges have none.
__device__ float OfEdge(const DeviceHop& hop, int32_t slot, int32_t c) {
  return hop.edge_features != nullptr ? hop.edge_features[slot * hop.edge_stride + c % hop.edge_columns] : 0.0f;
}

// Sums with one thread per column of a destination.
template <typename T>
__global__ void SumKernel(DeviceHop hop, const T* x, int64_t stride, int32_t columns, float* sums) {
  const auto row = static_cast<int32_t>(Thread() / columns), c = static_cast<int32_t>(Thread() % columns);
  if (row >= NumDst(hop)) return;
  float sum = 0;
  for (int32_t slot = row * hop.fanout; slot < row * hop.fanout + hop.counts[row]; ++slot) {
    sum += LoadElement(x + hop.columns[slot] * stride + c) + OfEdge(hop, slot, c);
  }
  sums[Thread()] = sum;
}
// Sums with one thread per column of a slot, in whatever order the threads come.
template <typename T>
__global__ void SumAsTheyComeKernel(DeviceHop hop, const T* x, int64_t stride, int32_t columns, float* sums) {
  const auto slot = static_cast<int32_t>(Thread() / columns), c = static_cast<int32_t>(Thread() % columns);
  const int32_t row = slot / hop.fanout;
  if (row >= NumDst(hop) || slot % hop.fanout >= hop.counts[row]) return;
  atomicAdd(sums + row * columns + c, LoadElement(x + hop.columns[slot] * stride + c) + OfEdge(hop, slot, c));
}
template <typename T>
__global__ void ScaleKernel(DeviceHop hop, bool all, const float* sums, const float* weight, int32_t columns, T* out,
                            int64_t stride) {
  const auto row = static_cast<int32_t>(Thread() / columns), c = static_cast<int32_t>(Thread() % columns);
  if (row >= (all ? hop.most_dst : NumDst(hop))) return;
  StoreElement(out + row * stride + c, weight[c] * sums[Thread()]);
}
template <typename T>
__global__ void SourcesKernel(DeviceHop hop, bool adds, const T* grad, int64_t grad_stride, const float* weight,
                              int32_t columns, T* to, int64_t stride) {
  const auto source = static_cast<int32_t>(Thread() / columns), c = static_cast<int32_t>(Thread() % columns);
  if (source >= NumSrc(hop)) return;
  float sum = adds ? LoadElement(to + source * stride + c) : 0.0f;
  for (int32_t k = hop.first[source]; k < hop.end[source]; ++k) {
    const auto row = static_cast<int32_t>(hop.slots_by_source[k]) / hop.fanout;
    sum += weight[c] * LoadElement(grad + row * grad_stride + c);
  }
  StoreElement(to + source * stride + c, sum);
}
template <typename T>
__global__ void WeightKernel(DeviceHop hop, const float* sums, const T* grad, int64_t stride, int32_t columns,
                             float* to) {
  const auto c = static_cast<int32_t>(Thread());
  if (c >= columns) return;
  float sum = 0;
  for (int32_t row = 0; row < NumDst(hop); ++row) sum += LoadElement(grad + row * stride + c) * sums[row * columns + c];
  to[c] = sum;
}

class PlantedSumOnDevice final : public DeviceOp {
 public:
  PlantedSumOnDevice(const OpPlace& place, Plant plant) : columns_(static_cast<int32_t>(place.in)), plant_(plant) {
    if (plant == Plant::kKeepsState)
      HONE_CHECK(kept_.Allocate(kMostRows * columns_).ok(), "memory for a planted violation");
  }
  DeviceOpBytes Bytes(const DeviceOpShape& shape) const override {
    return {.saved = int64_t{shape.most_dst} * columns_ * 4, .workspace = 0};
  }
  Status EnqueueForward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& out) const override {
    return call.shape.element == OpElement::kFloat32 ? Forward<float>(call, x, out)
                                                     : Forward<__nv_bfloat16>(call, x, out);
  }
  Status EnqueueBackward(const DeviceOpCall& call, const DeviceRows&, const DeviceRows& grad_out,
                         const DeviceRows& grad_x) const override {
    return call.shape.element == OpElement::kFloat32 ? Backward<float>(call, grad_out, grad_x)
                                                     : Backward<__nv_bfloat16>(call, grad_out, grad_x);
  }

 private:
  static constexpr int64_t kMostRows = 4096;
  float* SumsOf(const DeviceOpCall& call) const {
    return plant_ == Plant::kKeepsState ? kept_.get() : static_cast<float*>(call.saved);
  }
  template <typename T>
  Status Forward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& out) const {
    int32_t rows = call.shape.most_dst;
    if (plant_ == Plant::kReadsSizes) {
      HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(&rows, call.hop.num_dst, sizeof(rows), cudaMemcpyDeviceToHost));
    }
    const int64_t threads = int64_t{rows} * columns_;
    const auto* from = static_cast<const T*>(x.data);
    if (plant_ == Plant::kSumsByThread) {
      HONE_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(SumsOf(call), 0, static_cast<size_t>(threads) * 4, call.stream));
      HONE_RETURN_IF_ERROR(LaunchOp(call, SumAsTheyComeKernel<T>, Blocks(threads * call.shape.fanout), kBlock, call.hop,
                                    from, x.stride, columns_, SumsOf(call)));
    } else {
      HONE_RETURN_IF_ERROR(
          LaunchOp(call, SumKernel<T>, Blocks(threads), kBlock, call.hop, from, x.stride, columns_, SumsOf(call)));
    }
    return LaunchOp(call, ScaleKernel<T>, Blocks(threads), kBlock, call.hop, plant_ == Plant::kWritesPaddedRows,
                    SumsOf(call), call.parameters[0], columns_, static_cast<T*>(out.data), out.stride);
  }
  template <typename T>
  Status Backward(const DeviceOpCall& call, const DeviceRows& grad_out, const DeviceRows& grad_x) const {
    const auto* grad = static_cast<const T*>(grad_out.data);
    if (grad_x.data != nullptr) {
      HONE_RETURN_IF_ERROR(LaunchOp(call, SourcesKernel<T>, Blocks(int64_t{call.shape.most_src} * columns_), kBlock,
                                    call.hop, plant_ == Plant::kAddsGradient, grad, grad_out.stride, call.parameters[0],
                                    columns_, static_cast<T*>(grad_x.data), grad_x.stride));
    }
    return LaunchOp(call, WeightKernel<T>, Blocks(columns_), kBlock, call.hop, SumsOf(call), grad, grad_out.stride,
                    columns_, call.gradients[0]);
  }

  const int32_t columns_;
  const Plant plant_;
  cuda::DeviceArray<float> kept_;
};

}  // namespace

std::unique_ptr<DeviceOp> MakePlantedSumOnDevice(const OpPlace& place, Plant plant) {
  return std::make_unique<PlantedSumOnDevice>(place, plant);
}

}  // namespace hone::gnn
