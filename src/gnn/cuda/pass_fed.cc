// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An epoch of batches that the host prepared (feed.h): the pass's compute without its sampling.
//
// Nothing is captured here. The host prepares and copies a hundred megabytes a batch, next to which launches are little;
// what is measured is the division of labour.
#include <chrono>
#include <deque>

#include "gnn/cuda/feed.h"
#include "gnn/cuda/pass.h"

namespace hone::gnn::cuda {
namespace {

constexpr size_t kHeld = 2;  // batches that are computed or wait for it, with their buffers

bool Fits(const std::vector<int32_t>& known, const Envelope& envelope) {
  for (size_t h = 0; h < known.size(); ++h) {
    if (known[h] > envelope.known[h]) return false;
  }
  return true;
}

// Around what is enqueued for one batch.
struct Timed {
  cudaEvent_t begin = nullptr, end = nullptr;
  Timed() = default;
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    for (const cudaEvent_t event : {begin, end}) {
      if (event != nullptr) cudaEventDestroy(event);
    }
  }
  Status Make() {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventCreate(&begin));
    HONE_CUDA_RETURN_IF_ERROR(cudaEventCreate(&end));
    return Status::Ok();
  }
  Result<double> Seconds() const {
    float milliseconds = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&milliseconds, begin, end));
    return 1e-3 * static_cast<double>(milliseconds);
  }
};

}  // namespace

Status Pass::EnqueueFed(Bucket& bucket, FedBatch& fed) {
  BatchBuffers& buffers = bucket.batches[0];
  HONE_RETURN_IF_ERROR(fed.EnqueueUnpack(buffers, main_.handle));
  BatchOnDevice batch = buffers.view(state_.get());
  batch.graph = fed.graph(batch.graph);
  batch.graph_nodes = fed.graph_nodes();
  HONE_RETURN_IF_ERROR(bucket.program->EnqueueOutermost(batch, main_.handle));
  HONE_RETURN_IF_ERROR(EnqueueShard(bucket, 0, main_.handle));
  return EnqueueUpdate(bucket, 0, true, main_.handle);
}

Result<FedEpoch> Pass::RunFed(uint32_t epoch, HostFeed& feed) {
  FedEpoch result;
  HONE_RETURN_IF_ERROR(SetState(epoch, 0, true));
  (void)feed.TakeTimes();
  struct Held {
    BatchLease lease;
    Timed* timed;
  };
  std::deque<Timed> timers(kHeld + 1);
  for (Timed& timer : timers) HONE_RETURN_IF_ERROR(timer.Make());
  std::deque<Held> held;
  const auto let_go = [&]() -> Status {
    const auto& fed = static_cast<const FedBatch&>(*held.front().lease.transfer_state());
    HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(held.front().timed->end));
    HONE_ASSIGN_OR_RETURN(const double computed, held.front().timed->Seconds());
    HONE_ASSIGN_OR_RETURN(const double copied, fed.copy_seconds());
    result.compute_seconds += computed;
    result.copy_seconds += copied;
    held.pop_front();
    return Status::Ok();
  };
  const auto started = std::chrono::steady_clock::now();
  HONE_RETURN_IF_ERROR(feed.Begin(epoch));
  // Leases go before anything that they wait for does.
  const auto run = [&]() -> Status {
    for (;; ++result.epoch.steps) {
      HONE_ASSIGN_OR_RETURN(BatchLease lease, feed.Next(main_.handle));
      if (!lease) break;
      auto& fed = static_cast<FedBatch&>(*lease.transfer_state());
      const bool small = Fits(fed.known(), small_.envelope);
      result.epoch.larger += small ? 0 : 1;
      Timed& timer = timers[static_cast<size_t>(result.epoch.steps) % timers.size()];
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(timer.begin, main_.handle));
      HONE_RETURN_IF_ERROR(EnqueueFed(small ? small_ : large_, fed));
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(timer.end, main_.handle));
      held.push_back({std::move(lease), &timer});
      if (held.size() > kHeld) HONE_RETURN_IF_ERROR(let_go());
    }
    while (!held.empty()) HONE_RETURN_IF_ERROR(let_go());
    return Status::Ok();
  };
  const Status ran = run();
  cudaStreamSynchronize(main_.handle);
  held.clear();
  if (!ran.ok()) {
    feed.Stop();
    return ran;
  }
  HONE_ASSIGN_OR_RETURN(const RunState state, ReadState());
  result.epoch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (state.failure != kNoFailure) {
    return Status::InvalidArgument("the loss or a gradient is not a number: try a lower learning rate");
  }
  if (state.counted > 0) {
    result.epoch.mean_loss = state.loss_sum / state.weight_sum;
    result.epoch.accuracy = static_cast<double>(state.correct) / static_cast<double>(state.counted);
  }
  const PipelineTimes times = feed.TakeTimes();
  result.sample_seconds = times.sample_seconds;
  result.slice_seconds = times.slice_seconds;
  result.wait_seconds = times.wait_seconds;
  result.rows = times.nodes;
  result.workers = feed.workers();
  return result;
}

}  // namespace hone::gnn::cuda
