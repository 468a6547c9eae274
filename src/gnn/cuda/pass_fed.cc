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
  // A place for each batch that is held, and for the one whose copies begin.
  struct Place {
    FedBatch batch;
    Timed timed;
  };
  std::deque<Place> places(kHeld + 1);
  for (Place& place : places) HONE_RETURN_IF_ERROR(place.timed.Make());
  struct Held {
    BatchLease lease;
    Place* place;
  };
  std::deque<Held> held;
  const auto let_go = [&]() -> Status {
    const Place& place = *held.front().place;
    HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(place.timed.end));
    HONE_ASSIGN_OR_RETURN(const double computed, place.timed.Seconds());
    HONE_ASSIGN_OR_RETURN(const double copied, place.batch.copy_seconds());
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
      HONE_ASSIGN_OR_RETURN(BatchLease lease, feed.Next());
      if (!lease) break;
      Place& place = places[static_cast<size_t>(result.epoch.steps) % places.size()];
      held.push_back({std::move(lease), &place});
      HONE_RETURN_IF_ERROR(feed.EnqueueCopies(*held.back().lease, place.batch, main_.handle));
      const bool small = Fits(place.batch.known(), small_.envelope);
      result.epoch.larger += small ? 0 : 1;
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(place.timed.begin, main_.handle));
      HONE_RETURN_IF_ERROR(EnqueueFed(small ? small_ : large_, place.batch));
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(place.timed.end, main_.handle));
      if (held.size() > kHeld) HONE_RETURN_IF_ERROR(let_go());
    }
    while (!held.empty()) HONE_RETURN_IF_ERROR(let_go());
    return Status::Ok();
  };
  const Status ran = run();
  cudaDeviceSynchronize();  // copies too, where something failed on the way
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
