// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/second_stream.h"

namespace hone::gnn::cuda {

namespace {

constexpr int64_t kWorkspace = int64_t{64} << 20;  // that of matmul.cc

}  // namespace

Status OwnProducts::Make(const ProgramContext& context) {
  if (AllocationCount::active()) {
    library_ = context.matmuls;
    return counted_.Allocate(kWorkspace);
  }
  HONE_ASSIGN_OR_RETURN(own_, OpenMatmulLibrary());
  library_ = own_.get();
  return Status::Ok();
}

Status SecondStream::Make(const ProgramContext& context, Priority priority) {
  HONE_RETURN_IF_ERROR(products_.Make(context));
  if (AllocationCount::active()) return Status::Ok();  // there may be no device
  if (priority == Priority::kChain) {
    int least = 0, greatest = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    // The priority is that of pass.cc's compute.
    HONE_CUDA_RETURN_IF_ERROR(
        cudaStreamCreateWithPriority(&stream_.handle, cudaStreamNonBlocking, (least + greatest) / 2));
  } else {
    HONE_RETURN_IF_ERROR(stream_.Make());
  }
  HONE_RETURN_IF_ERROR(fork_.Make());
  return join_.Make();
}

Result<cudaStream_t> SecondStream::Fork(cudaStream_t chain) {
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(fork_.handle, chain));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream_.handle, fork_.handle, 0));
  return stream_.handle;
}

Status SecondStream::Join(cudaStream_t chain) {
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(join_.handle, stream_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(chain, join_.handle, 0));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
