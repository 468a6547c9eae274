// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/update/snapshots.h"

namespace hone::gnn::cuda {

Status Snapshots::Make(const DeviceParameters& parameters, const RunState* state) {
  parameters_ = &parameters;
  source_ = state;
  floats_ = 3 * parameters.count() + parameters.buffer_count();  // a multiple of 64
  bytes_ = static_cast<size_t>(RoundUp(floats_ * static_cast<int64_t>(sizeof(float)) + sizeof(RunState), 256));
  HONE_RETURN_IF_ERROR(copy_.Allocate(static_cast<int64_t>(bytes_)));
  HONE_RETURN_IF_ERROR(host_.Make(kSlots * bytes_));
  HONE_RETURN_IF_ERROR(beside_.Make());
  HONE_RETURN_IF_ERROR(taken_.Make());
  for (Event& event : arrived_) HONE_RETURN_IF_ERROR(event.Make());
  return Status::Ok();
}

Result<uint64_t> Snapshots::EnqueueTake(cudaStream_t main) {
  // Waits until the previous copy has left its place on the device.
  if (count_ > 0) HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(main, arrived_[count_ % kSlots].handle, 0));
  unsigned char* at = copy_.get();
  const auto take = [&](const void* from, size_t size) {
    const cudaError_t error = cudaMemcpyAsync(at, from, size, cudaMemcpyDeviceToDevice, main);
    at += size;
    return error;
  };
  const size_t size = static_cast<size_t>(parameters_->count()) * sizeof(float);
  HONE_CUDA_RETURN_IF_ERROR(take(parameters_->master(), size));
  HONE_CUDA_RETURN_IF_ERROR(take(parameters_->moment1(), size));
  HONE_CUDA_RETURN_IF_ERROR(take(parameters_->moment2(), size));
  if (parameters_->buffer_count() > 0) {
    HONE_CUDA_RETURN_IF_ERROR(
        take(parameters_->buffers(), static_cast<size_t>(parameters_->buffer_count()) * sizeof(float)));
  }
  HONE_CUDA_RETURN_IF_ERROR(take(source_, sizeof(RunState)));
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(taken_.handle, main));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(beside_.handle, taken_.handle, 0));
  const uint64_t number = count_ + 1;
  const size_t slot = number % kSlots;
  HONE_CUDA_RETURN_IF_ERROR(
      cudaMemcpyAsync(host_.get() + slot * bytes_, copy_.get(), bytes_, cudaMemcpyDeviceToHost, beside_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(arrived_[slot].handle, beside_.handle));
  count_ = number;
  return number;
}

Status Snapshots::Confirm(uint64_t number) {
  HONE_CHECK(number + 2 > count_ && number <= count_, "one of the latest two copies");
  HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(arrived_[number % kSlots].handle));
  good_ = number;
  return Status::Ok();
}

const float* Snapshots::flat() const {
  return good_ == 0 ? nullptr : reinterpret_cast<const float*>(host_.get() + good_ % kSlots * bytes_);
}
const RunState* Snapshots::state() const {
  return good_ == 0 ? nullptr : reinterpret_cast<const RunState*>(flat() + floats_);
}

}  // namespace hone::gnn::cuda
