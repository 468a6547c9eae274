// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The batches of all epochs are numbered in delivery order; such a number is a ticket. A worker takes the next ticket,
// prepares its batch without holding the lock, and puts the batch into the ring at the ticket's place. The consumer
// takes batches off the ring in order. Tickets are issued at most MostTicketsAhead() ahead of the consumer: this bounds
// the queue and keeps the ring's places distinct. One mutex guards everything. It is taken twice per batch, and a batch
// takes milliseconds.
#include "hone/gnn/batch_pipeline.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "gnn/batch/slice_rows.h"
#include "gnn/sample/huge_buffer.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn {
namespace {

// Memory for feature rows, from the stage's allocator or on huge pages.
class RowBuffer {
 public:
  explicit RowBuffer(BufferAllocator* allocator) : allocator_(allocator) {}
  RowBuffer(const RowBuffer&) = delete;
  RowBuffer& operator=(const RowBuffer&) = delete;
  ~RowBuffer() { Drop(); }

  std::byte* data() const { return data_; }
  // Frees the memory.
  void Drop() {
    if (allocator_ != nullptr && data_ != nullptr) allocator_->Free(data_, bytes_);
    plain_ = HugeBuffer();
    data_ = nullptr;
    bytes_ = 0;
  }
  // Makes room for `bytes`; contents are lost when the buffer grows. Allocates a quarter more, so that a slightly
  // larger batch fits as well.
  Status Require(size_t bytes) {
    if (bytes <= bytes_) return Status::Ok();
    Drop();
    const size_t bytes_with_room = bytes + bytes / 4;
    if (allocator_ != nullptr) {
      HONE_ASSIGN_OR_RETURN(data_, allocator_->Allocate(bytes_with_room));
    } else {
      HONE_ASSIGN_OR_RETURN(plain_, HugeBuffer::Allocate(bytes_with_room));
      data_ = plain_.data();
    }
    bytes_ = bytes_with_room;
    return Status::Ok();
  }

 private:
  BufferAllocator* allocator_;
  HugeBuffer plain_;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// A batch object with all memory that is recycled with it.
struct Slot {
  explicit Slot(BufferAllocator* allocator) : rows(allocator) {}
  MiniBatch batch;
  RowBuffer rows;
  std::unique_ptr<TransferState> transfer;
  bool started = false;  // the transfer stage has received it
  Status status;
};

// An epoch in progress, whose batches have the tickets first … first + count - 1.
struct ActiveEpoch {
  EpochPlan plan;
  int64_t first = 0;
  int64_t count = 0;
};

class PipelineImplementation final : public BatchPipeline {
 public:
  PipelineImplementation(std::shared_ptr<const Graph> graph, const BatchPipelineOptions& options)
      : graph_(std::move(graph)),
        options_(options),
        structure_(graph_->structure()),
        features_(graph_->features()),
        labels_(graph_->labels()),
        local_shards_(options.local_shards > 0 ? options.local_shards : options.shards - options.first_shard),
        queue_(options.queue > 0 ? options.queue : options.workers + 2),
        ring_(static_cast<size_t>(queue_)),
        largest_bytes_(MostRows() * features_.stride_bytes) {
    free_.reserve(static_cast<size_t>(queue_) + 8);
  }

  // Starts the worker threads, each with a sampler of its own.
  Status StartWorkers() {
    for (int i = 0; i < options_.workers; ++i) {
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<NeighborSampler> sampler,
                            MakeNeighborSampler(structure_, options_.sampler));
      samplers_.push_back(std::move(sampler));
    }
    try {
      for (int i = 0; i < options_.workers; ++i) {
        workers_.emplace_back([this, i] { Work(*samplers_[static_cast<size_t>(i)]); });
        pthread_setname_np(workers_.back().native_handle(), "hone-batch");
      }
    } catch (const std::system_error& error) {
      return Status::ResourceExhausted(
          fmt::format("cannot start {} worker threads: {}", options_.workers, error.what()));
    }
    return Status::Ok();
  }

  ~PipelineImplementation() override {
    Cancel();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      HONE_CHECK(slots_.size() == free_.size(), "a batch is still on loan while its pipeline is destroyed");
    }
    work_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int64_t StepsPerEpoch(int64_t seeds) const override {
    const int64_t step_seeds = options_.batch * options_.shards;
    return (seeds + step_seeds - 1) / step_seeds;
  }

  Status Start(const EpochPlan& plan) override {
    const int64_t steps = StepsPerEpoch(static_cast<int64_t>(plan.seeds.size()));
    if (plan.first_step < 0 || plan.first_step > steps) {
      return Status::InvalidArgument(fmt::format("first step {} of an epoch of {} steps", plan.first_step, steps));
    }
    {
      const std::lock_guard lock(mutex_);
      epochs_.push_back({plan, planned_, (steps - plan.first_step) * local_shards_});
      planned_ += epochs_.back().count;
    }
    work_.notify_all();
    return Status::Ok();
  }

  Result<BatchLease> Next() override {
    std::unique_lock lock(mutex_);
    if (epochs_.empty()) return BatchLease();
    if (taken_ == epochs_.front().first + epochs_.front().count) {
      epochs_.pop_front();
      return BatchLease();
    }
    Slot*& place = Place(taken_);
    const auto ready = [&] { return place != nullptr && (options_.transfer == nullptr || taken_ < started_); };
    if (!ready()) {
      const Stopwatch waited;
      prepared_.wait(lock, ready);
      times_.wait_seconds += waited.Seconds();
    }
    Slot* const slot = place;
    place = nullptr;
    ++taken_;
    most_lent_ = std::max(most_lent_, ++lent_);
    StartTransfers(lock);
    work_.notify_one();  // one more ticket may be issued
    lock.unlock();
    if (slot->status.ok() && slot->started) slot->status = options_.transfer->Finish(slot->batch, slot->transfer.get());
    if (!slot->status.ok()) {
      const Status status = std::move(slot->status);
      Recycle(slot);
      return status;
    }
    Count(slot->batch);
    return Lend(slot);
  }

  void Cancel() override {
    std::unique_lock lock(mutex_);
    planned_ = issued_;  // issues no new tickets
    idle_.wait(lock, [&] { return busy_ == 0 && !starting_; });
    for (; taken_ < issued_; ++taken_) {
      Slot* const slot = std::exchange(Place(taken_), nullptr);
      if (slot == nullptr) continue;
      ReleaseTransfer(slot);
      Reclaim(slot);
    }
    started_ = issued_;
    epochs_.clear();
  }

  PipelineTimes TakeTimes() override { return std::exchange(times_, {}); }

 private:
  // Returns the place in the ring of a ticket's prepared batch; null until it is prepared.
  Slot*& Place(int64_t ticket) { return ring_[static_cast<size_t>(ticket % queue_)]; }

  // Returns an upper bound of a batch's rows, used until the first batch was measured.
  int64_t MostRows() const {
    double rows = static_cast<double>(options_.batch), frontier = rows;
    for (const int32_t fanout : options_.sampler.fanouts) {
      frontier = fanout == kAllNeighbors ? static_cast<double>(structure_.num_nodes) : frontier * fanout;
      rows += frontier;
    }
    return static_cast<int64_t>(std::min(rows, static_cast<double>(structure_.num_nodes)));
  }

  // Returns how many tickets may be ahead of the consumer.
  int64_t MostTicketsAhead() const {
    const int64_t bytes = options_.features ? std::max<int64_t>(largest_bytes_, 1) : 1;
    return std::clamp<int64_t>(options_.buffer_bytes / bytes, 1, queue_);
  }

  // Runs a worker thread: takes tickets and prepares their batches until the pipeline ends.
  void Work(NeighborSampler& sampler) {
    std::vector<NodeId> seeds;
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return stopping_ || (issued_ < planned_ && issued_ < taken_ + MostTicketsAhead()); });
      if (stopping_) return;
      const int64_t ticket = issued_++;
      const ActiveEpoch& epoch = EpochOf(ticket);
      const EpochPlan plan = epoch.plan;
      const int64_t offset = ticket - epoch.first;
      Slot* const slot = TakeSlot();
      ++busy_;
      if (issued_ < planned_ && issued_ < taken_ + MostTicketsAhead()) work_.notify_one();
      lock.unlock();
      slot->status = Prepare(sampler, plan, offset, seeds, *slot);
      lock.lock();
      UpdateLargest(*slot);
      Place(ticket) = slot;
      StartTransfers(lock);
      --busy_;
      prepared_.notify_one();
      if (busy_ == 0) idle_.notify_all();
    }
  }

  // Returns the epoch to which a ticket belongs. The caller holds the lock.
  const ActiveEpoch& EpochOf(int64_t ticket) const {
    for (const ActiveEpoch& epoch : epochs_) {
      if (ticket < epoch.first + epoch.count) return epoch;
    }
    HONE_CHECK(false, "a ticket without an epoch");
  }

  // Returns a free batch object, or a new one. The caller holds the lock.
  Slot* TakeSlot() {
    if (free_.empty()) {
      slots_.push_back(std::make_unique<Slot>(options_.transfer != nullptr ? options_.transfer->allocator() : nullptr));
      free_.reserve(slots_.size());
      return slots_.back().get();
    }
    Slot* const slot = free_.back();
    free_.pop_back();
    return slot;
  }

  // Records the largest batch so far, which decides how many batches fit into the budget; batches differ little in
  // size.
  void UpdateLargest(const Slot& slot) {
    const int64_t bytes = slot.batch.features.num_rows * features_.stride_bytes;
    if (!measured_) largest_bytes_ = 0;
    measured_ = true;
    largest_bytes_ = std::max(largest_bytes_, bytes);
  }

  // Prepares the batch at `offset` of the epoch. Running out of memory becomes an error.
  Status Prepare(NeighborSampler& sampler, const EpochPlan& plan, int64_t offset, std::vector<NodeId>& seeds,
                 Slot& slot) {
    try {
      return PrepareOrThrow(sampler, plan, offset, seeds, slot);
    } catch (const std::bad_alloc&) {
      return Status::ResourceExhausted("no memory for a mini-batch; use a smaller batch or fanout");
    } catch (const std::exception& error) {
      return Status::Internal(fmt::format("preparing a mini-batch failed: {}", error.what()));
    }
  }

  // Prepares a batch: finds its seeds, samples and slices. Throws if memory runs out.
  Status PrepareOrThrow(NeighborSampler& sampler, const EpochPlan& plan, int64_t offset, std::vector<NodeId>& seeds,
                        Slot& slot) {
    MiniBatch& batch = slot.batch;
    const double cpu_at_begin = ThreadSeconds();
    const int64_t step = plan.first_step + offset / local_shards_;
    const int64_t shard = options_.first_shard + offset % local_shards_;
    batch.key = {options_.seed, plan.epoch, static_cast<uint32_t>(step), static_cast<uint32_t>(shard)};
    batch.index = step * local_shards_ + offset % local_shards_;
    batch.transfer_seconds = 0;
    const auto count = static_cast<int64_t>(plan.seeds.size());
    const int64_t step_begin = step * options_.batch * options_.shards;
    const int64_t step_seeds = std::min(options_.batch * options_.shards, count - step_begin);
    const int64_t shard_begin = step_begin + step_seeds * shard / options_.shards;
    const int64_t shard_end = step_begin + step_seeds * (shard + 1) / options_.shards;
    seeds.clear();
    const IndexPermutation order(options_.seed, plan.epoch, count);
    for (int64_t i = shard_begin; i < shard_end; ++i)
      seeds.push_back(plan.seeds[static_cast<size_t>(plan.shuffle ? order(i) : i)]);
    HONE_RETURN_IF_ERROR(sampler.Sample(seeds, batch.key, batch.sample));
    const double cpu_after_sampling = ThreadSeconds();
    batch.sample_seconds = cpu_after_sampling - cpu_at_begin;
    HONE_RETURN_IF_ERROR(Slice(slot));
    batch.slice_seconds = ThreadSeconds() - cpu_after_sampling;
    return Status::Ok();
  }

  // Gathers labels and feature rows of a sampled batch.
  Status Slice(Slot& slot) {
    MiniBatch& batch = slot.batch;
    const std::vector<NodeId>& nodes = batch.sample.nodes;
    batch.labels.resize(static_cast<size_t>(batch.sample.num_seeds()));
    SliceLabels(labels_, std::span(nodes).first(batch.labels.size()), batch.labels);
    batch.features = {};
    if (!options_.features || features_.num_rows == 0) return Status::Ok();
    HONE_RETURN_IF_ERROR(slot.rows.Require(nodes.size() * static_cast<size_t>(features_.stride_bytes)));
    batch.features = {slot.rows.data(), features_.dtype, static_cast<int64_t>(nodes.size()), features_.width,
                      features_.stride_bytes};
    SliceRows(features_, nodes, slot.rows.data());
    return Status::Ok();
  }

  // Begins the transfers that are next in order, on whichever thread made them possible. The lock is held at entry and
  // at return, and released during Start.
  void StartTransfers(std::unique_lock<std::mutex>& lock) {
    if (options_.transfer == nullptr || starting_) return;
    const int64_t ahead = std::max(options_.transfer->ahead(), 1);
    while (started_ < std::min(taken_ + ahead, issued_) && Place(started_) != nullptr) {
      Slot* const slot = Place(started_);
      if (slot->status.ok()) {
        starting_ = true;
        lock.unlock();
        slot->status = options_.transfer->Start(slot->batch, slot->transfer);
        lock.lock();
        starting_ = false;
        slot->started = slot->status.ok();
        if (busy_ == 0) idle_.notify_all();
      }
      ++started_;
      prepared_.notify_one();
    }
  }

  // Adds a batch's figures to the times.
  void Count(const MiniBatch& batch) {
    times_.sample_seconds += batch.sample_seconds;
    times_.slice_seconds += batch.slice_seconds;
    times_.transfer_seconds += batch.transfer_seconds;
    ++times_.batches;
    times_.nodes += batch.sample.num_nodes();
    for (const NeighborSample::Rows& rows : batch.sample.rows)
      times_.edges += static_cast<int64_t>(rows.columns.size());
  }

  void Recycle(void* lent) noexcept override {
    auto* const slot = static_cast<Slot*>(lent);
    ReleaseTransfer(slot);
    const std::lock_guard lock(mutex_);
    --lent_;
    Reclaim(slot);
  }

  void ReleaseTransfer(Slot* slot) noexcept {
    if (slot->started) options_.transfer->Release(slot->batch, slot->transfer.get());
    slot->started = false;
    slot->status = Status::Ok();
  }

  // Takes back a batch object. The caller holds the lock.
  void Reclaim(Slot* slot) noexcept {
    // If there are more batch objects than the budget now allows (they were made when batches were smaller), this one's
    // rows are freed. Objects for as many batches as the consumer held at once are kept: the next epoch needs them
    // again, and pinned memory takes tens of milliseconds to allocate, which also waits for the device.
    if (static_cast<int64_t>(free_.size()) > MostTicketsAhead() + most_lent_) slot->rows.Drop();
    free_.push_back(slot);
  }

  const std::shared_ptr<const Graph> graph_;
  const BatchPipelineOptions options_;
  const CsrView structure_;
  const FeatureView features_;
  const std::span<const int32_t> labels_;
  const int local_shards_;
  const int64_t queue_;
  std::vector<std::unique_ptr<NeighborSampler>> samplers_;
  PipelineTimes times_;  // what TakeTimes returns; only the consumer writes it

  std::mutex mutex_;
  std::condition_variable work_;      // wakes workers: a ticket may be taken, or the pipeline is stopping
  std::condition_variable prepared_;  // wakes the consumer: a batch was prepared, or its transfer begun
  std::condition_variable idle_;      // wakes Cancel: no worker is busy
  // Tickets, guarded by the mutex: taken <= started <= issued <= planned. The consumer has taken the
  // first taken_, the transfer stage (if there is one) has started the first started_, workers have been issued the
  // first issued_, and the epochs started so far have planned_.
  int64_t taken_ = 0, started_ = 0, issued_ = 0, planned_ = 0;
  int64_t lent_ = 0, most_lent_ = 0;  // batches lent to the consumer now, and the most that it ever held
  int busy_ = 0;                      // workers that prepare a batch now
  bool starting_ = false;             // a thread is in TransferStage::Start
  bool stopping_ = false;
  bool measured_ = false;  // largest_bytes_ comes from a batch
  std::deque<ActiveEpoch> epochs_;
  std::vector<Slot*> ring_;                   // prepared batches, by Place
  std::vector<std::unique_ptr<Slot>> slots_;  // all batch objects
  std::vector<Slot*> free_;                   // slots that no batch uses
  int64_t largest_bytes_;  // feature rows of the largest batch so far; before the first, an upper bound
  std::vector<std::thread> workers_;
};

Status Validate(const Graph& graph, const BatchPipelineOptions& options) {
  const auto refuse = [](const char* name, auto value, const char* allowed) {
    return Status::InvalidArgument(fmt::format("{} is {}: {}", name, value, allowed));
  };
  constexpr int64_t kMost = int64_t{1} << 30;
  if (options.batch < 1 || options.batch > kMost) return refuse("batch", options.batch, "1 to 2^30 seeds");
  if (options.shards < 1 || options.shards > 65536) return refuse("shards", options.shards, "1 to 65536");
  if (options.first_shard < 0 || options.first_shard >= options.shards) {
    return refuse("first_shard", options.first_shard, "0 to shards - 1");
  }
  if (options.local_shards < 0 || options.local_shards > options.shards - options.first_shard) {
    return refuse("local_shards", options.local_shards, "at most shards - first_shard");
  }
  if (options.workers < 1 || options.workers > 1024) return refuse("workers", options.workers, "1 to 1024 threads");
  if (options.queue < 0 || options.queue > 65536)
    return refuse("queue", options.queue, "0 (automatic) to 65536 batches");
  if (options.features && graph.features().num_rows > 0 && graph.features().num_rows < graph.structure().num_nodes) {
    return Status::InvalidArgument(fmt::format("{}: {} nodes but {} feature rows", graph.name(),
                                               graph.structure().num_nodes, graph.features().num_rows));
  }
  const auto labels = static_cast<int64_t>(graph.labels().size());
  if (labels > 0 && labels < graph.structure().num_nodes) {
    return Status::InvalidArgument(
        fmt::format("{}: {} nodes but {} labels", graph.name(), graph.structure().num_nodes, labels));
  }
  return Status::Ok();
}

}  // namespace

MiniBatch& BatchLease::operator*() const {
  HONE_CHECK(slot_ != nullptr, "an empty lease has no batch");
  return static_cast<Slot*>(slot_)->batch;
}

TransferState* BatchLease::transfer_state() const {
  return slot_ == nullptr ? nullptr : static_cast<Slot*>(slot_)->transfer.get();
}

void BatchLease::Return() {
  if (slot_ != nullptr) pipeline_->Recycle(std::exchange(slot_, nullptr));
}

Result<std::unique_ptr<BatchPipeline>> BatchPipeline::Make(std::shared_ptr<const Graph> graph,
                                                           const BatchPipelineOptions& options) {
  HONE_RETURN_IF_ERROR(Validate(*graph, options));
  auto pipeline = std::make_unique<PipelineImplementation>(std::move(graph), options);
  HONE_RETURN_IF_ERROR(pipeline->StartWorkers());
  return std::unique_ptr<BatchPipeline>(std::move(pipeline));
}

}  // namespace hone::gnn
