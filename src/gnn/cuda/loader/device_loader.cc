// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/loader/device_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gnn/cuda/loader/device_loader_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kAlignment = 256;

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Status CheckTables(const std::vector<RowTable>& tables, int64_t count, const char* what) {
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].count == count) continue;
    return Status::InvalidArgument(
        fmt::format("{} table {} has {} rows, and the graph has {}", what, i, tables[i].count, count));
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<DeviceLoader>> DeviceLoader::Make(const DeviceLoaderOptions& options) {
  if (options.batch < 1 || options.batch > std::numeric_limits<int32_t>::max()) {
    return Status::InvalidArgument(fmt::format("batch is {}: 1 to 2^31 - 1 are possible", options.batch));
  }
  HONE_RETURN_IF_ERROR(CheckTables(options.node_tables, options.nodes, "node"));
  HONE_RETURN_IF_ERROR(CheckTables(options.edge_tables, options.edges, "edge"));
  std::unique_ptr<DeviceLoader> loader(new DeviceLoader(options));
  HONE_RETURN_IF_ERROR(loader->Allocate());
  return loader;
}

DeviceLoader::~DeviceLoader() { static_cast<void>(Wait()); }

Status DeviceLoader::Allocate() {
  GraphOnDevice graph{};
  graph.row_offsets = options_.row_offsets;
  graph.columns = options_.columns;
  graph.num_nodes = options_.nodes;
  HONE_ASSIGN_OR_RETURN(blocks_, SampledBlocks::Make(graph, {.sampler = {options_.fanouts, FrontierRule::kNewOnly},
                                                             .batch = static_cast<int32_t>(options_.batch),
                                                             .edge_ids = true}));
  const auto hops = static_cast<int64_t>(options_.fanouts.size());
  HONE_RETURN_IF_ERROR(input_.Allocate(options_.batch));
  HONE_RETURN_IF_ERROR(sizes_.Allocate(2 * hops + 1));
  const int64_t words = options_.batch * 3 + 2 * hops + 1;
  HONE_RETURN_IF_ERROR(pinned_.Make(static_cast<size_t>(words) * sizeof(int32_t)));
  input_there_ = reinterpret_cast<int64_t*>(pinned_.get());
  seeds_there_ = reinterpret_cast<int32_t*>(input_there_ + options_.batch);
  sizes_there_ = seeds_there_ + options_.batch;
  HONE_RETURN_IF_ERROR(told_.Make());
  // New arrays are zeroed on the default stream, for which a framework's streams do not wait.
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  return Status::Ok();
}

Status DeviceLoader::Start(const LoaderEpoch& epoch) {
  HONE_RETURN_IF_ERROR(Wait());
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
  HONE_RETURN_IF_ERROR(Wait());
  if (next_ == steps_) return false;
  const int64_t begin = next_ * options_.batch;
  const int64_t end = std::min(static_cast<int64_t>(epoch_.seeds.size()), begin + options_.batch);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t position = epoch_.shuffle ? (*permutation_)(i) : i;
    input_there_[i - begin] = position;
    seeds_there_[i - begin] = static_cast<int32_t>(epoch_.seeds[static_cast<size_t>(position)]);
  }
  batch_.step = next_++;
  batch_.seeds = end - begin;
  HONE_RETURN_IF_ERROR(
      Enqueue({.seed = epoch_.seed, .epoch = epoch_.epoch, .step = static_cast<uint32_t>(batch_.step)}, stream));
  return true;
}

Status DeviceLoader::SampleThese(std::span<const int64_t> seeds, uint64_t seed, uint32_t epoch, uint32_t step,
                                 cudaStream_t stream) {
  HONE_RETURN_IF_ERROR(Wait());
  if (static_cast<int64_t>(seeds.size()) > options_.batch) {
    return Status::InvalidArgument(fmt::format("{} seeds for batches of at most {}", seeds.size(), options_.batch));
  }
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i] < 0 || seeds[i] >= options_.nodes) {
      return Status::InvalidArgument(fmt::format("seed {} is no node: the graph has {}", seeds[i], options_.nodes));
    }
    input_there_[i] = static_cast<int64_t>(i);
    seeds_there_[i] = static_cast<int32_t>(seeds[i]);
  }
  batch_.step = step;
  batch_.seeds = static_cast<int64_t>(seeds.size());
  return Enqueue({.seed = seed, .epoch = epoch, .step = step}, stream);
}

// The device reads and writes pinned memory asynchronously, so it must not be touched until the event.
Status DeviceLoader::Enqueue(const BatchKey& key, cudaStream_t stream) {
  const auto seeds = static_cast<size_t>(batch_.seeds);
  HONE_RETURN_IF_ERROR(blocks_->Enqueue(std::span(seeds_there_, seeds), key, stream));
  if (seeds > 0) {
    HONE_CUDA_RETURN_IF_ERROR(
        cudaMemcpyAsync(input_.get(), input_there_, seeds * sizeof(int64_t), cudaMemcpyHostToDevice, stream));
  }
  const auto hops = static_cast<int>(options_.fanouts.size());
  HONE_CUDA_RETURN_IF_ERROR(
      EnqueueSizes(blocks_->hop_nodes(), blocks_->rows()[0].row_offsets, hops, sizes_.get(), stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(sizes_there_, sizes_.get(),
                                            static_cast<size_t>(sizes_.size()) * sizeof(int32_t),
                                            cudaMemcpyDeviceToHost, stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(told_.handle, stream));
  sampled_ = true;
  return Status::Ok();
}

Status DeviceLoader::Wait() {
  if (!sampled_) return Status::Ok();
  sampled_ = false;
  HONE_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(told_.handle));
  return Status::Ok();
}

Result<const DeviceBatch*> DeviceLoader::Take() {
  if (!sampled_) return Status::Internal("no batch was sampled");
  HONE_RETURN_IF_ERROR(Wait());
  if (sizes_there_[0] != batch_.seeds) {
    return Status::InvalidArgument("a node occurs twice among the seeds of a batch: seeds must be distinct");
  }
  LayOut();
  return &batch_;
}

void DeviceLoader::LayOut() {
  const size_t hops = options_.fanouts.size();
  batch_.hop_nodes.assign(1, batch_.seeds);
  batch_.hop_edges.clear();
  const int32_t* const known = sizes_there_;
  const int32_t* const drawn = sizes_there_ + hops + 1;
  for (size_t h = 0; h < hops; ++h) {
    batch_.hop_nodes.push_back(known[h + 1] - known[h]);
    batch_.hop_edges.push_back(drawn[h] - (h == 0 ? 0 : drawn[h - 1]));
  }
  batch_.nodes = known[hops];
  batch_.edges = drawn[hops - 1];
  int64_t free = 0;
  const auto place = [&](int64_t bytes) {
    const int64_t begin = free;
    free += Aligned(bytes);
    return begin;
  };
  const int64_t id = sizeof(int64_t);
  batch_.nodes_at = place(batch_.nodes * id);
  batch_.input_at = place(batch_.seeds * id);
  batch_.sources_at = place(batch_.edges * id);
  batch_.destinations_at = place(batch_.edges * id);
  batch_.edge_ids_at = place(batch_.edges * id);
  batch_.node_rows_at.clear();
  batch_.edge_rows_at.clear();
  for (const RowTable& table : options_.node_tables)
    batch_.node_rows_at.push_back(place(batch_.nodes * table.row_bytes));
  for (const RowTable& table : options_.edge_tables)
    batch_.edge_rows_at.push_back(place(batch_.edges * table.row_bytes));
  batch_.block_bytes = free;
}

Status DeviceLoader::Write(void* block, cudaStream_t stream) {
  auto* const bytes = static_cast<unsigned char*>(block);
  const auto ids = [&](int64_t at) { return reinterpret_cast<int64_t*>(bytes + at); };
  const BlockRowsOnDevice& rows = blocks_->rows()[0];
  const BatchIds batch{.nodes = blocks_->nodes(),
                       .row_offsets = rows.row_offsets,
                       .columns = rows.columns,
                       .places = rows.edge_ids,
                       .edge_ids = options_.edge_ids,
                       .input = input_.get(),
                       .num_nodes = batch_.nodes,
                       .num_seeds = batch_.seeds,
                       .num_rows = batch_.nodes - batch_.hop_nodes.back(),
                       .out_nodes = ids(batch_.nodes_at),
                       .out_input = ids(batch_.input_at),
                       .out_sources = ids(batch_.sources_at),
                       .out_destinations = ids(batch_.destinations_at),
                       .out_edge_ids = ids(batch_.edge_ids_at)};
  HONE_CUDA_RETURN_IF_ERROR(EnqueueIds(batch, stream));
  for (size_t i = 0; i < options_.node_tables.size(); ++i) {
    const RowTable& table = options_.node_tables[i];
    HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherRows(table.rows, table.row_bytes, table.stride_bytes, batch.out_nodes,
                                                batch_.nodes, bytes + batch_.node_rows_at[i], stream));
  }
  for (size_t i = 0; i < options_.edge_tables.size(); ++i) {
    const RowTable& table = options_.edge_tables[i];
    HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherRows(table.rows, table.row_bytes, table.stride_bytes, batch.out_edge_ids,
                                                batch_.edges, bytes + batch_.edge_rows_at[i], stream));
  }
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
