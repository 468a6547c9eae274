// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/loader/device_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "gnn/cuda/loader/device_loader_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kAlignment = 256;  // bytes, of each array in a batch's memory
constexpr int64_t kMostSampledBytes = int64_t{1} << 30;
constexpr int32_t kNotArrived = -1;  // in the place of a size, which is at least 0

int64_t AlignUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Status CheckTables(const std::vector<RowTable>& tables, int64_t count, const char* what) {
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].count == count) continue;
    return Status::InvalidArgument(
        fmt::format("{} table {} has {} rows, and the graph has {}", what, i, tables[i].count, count));
  }
  return Status::Ok();
}

// Returns whether the device has written all sizes. Each of them is written in one piece, so none is half there.
bool HaveArrived(int32_t* sizes, size_t count) {
  return std::all_of(sizes, sizes + count, [](int32_t& size) {
    return std::atomic_ref<int32_t>(size).load(std::memory_order_acquire) != kNotArrived;
  });
}

}  // namespace

Result<std::unique_ptr<DeviceLoader>> DeviceLoader::Make(const DeviceLoaderOptions& options) {
  if (options.ahead < 1) return Status::InvalidArgument(fmt::format("ahead is {}: use at least 1", options.ahead));
  if (options.batch < 1 || options.batch > std::numeric_limits<int32_t>::max()) {
    return Status::InvalidArgument(fmt::format("batch is {}: 1 to 2^31 - 1 are possible", options.batch));
  }
  HONE_RETURN_IF_ERROR(CheckTables(options.node_tables, options.nodes, "node"));
  HONE_RETURN_IF_ERROR(CheckTables(options.edge_tables, options.edges, "edge"));
  std::unique_ptr<DeviceLoader> loader(new DeviceLoader(options));
  HONE_RETURN_IF_ERROR(loader->Allocate());
  return loader;
}

DeviceLoader::~DeviceLoader() { static_cast<void>(DropSampled()); }

// Makes room for `ahead` batches, or for fewer, but at least two, if that takes more memory than there is or than the
// limit.
Status DeviceLoader::MakeBlocks() {
  GraphOnDevice graph{};
  graph.row_offsets = options_.row_offsets;
  graph.columns = options_.columns;
  graph.num_nodes = options_.nodes;
  for (int32_t results = options_.ahead;; results = std::max(2, results / 2)) {
    Result<std::unique_ptr<SampledBlocks>> blocks =
        SampledBlocks::Make(graph, {.sampler = {options_.fanouts, FrontierRule::kNewOnly},
                                    .batch = static_cast<int32_t>(options_.batch),
                                    .edge_ids = true,
                                    .results = results});
    const bool fewer = results > 2;
    if (!blocks.ok() && !(fewer && blocks.status().code() == StatusCode::kResourceExhausted)) return blocks.status();
    if (!blocks.ok() || (fewer && (*blocks)->device_bytes() > kMostSampledBytes)) continue;
    blocks_ = std::move(*blocks);
    sampled_batches_ = std::vector<SampledBatch>(static_cast<size_t>(results));
    return Status::Ok();
  }
}

Status DeviceLoader::Allocate() {
  HONE_RETURN_IF_ERROR(MakeBlocks());
  const auto hops = static_cast<int64_t>(options_.fanouts.size());
  const int64_t pinned_words = options_.batch * 3 + 2 * hops + 1;
  for (SampledBatch& sampled : sampled_batches_) {
    HONE_RETURN_IF_ERROR(sampled.input.Allocate(options_.batch));
    HONE_RETURN_IF_ERROR(sampled.sizes.Allocate(2 * hops + 1));
    HONE_RETURN_IF_ERROR(sampled.pinned.Make(static_cast<size_t>(pinned_words) * sizeof(int32_t)));
    sampled.host_input = reinterpret_cast<int64_t*>(sampled.pinned.get());
    sampled.host_seeds = reinterpret_cast<int32_t*>(sampled.host_input + options_.batch);
    sampled.host_sizes = sampled.host_seeds + options_.batch;
    HONE_RETURN_IF_ERROR(sampled.sizes_arrived.Make());
    HONE_RETURN_IF_ERROR(sampled.written.Make());
  }
  // New arrays are zeroed on the default stream, for which a framework's streams do not wait. So wait here.
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  return Status::Ok();
}

Status DeviceLoader::Start(const LoaderEpoch& epoch) {
  HONE_RETURN_IF_ERROR(DropSampled());
  steps_ = next_ = 0;
  for (const int64_t seed : epoch.seeds) {
    if (seed < 0 || seed >= options_.nodes) {
      return Status::InvalidArgument(fmt::format("seed {} is no node: the graph has {}", seed, options_.nodes));
    }
  }
  const auto seeds = static_cast<int64_t>(epoch.seeds.size());
  const int64_t steps = epoch.drop_last ? seeds / options_.batch : (seeds + options_.batch - 1) / options_.batch;
  if (epoch.first_step < 0 || epoch.first_step > steps) {
    return Status::InvalidArgument(
        fmt::format("an epoch of {} steps cannot begin at step {}", steps, epoch.first_step));
  }
  epoch_ = epoch;
  permutation_.emplace(epoch.seed, epoch.epoch, seeds);
  steps_ = steps;
  next_ = epoch.first_step;
  return Status::Ok();
}

Result<bool> DeviceLoader::Sample(cudaStream_t stream) {
  if (next_ == steps_) return false;
  if (sampled_ - taken_ + (unwritten_ ? 1 : 0) >= ahead()) {
    return Status::Internal(
        fmt::format("{} batches are sampled and not written, as many as there is room for", ahead()));
  }
  SampledBatch& sampled = At(sampled_);
  const int64_t begin = next_ * options_.batch;
  const int64_t end = std::min(static_cast<int64_t>(epoch_.seeds.size()), begin + options_.batch);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t position = epoch_.shuffle ? (*permutation_)(i) : i;
    sampled.host_input[i - begin] = position;
    sampled.host_seeds[i - begin] = static_cast<int32_t>(epoch_.seeds[static_cast<size_t>(position)]);
  }
  sampled.batch.step = next_++;
  sampled.batch.seeds = end - begin;
  HONE_RETURN_IF_ERROR(
      Enqueue({.seed = epoch_.seed, .epoch = epoch_.epoch, .step = static_cast<uint32_t>(sampled.batch.step)}, stream));
  return true;
}

Status DeviceLoader::SampleThese(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch, uint32_t step,
                                 cudaStream_t stream) {
  HONE_RETURN_IF_ERROR(DropSampled());
  SampledBatch& sampled = At(sampled_);
  if (static_cast<int64_t>(seeds.size()) > options_.batch) {
    return Status::InvalidArgument(fmt::format("{} seeds for batches of at most {}", seeds.size(), options_.batch));
  }
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i] < 0 || seeds[i] >= options_.nodes) {
      return Status::InvalidArgument(fmt::format("seed {} is no node: the graph has {}", seeds[i], options_.nodes));
    }
    sampled.host_input[i] = static_cast<int64_t>(i);
    sampled.host_seeds[i] = static_cast<int32_t>(seeds[i]);
  }
  sampled.batch.step = step;
  sampled.batch.seeds = static_cast<int64_t>(seeds.size());
  return Enqueue({.seed = seed, .epoch = epoch, .step = step}, stream);
}

// Enqueues the sampling of a batch into place At(sampled_). The device reads and writes pinned memory asynchronously,
// so the host must not touch it before the event `sizes_arrived`.
Status DeviceLoader::Enqueue(const BatchKey& key, cudaStream_t stream) {
  SampledBatch& sampled = At(sampled_);
  const auto seeds = static_cast<size_t>(sampled.batch.seeds);
  if (sampled.was_written) HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream, sampled.written.handle, 0));
  blocks_->Select(static_cast<int32_t>(&sampled - sampled_batches_.data()));
  HONE_RETURN_IF_ERROR(blocks_->Enqueue(std::span(sampled.host_seeds, seeds), key, stream));
  if (seeds > 0) {
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(sampled.input.get(), sampled.host_input, seeds * sizeof(int64_t),
                                              cudaMemcpyHostToDevice, stream));
  }
  const auto hops = static_cast<int>(options_.fanouts.size());
  std::fill_n(sampled.host_sizes, sampled.sizes.size(), kNotArrived);
  HONE_CUDA_RETURN_IF_ERROR(
      EnqueueSizes(blocks_->hop_nodes(), blocks_->rows()[0].row_offsets, hops, sampled.sizes.get(), stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(sampled.host_sizes, sampled.sizes.get(),
                                            static_cast<size_t>(sampled.sizes.size()) * sizeof(int32_t),
                                            cudaMemcpyDeviceToHost, stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(sampled.sizes_arrived.handle, stream));
  ++sampled_;
  return Status::Ok();
}

Status DeviceLoader::DropSampled() {
  unwritten_ = false;
  if (taken_ == sampled_) return Status::Ok();
  taken_ = sampled_;
  HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(At(sampled_ - 1).sizes_arrived.handle));
  return Status::Ok();
}

Result<const DeviceBatch*> DeviceLoader::Take() {
  if (taken_ == sampled_) return Status::Internal("no batch was sampled");
  SampledBatch& sampled = At(taken_++);
  unwritten_ = false;
  // Sizes that are here need no call of the driver, which takes longer than all else that Take does. They are copied
  // after the sampling on its stream, so the batch is complete, too.
  if (!HaveArrived(sampled.host_sizes, sampled.sizes.size())) {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(sampled.sizes_arrived.handle));
  }
  if (sampled.host_sizes[0] != sampled.batch.seeds) {
    return Status::InvalidArgument("a node occurs twice among the seeds of a batch: seeds must be distinct");
  }
  LayOut(sampled);
  unwritten_ = true;
  return &sampled.batch;
}

void DeviceLoader::LayOut(SampledBatch& sampled) const {
  DeviceBatch& batch = sampled.batch;
  const size_t hops = options_.fanouts.size();
  batch.hop_nodes.assign(1, batch.seeds);
  batch.hop_edges.clear();
  const int32_t* const known = sampled.host_sizes;
  const int32_t* const drawn = sampled.host_sizes + hops + 1;
  for (size_t h = 0; h < hops; ++h) {
    batch.hop_nodes.push_back(known[h + 1] - known[h]);
    batch.hop_edges.push_back(drawn[h] - (h == 0 ? 0 : drawn[h - 1]));
  }
  batch.nodes = known[hops];
  batch.edges = drawn[hops - 1];
  int64_t free = 0;
  const auto take_bytes = [&](int64_t bytes) {
    const int64_t begin = free;
    free += AlignUp(bytes);
    return begin;
  };
  const int64_t id = sizeof(int64_t);
  batch.nodes_at = take_bytes(batch.nodes * id);
  batch.input_at = take_bytes(batch.seeds * id);
  batch.sources_at = take_bytes(batch.edges * id);
  batch.destinations_at = take_bytes(batch.edges * id);
  batch.edge_ids_at = take_bytes(batch.edges * id);
  batch.node_rows_at.clear();
  batch.edge_rows_at.clear();
  for (const RowTable& table : options_.node_tables)
    batch.node_rows_at.push_back(take_bytes(batch.nodes * table.row_bytes));
  for (const RowTable& table : options_.edge_tables)
    batch.edge_rows_at.push_back(take_bytes(batch.edges * table.row_bytes));
  batch.block_bytes = free;
}

Status DeviceLoader::Write(void* block, cudaStream_t stream) {
  if (!unwritten_) return Status::Internal("no batch was taken");
  SampledBatch& sampled = At(taken_ - 1);
  const DeviceBatch& sizes = sampled.batch;
  blocks_->Select(static_cast<int32_t>(&sampled - sampled_batches_.data()));
  auto* const bytes = static_cast<unsigned char*>(block);
  const auto ids = [&](int64_t at) { return reinterpret_cast<int64_t*>(bytes + at); };
  const BlockRowsOnDevice& rows = blocks_->rows()[0];
  const BatchIds batch{.nodes = blocks_->nodes(),
                       .row_offsets = rows.row_offsets,
                       .columns = rows.columns,
                       .places = rows.edge_ids,
                       .edge_ids = options_.edge_ids,
                       .input = sampled.input.get(),
                       .num_nodes = sizes.nodes,
                       .num_seeds = sizes.seeds,
                       .num_rows = sizes.nodes - sizes.hop_nodes.back(),
                       .out_nodes = ids(sizes.nodes_at),
                       .out_input = ids(sizes.input_at),
                       .out_sources = ids(sizes.sources_at),
                       .out_destinations = ids(sizes.destinations_at),
                       .out_edge_ids = ids(sizes.edge_ids_at)};
  HONE_CUDA_RETURN_IF_ERROR(EnqueueIds(batch, stream));
  for (size_t i = 0; i < options_.node_tables.size(); ++i) {
    const RowTable& table = options_.node_tables[i];
    HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherRows(table.rows, table.row_bytes, table.stride_bytes, batch.out_nodes,
                                                sizes.nodes, bytes + sizes.node_rows_at[i], stream));
  }
  for (size_t i = 0; i < options_.edge_tables.size(); ++i) {
    const RowTable& table = options_.edge_tables[i];
    HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherRows(table.rows, table.row_bytes, table.stride_bytes, batch.out_edge_ids,
                                                sizes.edges, bytes + sizes.edge_rows_at[i], stream));
  }
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(sampled.written.handle, stream));
  sampled.was_written = true;
  unwritten_ = false;
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
