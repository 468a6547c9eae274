// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/engine/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/numbers/rounding.h"
#include "gnn/batch/slice_rows.h"
#include "gnn/cuda/engine/feed_kernels.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/graph/staging_kernels.h"
#include "gnn/cuda/sample/source_kernels.h"
#include "gnn/graph/parallel.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {
namespace {

constexpr size_t kAlign = 256;  // bytes; as cudaMalloc aligns

size_t AlignUp(size_t bytes) { return RoundUp(bytes, kAlign); }

// Allocates pinned memory, so that copies overlap with everything else.
class PinnedAllocator final : public BufferAllocator {
 public:
  explicit PinnedAllocator(int device) : device_(device) {}
  Result<std::byte*> Allocate(size_t bytes) override {
    HONE_CUDA_RETURN_IF_ERROR(cudaSetDevice(device_));
    void* memory = nullptr;
    HONE_RETURN_IF_ERROR(CudaStatus(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "cudaHostAlloc")
                             .WithContext(fmt::format("{} bytes for the rows of a batch", bytes)));
    return static_cast<std::byte*>(memory);
  }
  void Free(std::byte* memory, size_t) noexcept override { cudaFreeHost(memory); }

 private:
  int device_;
};

}  // namespace

FedBatch::~FedBatch() {
  for (const cudaEvent_t event : moments_) {
    if (event != nullptr) cudaEventDestroy(event);
  }
}

// Allocates a quarter more than is needed, as the pipeline's own buffers do.
Status FedBatch::Require(size_t structure_bytes, size_t row_bytes, int64_t outer_rows) {
  for (cudaEvent_t& event : moments_) {
    if (event == nullptr) HONE_CUDA_RETURN_IF_ERROR(cudaEventCreate(&event));
  }
  if (pack_bytes_ < structure_bytes) {
    pack_bytes_ = structure_bytes + structure_bytes / 4;
    pack_ = std::make_unique<PinnedBytes>();
    HONE_RETURN_IF_ERROR(pack_->Make(pack_bytes_));
    HONE_RETURN_IF_ERROR(structure_.Allocate(static_cast<int64_t>(pack_bytes_)));
  }
  if (rows_.size() < static_cast<int64_t>(row_bytes)) {
    HONE_RETURN_IF_ERROR(rows_.Allocate(static_cast<int64_t>(row_bytes + row_bytes / 4)));
  }
  if (row_offsets_.size() < outer_rows + 1) {
    HONE_RETURN_IF_ERROR(row_offsets_.Allocate(outer_rows + outer_rows / 4 + 1));
    HONE_RETURN_IF_ERROR(ids_.Allocate(row_offsets_.size()));
    ids_known_ = 0;
  }
  return Status::Ok();
}

Status FedBatch::EnqueueCopies(const MiniBatch& batch, const Seeds& seeds, int32_t* places, bool numbers_outermost,
                               cudaStream_t stream) {
  const NeighborSample& sample = batch.sample;
  const auto hops = static_cast<size_t>(sample.hops());
  BatchHeader header{};
  header.valid = 1;
  header.step = batch.key.step;
  header.epoch = batch.key.epoch;
  header.first_seed = seeds.first;
  header.weight = static_cast<double>(seeds.of_step);
  known_.assign(sample.hop_nodes.begin(), sample.hop_nodes.end() - (numbers_outermost ? 0 : 1));
  for (size_t h = 0; h < known_.size(); ++h) header.hop_nodes[h] = known_[h];
  num_nodes_ = sample.num_nodes();
  places_ = places;
  numbers_outermost_ = numbers_outermost;

  const size_t node_bytes = static_cast<size_t>(places != nullptr ? num_nodes_ : known_.back()) * sizeof(int32_t);
  size_t bytes = nodes_at_ = AlignUp(sizeof(header));
  bytes += AlignUp(node_bytes);
  hops_.assign(hops, {});
  for (size_t h = 0; h < hops; ++h) {
    hops_[h].offsets = bytes;
    bytes += AlignUp((static_cast<size_t>(known_[h]) + 1) * sizeof(int32_t));
    hops_[h].columns = bytes;
    bytes += AlignUp(sample.rows[h].columns.size() * sizeof(int32_t));
  }
  const auto row_bytes = static_cast<size_t>(batch.features.num_rows * batch.features.stride_bytes);
  HONE_RETURN_IF_ERROR(Require(bytes, row_bytes, known_.back()));
  const auto pack = [&](size_t at, const void* from, size_t count) { std::memcpy(pack_->get() + at, from, count); };
  pack(0, &header, sizeof(header));
  pack(nodes_at_, sample.nodes.data(), node_bytes);
  for (size_t h = 0; h < hops; ++h) {
    pack(hops_[h].offsets, sample.rows[h].row_offsets.data(), (static_cast<size_t>(known_[h]) + 1) * sizeof(int32_t));
    pack(hops_[h].columns, sample.rows[h].columns.data(), sample.rows[h].columns.size() * sizeof(int32_t));
  }
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(moments_[kCopying], stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(structure_.get(), pack_->get(), bytes, cudaMemcpyHostToDevice, stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(rows_.get(), batch.features.rows, row_bytes, cudaMemcpyHostToDevice, stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(moments_[kCopied], stream));
  return Status::Ok();
}

Status FedBatch::EnqueueWait(cudaStream_t stream) const {
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream, moments_[kCopied], 0));
  return Status::Ok();
}

Status FedBatch::EnqueueUnpack(const BatchBuffers& batch, cudaStream_t stream) {
  const unsigned char* const from = structure_.get();
  const auto words_at = [&](size_t at) { return reinterpret_cast<const int32_t*>(from + at); };
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(batch.header(), from, sizeof(BatchHeader), cudaMemcpyDeviceToDevice, stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(batch.nodes(), from + nodes_at_,
                                            static_cast<size_t>(known_.back()) * sizeof(int32_t),
                                            cudaMemcpyDeviceToDevice, stream));
  for (size_t h = 0; h + 1 < known_.size(); ++h) {
    const HopOnDevice& hop = batch.hops()[h];
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueUnpackHop(words_at(hops_[h].offsets), words_at(hops_[h].columns), known_[h], hop, stream));
    if (hop.first != nullptr) HONE_CUDA_RETURN_IF_ERROR(EnqueueBySource(hop, stream));
  }
  if (places_ != nullptr) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueuePlaces(words_at(nodes_at_), num_nodes_, places_, stream));
    return Status::Ok();
  }
  if (!numbers_outermost_) {
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueWiden(words_at(hops_.back().offsets), known_.back() + 1, row_offsets_.get(), stream));
  }
  if (ids_known_ == 0) HONE_CUDA_RETURN_IF_ERROR(EnqueueCountUp(ids_.size(), ids_.get(), stream));
  ids_known_ = ids_.size();
  return Status::Ok();
}

void FedBatch::PointToGraph(BatchOnDevice& batch) const {
  GraphOnDevice& graph = batch.graph;
  batch.drawn = {};  // no row of a fed batch is staged
  graph.features = rows_.get();
  graph.feature_places = places_;
  graph.host_features = nullptr;
  graph.staging = {};
  if (places_ != nullptr) return;
  batch.graph_nodes = ids_.get();
  if (numbers_outermost_) return;  // nothing is drawn from this graph
  graph.row_offsets = row_offsets_.get();
  graph.columns = reinterpret_cast<const int32_t*>(structure_.get() + hops_.back().columns);
  graph.labels = nullptr;
  graph.num_nodes = num_nodes_;
}

Status FedBatch::EnqueueBeginCompute(cudaStream_t stream) const {
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(moments_[kComputing], stream));
  return Status::Ok();
}

Status FedBatch::EnqueueEndCompute(cudaStream_t stream) const {
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(moments_[kComputed], stream));
  return Status::Ok();
}

Status FedBatch::WaitForCompute() const {
  HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(moments_[kComputed]));
  return Status::Ok();
}

Result<double> FedBatch::Seconds(Moment from, Moment to) const {
  float milliseconds = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&milliseconds, moments_[from], moments_[to]));
  return 1e-3 * static_cast<double>(milliseconds);
}

int64_t FedBatchBytes(const std::vector<int32_t>& fanouts, int64_t batch, int64_t num_nodes,
                      int64_t feature_stride_bytes, bool numbers_outermost) {
  const int64_t most = std::max(num_nodes, batch);
  int64_t nodes = batch, structure = 0, outer_rows = batch;
  for (const int32_t fanout : fanouts) {
    outer_rows = nodes;
    structure += 4 * (nodes + 1) + 4 * nodes * fanout + 2 * static_cast<int64_t>(kAlign);
    nodes = std::min(nodes * (1 + int64_t{fanout}), most);
  }
  if (numbers_outermost) outer_rows = nodes;
  structure += static_cast<int64_t>(AlignUp(sizeof(BatchHeader)) + kAlign);
  structure += 4 * nodes;  // ids of all nodes, needed if rows are found by id
  const int64_t one = structure + nodes * feature_stride_bytes + 12 * (outer_rows + 1);
  return static_cast<int64_t>(HostFeed::kHeld + 1) * (one + one / 4);
}

Result<std::unique_ptr<HostFeed>> HostFeed::Make(std::shared_ptr<const Graph> graph, const GpuEngineOptions& engine,
                                                 const HostFeedOptions& options) {
  if (IsOutline(*graph)) return Status::InvalidArgument("'" + graph->name() + "' is not in the host's memory");
  auto feed = std::unique_ptr<HostFeed>(new HostFeed());
  feed->graph_ = graph;
  const int ranks = engine.ranks == nullptr ? 1 : engine.ranks->size();
  feed->batch_ = engine.batch;
  feed->shards_ = engine.shards;
  feed->local_shards_ = engine.shards / ranks;
  feed->workers_ = ThreadCount(options.workers);
  int device = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  feed->allocator_ = std::make_unique<PinnedAllocator>(device);
  HONE_RETURN_IF_ERROR(feed->copies_.Make());
  BatchPipelineOptions pipeline;
  pipeline.sampler = {engine.fanouts, FrontierRule::kAllSoFar};
  pipeline.batch = engine.batch;
  pipeline.shards = feed->shards_;
  pipeline.local_shards = feed->local_shards_;
  pipeline.first_shard = engine.ranks == nullptr ? 0 : engine.ranks->rank() * feed->local_shards_;
  pipeline.seed = engine.seed;
  pipeline.workers = feed->workers_;
  pipeline.queue = options.queue;
  feed->cuts_ = options.cuts;
  pipeline.sampler.plain = options.cuts.sampler;
  pipeline.features = !options.cuts.batches;
  pipeline.buffer_bytes = options.buffer_bytes;
  pipeline.transfer = feed.get();
  HONE_ASSIGN_OR_RETURN(feed->pipeline_, BatchPipeline::Make(std::move(graph), pipeline));
  return feed;
}

HostFeed::~HostFeed() {
  if (copies_.handle != nullptr) cudaStreamSynchronize(copies_.handle);
}

Status HostFeed::Begin(uint32_t epoch, uint32_t step) {
  const int64_t first_shard = int64_t{step} * local_shards_;
  if (begun_ && epoch_ == epoch && taken_ == first_shard) return Status::Ok();
  if (begun_) Stop();
  HONE_RETURN_IF_ERROR(pipeline_->Start({.seeds = graph_->train_nodes(), .epoch = epoch, .first_step = step}));
  begun_ = true;
  epoch_ = epoch;
  taken_ = first_shard;
  return Status::Ok();
}

Result<BatchLease> HostFeed::Next() {
  HONE_ASSIGN_OR_RETURN(BatchLease lease, pipeline_->Next());
  if (lease) {
    if (cuts_.batches) HONE_RETURN_IF_ERROR(Slice(*lease));
    ++taken_;
  } else {
    begun_ = false;
  }
  return lease;
}

// Copies the batch's feature rows into this feed's memory. The batch that used this memory, three batches ago, has been
// let go of.
Status HostFeed::Slice(MiniBatch& batch) {
  const Stopwatch watch;
  const FeatureView& features = graph_->features();
  const std::vector<NodeId>& nodes = batch.sample.nodes;
  Sliced& slice = slices_[static_cast<size_t>(taken_) % slices_.size()];
  const auto bytes = static_cast<size_t>(static_cast<int64_t>(nodes.size()) * features.stride_bytes);
  if (slice.bytes < bytes) {
    slice.bytes = bytes + bytes / 4;
    HONE_ASSIGN_OR_RETURN(slice.memory, HugeBuffer::Allocate(slice.bytes));
  }
  constexpr int64_t kPiece = 1024;
  const auto count = static_cast<int64_t>(nodes.size());
  ParallelPieces(workers_, (count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece;
    SliceRows(
        features,
        std::span(nodes).subspan(static_cast<size_t>(first), static_cast<size_t>(std::min(kPiece, count - first))),
        slice.memory.data() + first * features.stride_bytes);
  });
  batch.features = {slice.memory.data(), features.dtype, count, features.width, features.stride_bytes};
  slice_seconds_ += watch.Seconds();
  return Status::Ok();
}

PipelineTimes HostFeed::TakeTimes() {
  PipelineTimes times = pipeline_->TakeTimes();
  times.slice_seconds += slice_seconds_;
  times.wait_seconds += slice_seconds_;  // training waits while this thread slices
  slice_seconds_ = 0;
  return times;
}

void HostFeed::Stop() {
  pipeline_->Cancel();
  begun_ = false;
}

Status HostFeed::FitTo(const FeedNeeds& needs, int64_t num_nodes) {
  numbers_outermost_ = needs.numbers_outermost;
  if (!needs.rows_by_id || rows_by_id_.size() == num_nodes) return Status::Ok();
  return rows_by_id_.Allocate(num_nodes);
}

Status HostFeed::EnqueueCopies(const MiniBatch& batch, FedBatch& to, cudaStream_t stream) const {
  const auto all_seeds = static_cast<int64_t>(graph_->train_nodes().size());
  const int64_t most = int64_t{batch_} * shards_;
  const int64_t first_seed = batch.key.step * most;  // seeds are dealt as by the sampler (sample_kernels.cu)
  const int64_t of_step = std::min(most, all_seeds - first_seed);
  const FedBatch::Seeds seeds{.first = first_seed + of_step * batch.key.shard / shards_, .of_step = of_step};
  HONE_RETURN_IF_ERROR(to.EnqueueCopies(batch, seeds, rows_by_id_.get(), numbers_outermost_, copies_.handle));
  return to.EnqueueWait(stream);
}

}  // namespace hone::gnn::cuda
