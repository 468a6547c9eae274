// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/sample/sampled_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/sample/all_neighbors.h"
#include "gnn/cuda/sample/sampled_blocks_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr uint32_t kLastTag = 0xfffffffeu;  // the largest tag; cleared entries have tag 0xffffffff

Status CheckOptions(const SampledBlocksOptions& options) {
  const std::vector<int32_t>& fanouts = options.sampler.fanouts;
  if (fanouts.empty() || fanouts.size() > static_cast<size_t>(cuda::kMaxHopsOnDevice)) {
    return Status::InvalidArgument(
        fmt::format("{} fanouts: batches on the GPU have 1 to {} hops", fanouts.size(), cuda::kMaxHopsOnDevice));
  }
  for (const int32_t fanout : fanouts) {
    if (fanout == kAllNeighbors || (fanout >= 1 && fanout <= kMaxFanout)) continue;
    return Status::InvalidArgument(
        fmt::format("fanout {}: use 1 to {}, or {} for all neighbors", fanout, kMaxFanout, kAllNeighbors));
  }
  if (options.batch < 1)
    return Status::InvalidArgument(fmt::format("a batch of {} seeds: use at least 1", options.batch));
  return Status::Ok();
}

class Blocks final : public SampledBlocks {
 public:
  Status Make(const GraphOnDevice& graph, const SampledBlocksOptions& options) {
    HONE_RETURN_IF_ERROR(CheckOptions(options));
    graph_ = graph;
    new_only_ = options.sampler.frontier == FrontierRule::kNewOnly;
    edge_ids_ = options.edge_ids;
    batch_ = options.batch;
    std::vector<int32_t> fanouts = options.sampler.fanouts;
    if (AsksForAll(fanouts)) {
      HONE_ASSIGN_OR_RETURN(const int32_t largest_degree, LargestDegree(graph));
      fanouts = WithAllNeighbors(fanouts, largest_degree);
    }
    if (options.results < 1) return Status::InvalidArgument(fmt::format("{} results: use at least 1", options.results));
    results_.resize(static_cast<size_t>(options.results));
    selected_ = results_.data();
    HONE_RETURN_IF_ERROR(MakeHops(fanouts));
    HONE_RETURN_IF_ERROR(Allocate(seeds_, batch_));
    HONE_RETURN_IF_ERROR(Allocate(seed_entries_, batch_));
    HONE_RETURN_IF_ERROR(Allocate(words_, most_words_));
    int64_t entries = 1024;
    while (entries < 2 * selected_->nodes.size()) entries *= 2;
    HONE_RETURN_IF_ERROR(Allocate(table_entries_, entries));
    table_ = {table_entries_.get(), static_cast<uint32_t>(entries - 1)};
    return Status::Ok();
  }

  Status Enqueue(std::span<const NodeId> seeds, const BatchKey& key, cudaStream_t stream) override {
    if (static_cast<int64_t>(seeds.size()) > batch_) {
      return Status::InvalidArgument(fmt::format("{} seeds for batches of at most {}", seeds.size(), batch_));
    }
    for (const NodeId seed : seeds) {
      if (seed < 0 || seed >= graph_.num_nodes) {
        return Status::InvalidArgument(
            fmt::format("seed {} is out of range: the graph has {} nodes", seed, graph_.num_nodes));
      }
    }
    if (tag_ == 0 || tag_ == kLastTag) {
      HONE_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(
          table_entries_.get(), 0xff, static_cast<size_t>(table_entries_.size()) * sizeof(NodeTableEntry), stream));
      tag_ = 0;
    }
    const BlocksBatch batch{.graph = graph_,
                            .table = table_,
                            .key = {key.seed, key.step, key.epoch, 0},
                            .tag = ++tag_,
                            .nodes = selected_->nodes.get(),
                            .hop_nodes = selected_->hop_nodes.get(),
                            .words = words_.get()};
    if (!seeds.empty()) {
      HONE_CUDA_RETURN_IF_ERROR(
          cudaMemcpyAsync(seeds_.get(), seeds.data(), seeds.size() * sizeof(NodeId), cudaMemcpyHostToDevice, stream));
    }
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueBlockSeeds(batch, seeds_.get(), static_cast<int32_t>(seeds.size()), seed_entries_.get(), stream));
    for (const BlockHop& hop : selected_->hops) HONE_CUDA_RETURN_IF_ERROR(EnqueueBlockHop(batch, hop, stream));
    return Status::Ok();
  }

  void Select(int32_t result) override { selected_ = &results_[static_cast<size_t>(result)]; }
  const int32_t* nodes() const override { return selected_->nodes.get(); }
  const int32_t* hop_nodes() const override { return selected_->hop_nodes.get(); }
  const std::vector<BlockRowsOnDevice>& rows() const override { return selected_->rows; }

  Result<NeighborSample> Download(cudaStream_t stream, std::vector<std::vector<int64_t>>* edge_ids) const override {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream));
    NeighborSample sample;
    sample.new_only = new_only_;
    HONE_RETURN_IF_ERROR(selected_->hop_nodes.Download(sample.hop_nodes));
    HONE_RETURN_IF_ERROR(Take(nodes(), sample.hop_nodes.back(), sample.nodes));
    const std::vector<BlockRowsOnDevice>& blocks = selected_->rows;
    sample.rows.resize(blocks.size());
    if (edge_ids != nullptr) edge_ids->assign(blocks.size(), {});
    for (size_t i = 0; i < blocks.size(); ++i) {
      NeighborSample::Rows& rows = sample.rows[i];
      const int32_t count = sample.hop_nodes[new_only_ ? selected_->hops.size() - 1 : i];
      HONE_RETURN_IF_ERROR(Take(blocks[i].row_offsets, int64_t{count} + 1, rows.row_offsets));
      HONE_RETURN_IF_ERROR(Take(blocks[i].columns, rows.row_offsets.back(), rows.columns));
      if (edge_ids != nullptr && edge_ids_) {
        HONE_RETURN_IF_ERROR(Take(blocks[i].edge_ids, rows.row_offsets.back(), (*edge_ids)[i]));
      }
    }
    return sample;
  }

  int64_t device_bytes() const override { return bytes_; }

 private:
  // The arrays of a BlockRowsOnDevice.
  struct Compact {
    DeviceArray<int32_t> row_offsets, columns;
    DeviceArray<int64_t> edge_ids;
  };
  // A result: one sample, kept until another replaces it.
  struct Kept {
    DeviceArray<int32_t> nodes, hop_nodes;
    std::vector<Compact> compact;
    std::vector<BlockHop> hops;
    std::vector<BlockRowsOnDevice> rows;
  };
  // Allocates an array and counts its bytes.
  template <typename T>
  Status Allocate(DeviceArray<T>& array, int64_t count) {
    bytes_ += count * static_cast<int64_t>(sizeof(T));
    return array.Allocate(count);
  }

  Status MakeHops(const std::vector<int32_t>& fanouts) {
    const int64_t num_nodes = graph_.num_nodes;
    int64_t most_nodes = std::min<int64_t>(batch_, num_nodes);  // largest number of nodes known after the previous hop
    int64_t fresh = most_nodes;                                 // largest number of nodes that the previous hop found
    int64_t most_slots = 0, all_rows = 0, all_slots = 0;
    struct Room {
      int64_t rows, slots;
    };
    std::vector<Room> rooms;
    most_words_ = BlockWords(batch_);
    for (size_t h = 0; h < fanouts.size(); ++h) {
      const int64_t drawn = new_only_ ? fresh : most_nodes;
      const int64_t slots = drawn * fanouts[h];
      if (slots >= kNewRank) {
        return Status::InvalidArgument(fmt::format(
            "hop {} of a batch of {} may draw for {} nodes, and with {} slots each it has more than the {} that can be "
            "numbered: take a smaller batch or fanout, or the CPU",
            h + 1, batch_, drawn, fanouts[h], kNewRank));
      }
      rooms.push_back({drawn, slots});
      most_slots = std::max(most_slots, slots);
      all_rows += drawn;
      all_slots += slots;
      most_words_ = std::max({most_words_, BlockWords(slots), BlockWords(drawn)});
      fresh = std::min(num_nodes, slots);
      most_nodes = std::min(num_nodes, most_nodes + slots);
    }
    if (all_slots >= INT32_MAX) {
      return Status::InvalidArgument(
          fmt::format("a batch of {} may have {} edges, more than 2^31 - 2: take a smaller one", batch_, all_slots));
    }
    HONE_RETURN_IF_ERROR(Allocate(entries_, most_slots));
    if (edge_ids_) HONE_RETURN_IF_ERROR(Allocate(drawn_, most_slots));
    int64_t most_rows = 0;
    for (const Room& room : rooms) most_rows = std::max(most_rows, room.rows);
    HONE_RETURN_IF_ERROR(Allocate(counts_, most_rows));
    for (Kept& kept : results_) {
      HONE_RETURN_IF_ERROR(Allocate(kept.nodes, most_nodes));
      HONE_RETURN_IF_ERROR(Allocate(kept.hop_nodes, static_cast<int64_t>(fanouts.size()) + 1));
      kept.compact.resize(new_only_ ? 1 : rooms.size());
      for (size_t i = 0; i < kept.compact.size(); ++i) {
        Compact& to = kept.compact[i];
        const int64_t rows = new_only_ ? all_rows : rooms[i].rows, slots = new_only_ ? all_slots : rooms[i].slots;
        HONE_RETURN_IF_ERROR(Allocate(to.row_offsets, rows + 1));
        HONE_RETURN_IF_ERROR(Allocate(to.columns, slots));
        if (edge_ids_) HONE_RETURN_IF_ERROR(Allocate(to.edge_ids, slots));
        kept.rows.push_back({to.row_offsets.get(), to.columns.get(), to.edge_ids.get()});
      }
      for (size_t h = 0; h < fanouts.size(); ++h) {
        const Compact& to = kept.compact[new_only_ ? 0 : h];
        kept.hops.push_back({.number = static_cast<int32_t>(h),
                             .fanout = fanouts[h],
                             .rows = static_cast<int32_t>(rooms[h].rows),
                             .new_only = new_only_ ? 1 : 0,
                             .entries = entries_.get(),
                             .drawn = drawn_.get(),
                             .counts = counts_.get(),
                             .row_offsets = to.row_offsets.get(),
                             .columns = to.columns.get(),
                             .edge_ids = to.edge_ids.get()});
      }
    }
    return Status::Ok();
  }

  template <typename T>
  static Status Take(const T* from, int64_t count, std::vector<T>& to) {
    to.resize(static_cast<size_t>(count));
    if (count == 0) return Status::Ok();
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return Status::Ok();
  }

  GraphOnDevice graph_{};
  bool new_only_ = false, edge_ids_ = false;
  int32_t batch_ = 0;
  uint32_t tag_ = 0;  // tag of the latest batch in the node table
  int64_t bytes_ = 0, most_words_ = 0;
  NodeTable table_{};
  DeviceArray<NodeTableEntry> table_entries_;
  DeviceArray<int32_t> seeds_, counts_;
  DeviceArray<uint32_t> entries_, seed_entries_, words_;
  DeviceArray<int64_t> drawn_;
  std::vector<Kept> results_;
  Kept* selected_ = nullptr;  // the result that Select chose
};

}  // namespace

Result<std::unique_ptr<SampledBlocks>> SampledBlocks::Make(const GraphOnDevice& graph,
                                                           const SampledBlocksOptions& options) {
  auto blocks = std::make_unique<Blocks>();
  HONE_RETURN_IF_ERROR(blocks->Make(graph, options));
  return std::unique_ptr<SampledBlocks>(std::move(blocks));
}

}  // namespace hone::gnn::cuda
