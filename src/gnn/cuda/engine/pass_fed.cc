// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs steps of batches that the host prepared (feed.h): the pass's compute without its sampling.
//
// Nothing is captured here. The host prepares and copies a hundred megabytes per batch, next to which launches cost
// little. A batch's sizes are known when it arrives, so each step takes the envelope that holds it and none is
// repeated.
#include <algorithm>
#include <chrono>
#include <deque>

#include "gnn/cuda/engine/feed.h"
#include "gnn/cuda/engine/pass.h"
#include "gnn/cuda/sample/step_weight.h"

namespace hone::gnn::cuda {
namespace {

bool FitsEnvelope(const std::vector<int32_t>& hop_nodes, const Envelope& envelope) {
  for (size_t h = 0; h < hop_nodes.size(); ++h) {
    if (hop_nodes[h] > envelope.known[h]) return false;
  }
  return true;
}

// A batch that is copied or computed, with the lease of its host buffers.
struct Held {
  BatchLease lease;
  FedBatch* batch = nullptr;
};

}  // namespace

// Enqueues local shard `shard` of a step, and after the last shard the update. The shards of a step may take different
// envelopes.
Status Pass::EnqueueFed(Bucket& bucket, FedBatch& fed, int shard) {
  BatchBuffers& buffers = bucket.batches[0];
  HONE_RETURN_IF_ERROR(fed.EnqueueUnpack(buffers, main_.handle));
  if (!options_.class_weights.empty()) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueStepWeight(context_.graph->view(), source_.seeds(), state_.get(),
                                                class_weights_.get(), buffers.header(), main_.handle));
  }
  BatchOnDevice batch = buffers.view(state_.get());
  fed.PointToGraph(batch);
  HONE_RETURN_IF_ERROR(bucket.program->EnqueueOutermost(batch, main_.handle));
  if (sums() && shard == 0) HONE_RETURN_IF_ERROR(sum_.EnqueueBegin(main_.handle));
  HONE_RETURN_IF_ERROR(EnqueueShard(bucket, batch, main_.handle));
  if (sums()) HONE_RETURN_IF_ERROR(EnqueueEndShard(bucket, 0, shard, main_.handle));
  return shard + 1 < local_shards() ? Status::Ok() : EnqueueUpdate(bucket, 0, /*update=*/true, main_.handle);
}

// Runs the steps from the present state on. As in RunReplays, ranks enqueue the same steps, and agree after each chunk
// to go on.
Result<FedSteps> Pass::RunFedOn(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch, HostFeed& feed) {
  FedSteps result;
  result.steps.done = from;
  (void)feed.TakeTimes();  // discards the times of batches that were not trained on
  std::deque<Held> held;
  const auto let_go = [&]() -> Status {
    const FedBatch& batch = *held.front().batch;
    HONE_RETURN_IF_ERROR(batch.WaitForCompute());
    HONE_ASSIGN_OR_RETURN(const double computed, batch.compute_seconds());
    HONE_ASSIGN_OR_RETURN(const double copied, batch.copy_seconds());
    result.compute_seconds += computed;
    result.copy_seconds += copied;
    held.pop_front();
    return Status::Ok();
  };
  uint32_t reported = from;
  bool stopped = false, over = false;
  int64_t batches_taken = 0;
  const auto report_steps = [&] {
    if (watch != nullptr) ReportSteps(*watch, until, &reported, &stopped);
  };
  // A single rank ends at any step, because no other rank waits for its steps.
  const auto ends = [&] { return options_.ranks == nullptr && (stopped || progress_.host()->halt != 0); };
  const auto step = [&]() -> Status {
    for (int shard = 0; shard < local_shards(); ++shard, ++batches_taken) {
      HONE_ASSIGN_OR_RETURN(BatchLease lease, feed.Next());
      if (!lease) return Status::Internal("the host's batches ended before the epoch");
      FedBatch& batch = feed.place(batches_taken);
      held.push_back({std::move(lease), &batch});
      HONE_RETURN_IF_ERROR(feed.EnqueueCopies(*held.back().lease, batch, main_.handle));
      const bool fits_small = FitsEnvelope(batch.known(), small_.envelope);
      result.steps.larger += fits_small ? 0 : 1;
      HONE_RETURN_IF_ERROR(batch.EnqueueBeginCompute(main_.handle));
      HONE_RETURN_IF_ERROR(EnqueueFed(fits_small ? small_ : large_, batch, shard));
      HONE_RETURN_IF_ERROR(batch.EnqueueEndCompute(main_.handle));
      while (held.size() > feed.held()) HONE_RETURN_IF_ERROR(let_go());
    }
    return Status::Ok();
  };
  const uint32_t chunk = watch == nullptr ? until - from : static_cast<uint32_t>(std::clamp(watch->ahead, 1, 512) + 1) / 2;
  const auto run = [&]() -> Status {
    if (from == until) return Status::Ok();
    HONE_RETURN_IF_ERROR(feed.Begin(epoch, from));
    if (keeps_copies() && watch != nullptr) {
      HONE_ASSIGN_OR_RETURN(const uint64_t snapshot, snapshots_.EnqueueTake(main_.handle));
      HONE_RETURN_IF_ERROR(snapshots_.Confirm(snapshot));
    }
    uint32_t next_step = from;
    while (next_step < until && !over && !ends()) {
      for (const uint32_t end = std::min(until, next_step + chunk); next_step < end && !ends(); ++next_step) {
        HONE_RETURN_IF_ERROR(step());
        report_steps();
      }
      if (watch == nullptr) continue;
      uint64_t snapshot = 0;
      if (keeps_copies()) {
        HONE_ASSIGN_OR_RETURN(snapshot, snapshots_.EnqueueTake(main_.handle));
      }
      // Work that all ranks have done is good, once they agree that none was lost.
      while (options_.ranks != nullptr && !held.empty()) HONE_RETURN_IF_ERROR(let_go());
      report_steps();
      HONE_ASSIGN_OR_RETURN(over, AnyRank("the end of the steps", stopped || progress_.host()->halt != 0));
      if (keeps_copies()) HONE_RETURN_IF_ERROR(snapshots_.Confirm(snapshot));
    }
    while (!held.empty()) HONE_RETURN_IF_ERROR(let_go());
    // The feed reports the epoch's end by one extra call after the last batch.
    if (next_step == steps_) HONE_RETURN_IF_ERROR(feed.Next().status());
    return Status::Ok();
  };
  const Status ran = run();
  (void)cudaDeviceSynchronize();  // after an error, copies may still be in flight
  held.clear();
  if (!ran.ok()) {
    feed.Stop();
    return ran;
  }
  HONE_ASSIGN_OR_RETURN(const RunState state, ReadState());
  report_steps();
  if (watch != nullptr) {
    HONE_ASSIGN_OR_RETURN(stopped, AnyRank("the wish to stop", stopped));
  }
  result.steps.done = state.trained_steps;
  result.steps.stopped = stopped;
  if (state.failure != kNoFailure) NoteFailure(state, result.steps);
  const PipelineTimes times = feed.TakeTimes();
  result.sample_seconds = times.sample_seconds;
  result.slice_seconds = times.slice_seconds;
  result.wait_seconds = times.wait_seconds;
  result.rows = times.nodes;
  result.edges = times.edges;
  result.workers = feed.workers();
  return result;
}

Result<FedSteps> Pass::RunFedSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch,
                                   HostFeed& feed) {
  HONE_RETURN_IF_ERROR(SetState(epoch, from, /*reset_sums=*/false));
  return RunFedOn(epoch, from, until, watch, feed);
}

Result<FedEpoch> Pass::RunFed(uint32_t epoch, HostFeed& feed) {
  HONE_RETURN_IF_ERROR(SetState(epoch, 0, /*reset_sums=*/true));
  const auto started = std::chrono::steady_clock::now();
  HONE_ASSIGN_OR_RETURN(const FedSteps ran, RunFedOn(epoch, 0, steps_, nullptr, feed));
  FedEpoch result{ran, {}};
  result.epoch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (ran.steps.failure != StepsOnDevice::Failure::kNone) {
    return Status::InvalidArgument("the loss or a gradient is not a number: try a lower learning rate");
  }
  HONE_ASSIGN_OR_RETURN(const RunState state, ReadState());
  result.epoch.steps = ran.steps.done;
  result.epoch.larger = ran.steps.larger;
  if (state.counted > 0) {
    result.epoch.mean_loss = state.loss_sum / state.weight_sum;
    result.epoch.accuracy = static_cast<double>(state.correct) / static_cast<double>(state.counted);
  }
  return result;
}

}  // namespace hone::gnn::cuda
