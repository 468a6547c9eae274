// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Enqueues the work of a pass: its order, the streams it runs on, and which stream waits for which.
#include "gnn/cuda/engine/pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>

#include "gnn/cuda/graph/staging_kernels.h"

namespace hone::gnn::cuda {

namespace {

constexpr uint32_t kLastTag = 1u << 30;  // batches' tags stay below 2^32 until SetState clears the table (see there)
constexpr uint32_t kChunk = 32;          // replays per chunk of a run without a watch; two chunks are in flight

}  // namespace

// Returns, for each hop, the largest number of destination nodes that a batch can have.
std::vector<int32_t> Pass::WorstCaseNodes() const {
  std::vector<int32_t> hop_nodes;
  int64_t nodes = options_.batch;
  for (const int32_t fanout : options_.fanouts) {
    hop_nodes.push_back(static_cast<int32_t>(nodes));
    // A batch may be larger than the graph, and a hop never has fewer nodes than the hop before it.
    nodes =
        std::min(nodes * (1 + int64_t{fanout}), std::max<int64_t>(context_.graph->view().num_nodes, options_.batch));
  }
  return hop_nodes;
}

Status Pass::Make(std::span<const NodeId> seeds) {
  stages_ = context_.graph->stages();
  const auto count = static_cast<int64_t>(seeds.size());
  const int64_t seeds_a_step = int64_t{options_.batch} * options_.shards;
  steps_ = static_cast<uint32_t>((count + seeds_a_step - 1) / seeds_a_step);
  if (!options_.class_weights.empty()) {
    HONE_RETURN_IF_ERROR(
        class_weights_.Upload(options_.class_weights.data(), static_cast<int64_t>(options_.class_weights.size())));
  }
  if (!options_.pos_weight.empty()) {
    HONE_RETURN_IF_ERROR(
        pos_weight_.Upload(options_.pos_weight.data(), static_cast<int64_t>(options_.pos_weight.size())));
  }
  if (options_.clip_norm > 0) HONE_RETURN_IF_ERROR(norm_partials_.Allocate(kNormPartials));
  if (sums()) HONE_RETURN_IF_ERROR(sum_.Make(*context_.parameters, options_.shards, options_.exchange));
  if (!options_.trains) {
    const int64_t rows = static_cast<int64_t>(steps_) * options_.batch;
    HONE_RETURN_IF_ERROR(options_.target_width > 0 ? outputs_.Allocate(rows * options_.target_width)
                                                   : predictions_.Allocate(rows));
  }
  HONE_RETURN_IF_ERROR(state_.Allocate(1));
  if (keeps_copies()) HONE_RETURN_IF_ERROR(snapshots_.Make(*context_.parameters, state_.get()));
  // Sampling the next batch is a chain of small kernels. If the chain had to wait until the compute's large kernels
  // drain, it would end long after them, so it gets a higher priority. The outermost hop is large itself and fills what
  // the compute leaves idle. Capture keeps a stream's priority with each node.
  int lowest_priority = 0, highest_priority = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceGetStreamPriorityRange(&lowest_priority, &highest_priority));
  const auto make_stream = [](Stream& stream, int priority) -> Status {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithPriority(&stream.handle, cudaStreamNonBlocking, priority));
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(make_stream(main_, (lowest_priority + highest_priority) / 2));
  HONE_RETURN_IF_ERROR(make_stream(side_, highest_priority));
  HONE_RETURN_IF_ERROR(make_stream(structure_, highest_priority));
  HONE_RETURN_IF_ERROR(make_stream(outermost_, lowest_priority));
  if (stages_) {
    HONE_RETURN_IF_ERROR(make_stream(collects_, lowest_priority));  // serves a batch that is not needed yet
    HONE_RETURN_IF_ERROR(make_stream(copies_, highest_priority));
  }
  HONE_RETURN_IF_ERROR(fork_.Make());
  HONE_RETURN_IF_ERROR(join_.Make());
  HONE_RETURN_IF_ERROR(fork_sample_.Make());
  HONE_RETURN_IF_ERROR(join_sample_.Make());
  for (std::array<Event, 2>* events : {&behind_, &drawn_, &copied_, &whole_, &computed_}) {
    for (Event& event : *events) HONE_RETURN_IF_ERROR(event.Make());
  }
  HONE_RETURN_IF_ERROR(progress_.Make());
  const std::vector<int32_t> worst = WorstCaseNodes();
  const int32_t rank = options_.ranks == nullptr ? 0 : options_.ranks->rank();
  HONE_RETURN_IF_ERROR(source_.Make(*context_.graph, seeds,
                                    {.batch = options_.batch,
                                     .in_order = !options_.trains,
                                     .shards = options_.shards,
                                     .first_shard = rank * local_shards(),
                                     .local_shards = local_shards(),
                                     .class_weights = class_weights_.get()},
                                    worst.back()));

  RunState state{};
  state.learning_rate = options_.learning_rate;
  state.gradient_scale = 1;
  state.plateau = {.patience = -1, .factor = 1, .best = std::numeric_limits<double>::infinity(), .bad_steps = 0};
  HONE_RETURN_IF_ERROR(WriteState(state));
  HONE_RETURN_IF_ERROR(MakeBucket(worst, 1, large_));
  HONE_ASSIGN_OR_RETURN(const std::vector<int32_t> observed, ObserveNodes());
  HONE_RETURN_IF_ERROR(MakeBucket(observed, buffers(), small_));
  // Runs every kernel and product once outside a capture. The runtime's lazy loading happens here, and errors appear
  // where they arise. The batches are invalid and so change nothing, running statistics included.
  for (Bucket* bucket : {&large_, &small_}) {
    HONE_RETURN_IF_ERROR(bucket->batches[0].Invalidate(main_.handle));
    if (sums()) HONE_RETURN_IF_ERROR(sum_.EnqueueBegin(main_.handle));
    for (int shard = 0; shard < local_shards(); ++shard) {
      HONE_RETURN_IF_ERROR(EnqueueShard(*bucket, 0, main_.handle));
      if (sums()) HONE_RETURN_IF_ERROR(EnqueueEndShard(*bucket, 0, shard, main_.handle));
    }
    HONE_RETURN_IF_ERROR(EnqueueUpdate(*bucket, 0, options_.trains, main_.handle));
  }
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  return Capture(small_);  // the larger bucket is never replayed
}

// Returns, for each hop, the largest number of destination nodes that a few dozen batches had, plus a margin. A batch
// that has more costs a repeated step and does no harm.
Result<std::vector<int32_t>> Pass::ObserveNodes() {
  constexpr int kSamples = 32;  // independent of the number of ranks, so that envelopes are too
  const int steps = std::max(1, kSamples / options_.shards);
  std::vector<int32_t> hop_nodes(options_.fanouts.size(), 0);
  HONE_RETURN_IF_ERROR(SetState(0, 0, /*reset_sums=*/true));
  for (int64_t i = 0; i < std::min<int64_t>(steps, steps_) * local_shards(); ++i) {
    HONE_RETURN_IF_ERROR(EnqueueSample(large_, 0, {.chain = main_.handle}));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
    HONE_ASSIGN_OR_RETURN(const BatchHeader header, large_.batches[0].DownloadHeader());
    for (size_t h = 0; h < hop_nodes.size(); ++h) hop_nodes[h] = std::max(hop_nodes[h], header.hop_nodes[h]);
  }
  if (options_.ranks != nullptr) {
    const std::string own_bytes(reinterpret_cast<const char*>(hop_nodes.data()), hop_nodes.size() * sizeof(int32_t));
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> all, options_.ranks->AllGather("the envelopes", own_bytes));
    for (const std::string& other_bytes : all) {
      if (other_bytes.size() != own_bytes.size()) return Status::Internal("the ranks have models of different depths");
      for (size_t h = 0; h < hop_nodes.size(); ++h) {
        int32_t nodes = 0;
        std::memcpy(&nodes, other_bytes.data() + h * sizeof(nodes), sizeof(nodes));
        hop_nodes[h] = std::max(hop_nodes[h], nodes);
      }
    }
  }
  hop_nodes[0] = options_.batch;
  for (size_t h = 1; h < hop_nodes.size(); ++h) {
    // Matrix products handle 128 rows at a time.
    const int64_t nodes_with_margin = RoundUp(static_cast<int64_t>(options_.envelope * hop_nodes[h]), 128);
    hop_nodes[h] =
        static_cast<int32_t>(std::clamp<int64_t>(nodes_with_margin, hop_nodes[h - 1], large_.envelope.known[h]));
  }
  return hop_nodes;
}

Status Pass::MakeBucket(const std::vector<int32_t>& hop_nodes, int buffers, Bucket& bucket) {
  bucket.envelope = {options_.fanouts, hop_nodes, options_.trains};
  HONE_ASSIGN_OR_RETURN(bucket.program, plan_.Build(context_, bucket.envelope));
  for (int i = 0; i < buffers; ++i) {
    BatchBuffers& batch = bucket.batches[static_cast<size_t>(i)];
    HONE_RETURN_IF_ERROR(batch.Make(bucket.envelope, bucket.program->OuterBytes()));
    if (stages_) HONE_RETURN_IF_ERROR(batch.MakeDrawn(bucket.envelope));
    batch.SetGraph(*context_.graph, i);
  }
  const int64_t seeds = bucket.envelope.Rows(bucket.envelope.layers() - 1);
  HONE_RETURN_IF_ERROR(bucket.logits.Allocate(seeds * plan_.padded_classes()));
  if (options_.trains) {
    HONE_RETURN_IF_ERROR(bucket.grad_logits.Allocate(seeds * plan_.padded_classes() * ElementBytes(context_.element)));
  }
  HONE_RETURN_IF_ERROR(bucket.row_loss.Allocate(seeds));
  return bucket.row_correct.Allocate(seeds);
}

// Enqueues the draws of a batch into buffer `buffer`, and `outermost` (may be empty) on the stream of the outermost
// hop.
Status Pass::EnqueueDraws(Bucket& bucket, int buffer, const SampleStreams& streams,
                          const std::function<Status(cudaStream_t)>& outermost) {
  BatchBuffers& batch = bucket.batches[static_cast<size_t>(buffer)];
  if (stages_) HONE_CUDA_RETURN_IF_ERROR(EnqueueUnstage(batch.graph(), streams.chain));
  return source_.EnqueueSample(bucket.envelope, batch, state_.get(), &progress_.device()->halt, streams, outermost);
}

// Enqueues the collection of the feature rows that the outermost hop reads and the device does not hold (misses).
Status Pass::EnqueueCollect(Bucket& bucket, int buffer, cudaStream_t stream) {
  const Envelope& envelope = bucket.envelope;
  const BatchOnDevice batch = bucket.batches[static_cast<size_t>(buffer)].view(state_.get());
  HONE_CUDA_RETURN_IF_ERROR(EnqueueCollectMisses(batch.graph, envelope.HopOf(0), envelope.fanouts.back(),
                                                 envelope.known.back(), batch.state, batch.header, batch.nodes,
                                                 batch.drawn, stream));
  return Status::Ok();
}

// Enqueues the copy of the collected misses from host memory to the device.
Status Pass::EnqueueCopy(Bucket& bucket, int buffer, cudaStream_t stream) {
  HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyMisses(bucket.batches[static_cast<size_t>(buffer)].graph(), stream,
                                              bucket.program->hideable_misses()));
  return Status::Ok();
}

Status Pass::EnqueueOutermost(Bucket& bucket, int buffer, cudaStream_t stream) {
  return bucket.program->EnqueueOutermost(bucket.batches[static_cast<size_t>(buffer)].view(state_.get()), stream);
}

// Enqueues a batch's sampling from its draws to its outermost hop.
Status Pass::EnqueueSample(Bucket& bucket, int buffer, const SampleStreams& streams) {
  return EnqueueDraws(bucket, buffer, streams, [&](cudaStream_t stream) -> Status {
    if (stages_) {
      HONE_RETURN_IF_ERROR(EnqueueCollect(bucket, buffer, stream));
      HONE_RETURN_IF_ERROR(EnqueueCopy(bucket, buffer, stream));
    }
    return EnqueueOutermost(bucket, buffer, stream);
  });
}

// Enqueues what the first replay expects: the first batch completely sampled and gathered, and the later batches as far
// as they are in flight.
Status Pass::EnqueueAhead(Bucket& bucket) {
  if (stages_) {
    HONE_RETURN_IF_ERROR(EnqueueSample(bucket, 0, {.chain = main_.handle}));
    for (int buffer = 1; buffer < buffers() - 1; ++buffer) {
      HONE_RETURN_IF_ERROR(EnqueueDraws(bucket, buffer, {.chain = main_.handle}, Collecting(bucket, buffer)));
      if (buffer == 1) HONE_RETURN_IF_ERROR(EnqueueCopy(bucket, buffer, main_.handle));
    }
    return Status::Ok();
  }
  const SampleStreams streams{.chain = main_.handle,
                              .structure = structure_.handle,
                              .outermost = nullptr,
                              .fork = fork_sample_.handle,
                              .join = join_sample_.handle};
  HONE_RETURN_IF_ERROR(EnqueueDraws(bucket, 0, streams, {}));
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(fork_.handle, main_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(outermost_.handle, fork_.handle, 0));
  HONE_RETURN_IF_ERROR(EnqueueOutermost(bucket, 0, outermost_.handle));
  HONE_RETURN_IF_ERROR(EnqueueDraws(bucket, 1, streams, {}));
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(join_.handle, outermost_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(main_.handle, join_.handle, 0));
  return Status::Ok();
}

// Returns the work that follows the draws of a batch whose rows are staged: collecting its misses. Empty without
// staging.
std::function<Status(cudaStream_t)> Pass::Collecting(Bucket& bucket, int buffer) {
  if (!stages_) return {};
  return [this, &bucket, buffer](cudaStream_t stream) { return EnqueueCollect(bucket, buffer, stream); };
}

// Enqueues the work that overlaps with the compute of the batch in buffer `buffer`; it begins at fork_ and ends on
// side_. The outermost hop, most of a batch's work, is that of the next batch, whose draws are complete, so it waits
// for nothing. The chain of small drawing kernels, for the last batch in flight, has the whole step to finish.
Status Pass::EnqueueNext(Bucket& bucket, int buffer) {
  const auto buffer_at = [&](int ahead) { return (buffer + ahead) % buffers(); };
  // The buffer of the last batch in flight, which is drawn now.
  const int drawn = buffer_at(buffers() - 1);
  std::vector<cudaStream_t> overlapping = {outermost_.handle};
  if (stages_) overlapping.push_back(copies_.handle);
  for (const cudaStream_t stream : overlapping) HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream, fork_.handle, 0));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(side_.handle, fork_.handle, 0));
  HONE_RETURN_IF_ERROR(EnqueueDraws(bucket, drawn,
                                    {.chain = side_.handle,
                                     .structure = structure_.handle,
                                     .outermost = collects_.handle,
                                     .fork = fork_sample_.handle,
                                     .join = join_sample_.handle},
                                    Collecting(bucket, drawn)));
  if (stages_) HONE_RETURN_IF_ERROR(EnqueueCopy(bucket, buffer_at(2), copies_.handle));
  HONE_RETURN_IF_ERROR(EnqueueOutermost(bucket, buffer_at(1), outermost_.handle));
  for (const cudaStream_t stream : overlapping) {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(join_sample_.handle, stream));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(side_.handle, join_sample_.handle, 0));
  }
  return Status::Ok();
}

Status Pass::EnqueueShard(Bucket& bucket, int buffer, cudaStream_t stream) {
  return EnqueueShard(bucket, bucket.batches[static_cast<size_t>(buffer)].view(state_.get()), stream);
}

Status Pass::EnqueueShard(Bucket& bucket, const BatchOnDevice& batch, cudaStream_t stream) {
  const int64_t seeds = bucket.envelope.Rows(bucket.envelope.layers() - 1);
  HONE_RETURN_IF_ERROR(bucket.program->EnqueueForward(batch, bucket.logits.get(), stream));
  // Targets (several labels or values per node) have their own loss; otherwise the loss is softmax over classes.
  if (options_.target_width > 0) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueTargetLoss(
        context_.graph->targets().get(), options_.target_width, options_.target_loss, pos_weight_.get(), batch.header,
        batch.nodes, bucket.logits.get(), static_cast<int32_t>(plan_.padded_classes()), static_cast<int32_t>(seeds),
        options_.batch, context_.element, options_.trains ? bucket.grad_logits.get() : nullptr, bucket.row_loss.get(),
        bucket.row_correct.get(), outputs_.get(), stream));
    if (!options_.trains) return Status::Ok();
    return bucket.program->EnqueueBackward(batch, bucket.grad_logits.get(), stream);
  }
  HONE_CUDA_RETURN_IF_ERROR(
      EnqueueSoftmaxLoss(context_.graph->view(), batch.header, batch.nodes, bucket.logits.get(), options_.classes,
                         static_cast<int32_t>(plan_.padded_classes()), static_cast<int32_t>(seeds), options_.batch,
                         context_.element, class_weights_.get(), options_.trains ? bucket.grad_logits.get() : nullptr,
                         bucket.row_loss.get(), bucket.row_correct.get(), predictions_.get(), stream));
  if (!options_.trains) return Status::Ok();
  return bucket.program->EnqueueBackward(batch, bucket.grad_logits.get(), stream);
}

// Adds the gradient and the losses of virtual shard `shard` to the step's sums.
Status Pass::EnqueueEndShard(Bucket& bucket, int buffer, int shard, cudaStream_t stream) {
  return sum_.EnqueueEndShard(shard, bucket.batches[static_cast<size_t>(buffer)].header(), bucket.row_loss.get(),
                              bucket.row_correct.get(), stream);
}

// Updates the parameters; buffer `buffer` holds the step's last batch.
Status Pass::EnqueueUpdate(Bucket& bucket, int buffer, bool update_parameters, cudaStream_t stream) {
  const DeviceParameters& parameters = *context_.parameters;
  const BatchHeader* header = bucket.batches[static_cast<size_t>(buffer)].header();
  // With several ranks, one kernel adds the ranks' gradients and updates. Clipping needs the norm of the sum before.
  if (update_parameters && options_.ranks != nullptr && sums() && options_.clip_norm <= 0) {
    return sum_.EnqueueFinishAndUpdate(options_.adam, header, state_.get(), progress_.device(), stream);
  }
  if (sums()) {
    HONE_RETURN_IF_ERROR(sum_.EnqueueFinish(header, state_.get(), progress_.device(), stream));
    header = sum_.step();
  }
  if (update_parameters && options_.clip_norm > 0) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueClip(options_.clip_norm, parameters.count(), parameters.gradient(),
                                          norm_partials_.get(), state_.get(), stream));
  }
  if (update_parameters && !sums()) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueAdamAndFinish(
        options_.adam, state_.get(), header, parameters.count(), parameters.gradient(), parameters.master(),
        parameters.moment1(), parameters.moment2(), context_.element, parameters.compute(), bucket.row_loss.get(),
        bucket.row_correct.get(), progress_.device(), stream));
    return Status::Ok();
  }
  if (update_parameters) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueAdam(options_.adam, state_.get(), header, parameters.count(),
                                          parameters.gradient(), parameters.master(), parameters.moment1(),
                                          parameters.moment2(), context_.element, parameters.compute(), stream));
  }
  if (sums()) {
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueFinishSum(state_.get(), header, sum_.totals(), update_parameters, progress_.device(), stream));
  } else {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishStep(state_.get(), header, bucket.row_loss.get(), bucket.row_correct.get(),
                                                update_parameters, progress_.device(), stream));
  }
  return Status::Ok();
}

// Enqueues a step in one buffer and without overlap, sampling included.
Status Pass::EnqueueStepWithoutOverlap(Bucket& bucket, bool update_parameters) {
  if (sums()) HONE_RETURN_IF_ERROR(sum_.EnqueueBegin(main_.handle));
  for (int shard = 0; shard < local_shards(); ++shard) {
    HONE_RETURN_IF_ERROR(EnqueueSample(bucket, 0, {.chain = main_.handle}));
    HONE_RETURN_IF_ERROR(EnqueueShard(bucket, 0, main_.handle));
    if (sums()) HONE_RETURN_IF_ERROR(EnqueueEndShard(bucket, 0, shard, main_.handle));
  }
  return EnqueueUpdate(bucket, 0, update_parameters, main_.handle);
}

// Enqueues a step whose first batch lies in buffer `buffer`, and leaves the next step's first batch in the following
// buffer.
Status Pass::EnqueueReplay(Bucket& bucket, int buffer) {
  if (sums()) HONE_RETURN_IF_ERROR(sum_.EnqueueBegin(main_.handle));
  for (int shard = 0; shard < local_shards(); ++shard, buffer = (buffer + 1) % buffers()) {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(fork_.handle, main_.handle));
    HONE_RETURN_IF_ERROR(EnqueueNext(bucket, buffer));
    HONE_RETURN_IF_ERROR(EnqueueShard(bucket, buffer, main_.handle));
    if (sums()) HONE_RETURN_IF_ERROR(EnqueueEndShard(bucket, buffer, shard, main_.handle));
    if (shard + 1 == local_shards()) HONE_RETURN_IF_ERROR(EnqueueUpdate(bucket, buffer, options_.trains, main_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(join_.handle, side_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(main_.handle, join_.handle, 0));
  }
  return Status::Ok();
}

// Enqueues steps of one batch each, from buffer `buffer` on. This does the work of EnqueueReplay with finer
// dependencies between steps. An outermost hop begins when its batch is drawn and its missing rows are copied, and runs
// in what the previous step leaves idle. Copies follow one another, so that the bus does not wait for a step's end.
Status Pass::EnqueueSteps(Bucket& bucket, int buffer, uint32_t steps) {
  const auto buffer_at = [&](uint32_t batch) {
    return static_cast<int>((static_cast<uint32_t>(buffer) + batch) % static_cast<uint32_t>(buffers()));
  };
  const auto wait_for = [](const Event& event, cudaStream_t stream) -> Status {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream, event.handle, 0));
    return Status::Ok();
  };
  const auto record = [](const Event& event, cudaStream_t stream) -> Status {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(event.handle, stream));
    return Status::Ok();
  };
  const auto last_ahead = static_cast<uint32_t>(buffers() - 1);  // how many batches ahead the last one in flight is
  std::array<Event, 2>& ready = stages_ ? copied_ : drawn_;
  HONE_RETURN_IF_ERROR(record(fork_, main_.handle));
  for (const cudaStream_t stream : {side_.handle, outermost_.handle}) HONE_RETURN_IF_ERROR(wait_for(fork_, stream));
  if (stages_) HONE_RETURN_IF_ERROR(wait_for(fork_, copies_.handle));
  for (uint32_t step = 0; step < steps; ++step) {
    // Events of this step and of the previous one.
    const size_t slot = step % 2, previous_slot = 1 - slot;
    if (stages_) {
      if (step > 0) HONE_RETURN_IF_ERROR(wait_for(drawn_[previous_slot], copies_.handle));
      HONE_RETURN_IF_ERROR(EnqueueCopy(bucket, buffer_at(step + 2), copies_.handle));
      HONE_RETURN_IF_ERROR(record(copied_[slot], copies_.handle));
    }
    if (step > 0)
      HONE_RETURN_IF_ERROR(wait_for(computed_[previous_slot], side_.handle));  // the step that used the buffer
    HONE_RETURN_IF_ERROR(EnqueueDraws(bucket, buffer_at(step + last_ahead),
                                      {.chain = side_.handle,
                                       .structure = structure_.handle,
                                       .outermost = collects_.handle,
                                       .fork = fork_sample_.handle,
                                       .join = join_sample_.handle},
                                      Collecting(bucket, buffer_at(step + last_ahead))));
    HONE_RETURN_IF_ERROR(record(drawn_[slot], side_.handle));
    if (step > 0) HONE_RETURN_IF_ERROR(wait_for(whole_[previous_slot], main_.handle));
    if (sums()) HONE_RETURN_IF_ERROR(sum_.EnqueueBegin(main_.handle));
    HONE_RETURN_IF_ERROR(EnqueueShard(bucket, buffer_at(step), main_.handle));
    if (sums()) HONE_RETURN_IF_ERROR(EnqueueEndShard(bucket, buffer_at(step), 0, main_.handle));
    if (step > 0) HONE_RETURN_IF_ERROR(wait_for(ready[previous_slot], outermost_.handle));
    if (bucket.program->small_kernels_begin() != nullptr) {
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(outermost_.handle, bucket.program->small_kernels_begin(), 0));
    }
    HONE_RETURN_IF_ERROR(EnqueueOutermost(bucket, buffer_at(step + 1), outermost_.handle));
    HONE_RETURN_IF_ERROR(record(whole_[slot], outermost_.handle));
    HONE_RETURN_IF_ERROR(EnqueueUpdate(bucket, buffer_at(step), options_.trains, main_.handle));
    HONE_RETURN_IF_ERROR(record(computed_[slot], main_.handle));
  }
  HONE_RETURN_IF_ERROR(wait_for(drawn_[(steps - 1) % 2], main_.handle));
  if (stages_) HONE_RETURN_IF_ERROR(wait_for(copied_[(steps - 1) % 2], main_.handle));
  return wait_for(whole_[(steps - 1) % 2], main_.handle);
}

Status Pass::Capture(Bucket& bucket, int buffer, uint32_t steps, GraphExec& replay) {
  return Capture(
      [&]() -> Status {
        if (local_shards() == 1) return EnqueueSteps(bucket, buffer, steps);
        for (uint32_t step = 0; step < steps; ++step) {
          HONE_RETURN_IF_ERROR(EnqueueReplay(bucket, (buffer + BufferOfStep(step)) % buffers()));
        }
        return Status::Ok();
      },
      replay);
}

// Captures what `enqueue` enqueues, which must begin and end on main_.
Status Pass::Capture(const std::function<Status()>& enqueue, GraphExec& replay) {
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(main_.handle, cudaStreamCaptureModeThreadLocal));
  const Status status = enqueue();
  cudaGraph_t captured = nullptr;
  const cudaError_t end_error = cudaStreamEndCapture(main_.handle, &captured);
  HONE_RETURN_IF_ERROR(status);
  HONE_CUDA_RETURN_IF_ERROR(end_error);
  const cudaError_t instantiate_error =
      cudaGraphInstantiate(&replay.handle, captured, cudaGraphInstantiateFlagUseNodePriority);
  cudaGraphDestroy(captured);
  HONE_CUDA_RETURN_IF_ERROR(instantiate_error);
  HONE_CUDA_RETURN_IF_ERROR(cudaGraphUpload(replay.handle, main_.handle));
  return Status::Ok();
}

Status Pass::Capture(Bucket& bucket) {
  if (!stages_) HONE_RETURN_IF_ERROR(Capture([&] { return EnqueueAhead(bucket); }, bucket.ahead));
  for (int buffer = 0; buffer < buffers(); ++buffer) {
    if (buffer % std::gcd(local_shards(), buffers()) != 0) continue;  // no step begins in this buffer
    HONE_RETURN_IF_ERROR(Capture(bucket, buffer, 1, bucket.replays[static_cast<size_t>(buffer)]));
  }
  for (int buffer = 0; buffer < buffers(); ++buffer) {
    if (buffer % std::gcd(local_shards(), buffers()) != 0) continue;
    HONE_RETURN_IF_ERROR(Capture(bucket, buffer, steps_together(), bucket.several[static_cast<size_t>(buffer)]));
  }
  return Status::Ok();
}

Result<RunState> Pass::ReadState() {
  RunState state{};
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(&state, state_.get(), sizeof(RunState), cudaMemcpyDeviceToHost));
  return state;
}

// Writes the state on the stream whose kernels read it. A copy without a stream may return before it is done, because
// the host's memory is pageable.
Status Pass::WriteState(const RunState& state) {
  volatile HostProgress& progress = *progress_.host();
  progress.halt = 0;
  for (uint32_t i = 0; i < kProgressSteps; ++i) progress.steps[i] = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(state_.get(), &state, sizeof(state), cudaMemcpyHostToDevice, main_.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  return Status::Ok();
}

// Sets the state to the beginning of step `next_step`. `reset_sums`: the sums start at zero. The tag, Adam's count and
// the learning rate always continue.
Status Pass::SetState(uint32_t epoch, uint32_t next_step, bool reset_sums) {
  HONE_ASSIGN_OR_RETURN(RunState state, ReadState());
  state.seed = options_.seed;
  state.epoch = epoch;
  state.next_sample_step = next_step;
  state.next_sample_shard = 0;
  state.trained_steps = next_step;
  state.steps = steps_;
  state.halt = 0;
  state.gradient_not_finite = state.failure = 0;
  // Clears the table before tags could repeat. From here to the next call fewer than 2^31 seeds, and so at most as many
  // shards, begin a batch.
  if (state.table_tag >= kLastTag) {
    HONE_RETURN_IF_ERROR(source_.ClearTable(main_.handle));
    state.table_tag = 0;
  }
  if (reset_sums) {
    state.loss_sum = state.weight_sum = 0;
    state.correct = state.counted = 0;
  }
  return WriteState(state);
}

Status Pass::SetProgress(const TrainingProgress& progress) {
  HONE_ASSIGN_OR_RETURN(RunState state, ReadState());
  state.learning_rate = progress.learning_rate;
  state.adam_step = progress.adam_steps;
  state.plateau = {progress.follows_plateau ? progress.plateau_rule.patience : -1, progress.plateau_rule.factor,
                   progress.plateau.best, progress.plateau.bad_steps};
  state.loss_sum = progress.loss_sum;
  state.weight_sum = progress.weight_sum;
  state.counted = progress.labelled;
  state.correct = progress.correct;
  return WriteState(state);
}

Status Pass::SetTableTag(uint32_t tag) {
  HONE_ASSIGN_OR_RETURN(RunState state, ReadState());
  state.table_tag = tag;
  return WriteState(state);
}

Result<TrainingProgress> Pass::Progress() {
  HONE_ASSIGN_OR_RETURN(const RunState state, ReadState());
  return ProgressOf(state);
}

Result<TrainingProgress> Pass::LastGood(Model<float>& model, Adam<float>& optimizer, uint32_t* step) const {
  const RunState* state = snapshots_.state();
  if (state == nullptr) return Status::Unavailable("no step was done yet");
  HONE_RETURN_IF_ERROR(context_.parameters->ExportFlat(snapshots_.flat(), model.parameters(), optimizer.moments()));
  *step = state->trained_steps;
  return ProgressOf(*state);
}

TrainingProgress Pass::ProgressOf(const RunState& state) {
  TrainingProgress progress;
  progress.learning_rate = state.learning_rate;
  progress.adam_steps = state.adam_step;
  progress.follows_plateau = state.plateau.patience >= 0;
  progress.plateau_rule = {.factor = state.plateau.factor, .patience = state.plateau.patience};
  progress.plateau = {.best = state.plateau.best, .bad_steps = state.plateau.bad_steps};
  progress.loss_sum = state.loss_sum;
  progress.weight_sum = state.weight_sum;
  progress.labelled = state.counted;
  progress.correct = state.correct;
  return progress;
}

// Reports to `watch` the steps that have finished since the last call; *reported counts the reported steps.
void Pass::ReportSteps(const StepWatch& watch, uint32_t until, uint32_t* reported, bool* stopped) {
  while (*reported < until) {
    const unsigned long long word = progress_.host()->steps[(*reported + 1) % kProgressSteps];
    // The upper half of the word is the number of the step that wrote it, the lower half its loss. Another number: the
    // step has not finished.
    if (static_cast<uint32_t>(word >> 32) != *reported + 1) return;
    const auto loss = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(word)));
    *stopped = (watch.step && watch.step(*reported, loss)) || *stopped;
    ++*reported;
  }
}

// Enqueues replays for the steps from … until - 1, and returns the state that they leave. Behind a batch that does not
// fit, replays do nothing.
Result<RunState> Pass::RunReplays(uint32_t from, uint32_t until, const StepWatch* watch, uint32_t* reported,
                                  bool* stopped) {
  if (stages_) {
    HONE_RETURN_IF_ERROR(EnqueueAhead(small_));
  } else {
    HONE_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(small_.ahead.handle, main_.handle));
  }
  // A run with a watch enqueues a chunk while the previous chunk runs, and waits for the previous one before the next
  // chunk.
  const uint32_t chunk_steps =
      watch == nullptr ? kChunk : static_cast<uint32_t>(std::clamp(watch->ahead, 1, 512) + 1) / 2;
  // A watch that is at most one step ahead wants each step's loss before the next step begins.
  const bool waits_each_step = watch != nullptr && watch->ahead <= 1;
  // With one rank, nothing more is enqueued behind a batch that did not fit, because such replays do nothing.
  const auto halted = [&] { return options_.ranks == nullptr && progress_.host()->halt != 0; };
  // The state before the first step is known to be good. A chunk's copy is, once the ranks have agreed after the chunk.
  uint64_t snapshot = 0;
  if (keeps_copies() && watch != nullptr) {
    HONE_ASSIGN_OR_RETURN(snapshot, snapshots_.EnqueueTake(main_.handle));
    HONE_RETURN_IF_ERROR(snapshots_.Confirm(snapshot));
  }
  uint32_t chunks = 0;
  bool overflowed = false;
  for (uint32_t step = from; step < until && !overflowed && !halted(); ++chunks) {
    for (const uint32_t end = std::min(until, step + chunk_steps); step < end && !halted();) {
      const int buffer = BufferOfStep(step - from);
      const bool launches_several = end - step >= steps_together();  // equal on every rank
      const auto& replays = launches_several ? small_.several : small_.replays;
      HONE_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(replays[static_cast<size_t>(buffer)].handle, main_.handle));
      step += launches_several ? steps_together() : 1;
    }
    if (watch == nullptr) {
      // A run without a watch need not wait, but the host checks now and then how far the device is. Behind a batch
      // that does not fit, every enqueued replay runs for nothing: without this limit, the rest of the epoch.
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(behind_[chunks % 2].handle, main_.handle));
      cudaError_t reached = chunks > 0 ? cudaErrorNotReady : cudaSuccess;
      while (reached == cudaErrorNotReady && !halted()) {
        reached = cudaEventQuery(behind_[(chunks - 1) % 2].handle);
        if (reached != cudaErrorNotReady) break;
        (void)cudaGetLastError();  // clears cudaErrorNotReady, which the runtime keeps like an error
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      if (reached != cudaErrorNotReady) HONE_CUDA_RETURN_IF_ERROR(reached);
      continue;
    }
    const uint64_t confirmed = waits_each_step ? snapshot + 1 : snapshot;
    if (keeps_copies()) {
      HONE_ASSIGN_OR_RETURN(snapshot, snapshots_.EnqueueTake(main_.handle));
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(behind_[chunks % 2].handle, main_.handle));
    if (chunks > 0 || waits_each_step) {
      HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(behind_[(waits_each_step ? chunks : chunks - 1) % 2].handle));
    }
    ReportSteps(*watch, until, reported, stopped);
    HONE_ASSIGN_OR_RETURN(overflowed, AnyRank("the end of the steps", *stopped || progress_.host()->halt != 0));
    // No rank has been lost so far, so the device's work up to the point that was waited for above is good.
    if (keeps_copies()) HONE_RETURN_IF_ERROR(snapshots_.Confirm(confirmed));
  }
  Result<RunState> state = ReadState();
  if (!state.ok() || watch == nullptr) return state;
  ReportSteps(*watch, until, reported, stopped);
  HONE_ASSIGN_OR_RETURN(*stopped, AnyRank("the wish to stop", *stopped));
  return state;
}

// Returns whether `true_here` is true on any rank. `what` names the question in errors.
Result<bool> Pass::AnyRank(std::string_view what, bool true_here) {
  if (options_.ranks == nullptr) return true_here;
  double ranks_that_want = true_here ? 1 : 0;
  HONE_RETURN_IF_ERROR(options_.ranks->AllReduceSum(what, std::span(&ranks_that_want, 1)));
  return ranks_that_want > 0;
}

Result<StepsOnDevice> Pass::RunSteps(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch) {
  HONE_RETURN_IF_ERROR(SetState(epoch, from, /*reset_sums=*/false));
  return RunOn(epoch, from, until, watch);
}

// Runs the steps from the present state on.
Result<StepsOnDevice> Pass::RunOn(uint32_t epoch, uint32_t from, uint32_t until, const StepWatch* watch) {
  StepsOnDevice result;
  result.done = from;
  uint32_t reported = from;
  while (result.done < until && !result.stopped) {
    HONE_ASSIGN_OR_RETURN(RunState state, RunReplays(result.done, until, watch, &reported, &result.stopped));
    result.done = state.trained_steps;
    // A rank may have met the batch that does not fit before the others know of it, so the ranks agree.
    HONE_ASSIGN_OR_RETURN(const bool halted, AnyRank("a batch that does not fit", state.halt != 0));
    if (state.failure == kNoFailure && halted && result.done < until && !result.stopped) {
      ++result.larger;
      HONE_RETURN_IF_ERROR(SetState(epoch, result.done, /*reset_sums=*/false));
      HONE_RETURN_IF_ERROR(EnqueueStepWithoutOverlap(large_, options_.trains));
      HONE_ASSIGN_OR_RETURN(state, ReadState());
      if (watch != nullptr) {
        ReportSteps(*watch, until, &reported, &result.stopped);
        HONE_ASSIGN_OR_RETURN(result.stopped, AnyRank("the wish to stop", result.stopped));
      }
      if (state.failure == kNoFailure && state.trained_steps != result.done + 1) {
        return Status::Internal("a batch did not fit the envelope of the worst case");
      }
      result.done = state.trained_steps;
      if (state.failure == kNoFailure) HONE_RETURN_IF_ERROR(SetState(epoch, result.done, /*reset_sums=*/false));
    }
    if (state.failure == kNoFailure) continue;
    NoteFailure(state, result);
    return result;
  }
  return result;
}

void Pass::NoteFailure(const RunState& state, StepsOnDevice& steps) {
  const bool loss = state.failure == kLossNotFinite;
  steps.failure = loss ? StepsOnDevice::Failure::kLoss : StepsOnDevice::Failure::kGradient;
  // The value that was not finite. Of gradients, bit 1 of gradient_not_finite says that one was NaN.
  steps.value = loss                                    ? state.failed_loss
                : (state.gradient_not_finite & 2u) != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                        : std::numeric_limits<double>::infinity();
}

Result<EpochOnDevice> Pass::RunEpoch(uint32_t epoch, EvaluationPart part) {
  const auto [first, end] = part.Of(steps_);
  HONE_RETURN_IF_ERROR(SetState(epoch, static_cast<uint32_t>(first), /*reset_sums=*/true));
  const auto started = std::chrono::steady_clock::now();
  HONE_ASSIGN_OR_RETURN(const StepsOnDevice steps,
                        RunOn(epoch, static_cast<uint32_t>(first), static_cast<uint32_t>(end), nullptr));
  EpochOnDevice result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (steps.failure != StepsOnDevice::Failure::kNone) {
    return Status::InvalidArgument(
        fmt::format("the {} is {} in epoch {} at step {}: try a lower learning rate",
                    steps.failure == StepsOnDevice::Failure::kLoss ? "loss" : "gradient norm", steps.value, epoch + 1,
                    steps.done + 1));
  }
  HONE_ASSIGN_OR_RETURN(const RunState state, ReadState());
  result.steps = end - first;
  result.larger = steps.larger;
  if (state.counted > 0) {
    result.mean_loss = state.loss_sum / state.weight_sum;
    result.accuracy = static_cast<double>(state.correct) / static_cast<double>(state.counted);
  }
  return result;
}

Result<double> Pass::OneStep(uint32_t epoch, uint32_t step, bool update) {
  HONE_RETURN_IF_ERROR(SetState(epoch, step, /*reset_sums=*/true));
  HONE_RETURN_IF_ERROR(EnqueueStepWithoutOverlap(large_, update));
  HONE_ASSIGN_OR_RETURN(const RunState state, ReadState());
  if (state.counted == 0) return Status::Internal("a step without a labelled seed");
  return state.loss_sum / state.weight_sum;
}

Result<NeighborSample> Pass::SampleStep(uint32_t epoch, uint32_t step) {
  HONE_RETURN_IF_ERROR(SetState(epoch, step, /*reset_sums=*/true));
  HONE_RETURN_IF_ERROR(EnqueueSample(large_, 0, {.chain = main_.handle}));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(main_.handle));
  return large_.batches[0].Download();
}

}  // namespace hone::gnn::cuda
