// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/batch_buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/learn_kernels.h"

namespace hone::gnn::cuda {
namespace {

size_t Bytes(const DeviceArray<unsigned long long>& entries) {
  return static_cast<size_t>(entries.size()) * sizeof(unsigned long long);
}

}  // namespace

Result<HopOnDevice> BatchBuffers::Hop::Make(int32_t fanout, int32_t rows, int32_t sources, bool by_source) {
  const int64_t places = static_cast<int64_t>(rows) * fanout;
  HONE_RETURN_IF_ERROR(entries.Allocate(places));
  HONE_RETURN_IF_ERROR(columns.Allocate(places));
  HONE_RETURN_IF_ERROR(slot_keys.Allocate(places));
  HONE_RETURN_IF_ERROR(slots.Allocate(places));
  HONE_RETURN_IF_ERROR(counts.Allocate(rows));
  HONE_RETURN_IF_ERROR(tile_words.Allocate((places + kNumberingTile - 1) / kNumberingTile + 1));
  if (by_source) {
    HONE_RETURN_IF_ERROR(sorted_keys.Allocate(places));
    HONE_RETURN_IF_ERROR(sorted_slots.Allocate(places));
    HONE_RETURN_IF_ERROR(first.Allocate(sources));
    HONE_RETURN_IF_ERROR(end.Allocate(sources));
  }
  return HopOnDevice{fanout,           rows,
                     sources,          entries.get(),
                     columns.get(),    counts.get(),
                     slot_keys.get(),  sorted_keys.get(),
                     slots.get(),      sorted_slots.get(),
                     first.get(),      end.get(),
                     tile_words.get()};
}

Status BatchBuffers::Make(const Envelope& envelope, int64_t outer_bytes) {
  for (size_t h = 0; h < envelope.known.size(); ++h) {
    if (static_cast<int64_t>(envelope.known[h]) * envelope.fanouts[h] >= kNewRank) {
      return Status::InvalidArgument(
          fmt::format("batch {} with these fanouts may draw {} x {} neighbors in one hop: take a smaller batch",
                      envelope.known[0], envelope.known[h], envelope.fanouts[h]));
    }
  }
  HONE_RETURN_IF_ERROR(header_.Allocate(1));
  HONE_RETURN_IF_ERROR(nodes_.Allocate(envelope.known.back()));
  for (size_t h = 0; h + 1 < envelope.known.size(); ++h) {
    hops_.emplace_back();
    HONE_ASSIGN_OR_RETURN(const HopOnDevice view, hops_.back().Make(envelope.fanouts[h], envelope.known[h],
                                                                    envelope.known[h + 1], envelope.trains));
    hop_views_.push_back(view);
    if (envelope.trains) sort_scratch_bytes_ = std::max(sort_scratch_bytes_, SortScratchBytes(view));
  }
  return outer_.Allocate(outer_bytes);
}

Status BatchBuffers::Invalidate(cudaStream_t stream) {
  HONE_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(header_.get(), 0, sizeof(BatchHeader), stream));
  return Status::Ok();
}

Result<BatchHeader> BatchBuffers::DownloadHeader() const {
  std::vector<BatchHeader> header;
  HONE_RETURN_IF_ERROR(header_.Download(header));
  return header[0];
}

Result<NeighborSample> BatchBuffers::Download() const {
  HONE_ASSIGN_OR_RETURN(const BatchHeader header, DownloadHeader());
  NeighborSample sample;
  for (size_t h = 0; h <= hops_.size(); ++h) sample.hop_nodes.push_back(header.hop_nodes[h]);
  HONE_RETURN_IF_ERROR(nodes_.Download(sample.nodes));
  sample.nodes.resize(static_cast<size_t>(sample.hop_nodes.back()));
  for (size_t h = 0; h < hops_.size(); ++h) {
    std::vector<int32_t> columns, counts;
    HONE_RETURN_IF_ERROR(hops_[h].columns.Download(columns));
    HONE_RETURN_IF_ERROR(hops_[h].counts.Download(counts));
    NeighborSample::Rows rows;
    rows.row_offsets.push_back(0);
    for (int32_t row = 0; row < sample.hop_nodes[h]; ++row) {
      const auto from = columns.begin() + static_cast<int64_t>(row) * hop_views_[h].fanout;
      rows.columns.insert(rows.columns.end(), from, from + counts[static_cast<size_t>(row)]);
      rows.row_offsets.push_back(static_cast<int32_t>(rows.columns.size()));
    }
    sample.rows.push_back(std::move(rows));
  }
  return sample;
}

Status BatchSource::Make(const DeviceGraph& graph, std::span<const NodeId> seeds, const BatchRule& rule,
                         int64_t most_nodes) {
  graph_ = &graph;
  HONE_RETURN_IF_ERROR(seed_nodes_.Upload(seeds.data(), static_cast<int64_t>(seeds.size())));
  seeds_ = {seed_nodes_.get(), static_cast<int64_t>(seeds.size()),
            rule.batch,        rule.in_order ? 1 : 0,
            rule.shards,       rule.first_shard,
            rule.local_shards};
  class_weights_ = rule.class_weights;
  int64_t entries = 1024;
  while (entries < 2 * most_nodes) entries *= 2;
  HONE_RETURN_IF_ERROR(table_keys_.Allocate(entries));
  HONE_RETURN_IF_ERROR(table_values_.Allocate(entries));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemset(table_values_.get(), 0xff, Bytes(table_values_)));
  table_ = {table_keys_.get(), table_values_.get(), static_cast<uint32_t>(entries - 1)};
  return Status::Ok();
}

Status BatchSource::ClearTable(cudaStream_t stream) const {
  HONE_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(table_keys_.get(), 0, Bytes(table_keys_), stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(table_values_.get(), 0xff, Bytes(table_values_), stream));
  return Status::Ok();
}

Status BatchSource::EnqueueSample(const Envelope& envelope, BatchBuffers& batch, Program& program, RunState* state,
                                  volatile uint32_t* device_halt, const DeviceArray<unsigned char>& sort_scratch,
                                  const SampleStreams& streams) const {
  HONE_CUDA_RETURN_IF_ERROR(EnqueueBeginBatch(seeds_, table_, state, batch.header(), batch.nodes(), streams.chain));
  if (class_weights_ != nullptr) {
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueStepWeight(graph_->view(), seeds_, state, class_weights_, batch.header(), streams.chain));
  }
  const bool forks = streams.beside != nullptr && envelope.layers() > 1;
  const cudaStream_t beside = forks ? streams.beside : streams.chain;
  for (int h = 0; h + 1 < envelope.layers(); ++h) {
    const HopOnDevice& hop = batch.hops()[static_cast<size_t>(h)];
    HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleHop(graph_->view(), table_, h, hop, state, device_halt, batch.header(),
                                               batch.nodes(), streams.chain));
    if (forks) {
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(streams.fork, streams.chain));
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(beside, streams.fork, 0));
    }
    HONE_CUDA_RETURN_IF_ERROR(EnqueueRelabel(table_, h, hop, batch.header(), beside));
    if (envelope.trains) {
      HONE_CUDA_RETURN_IF_ERROR(
          EnqueueBySource(hop, sort_scratch.get(), static_cast<size_t>(sort_scratch.size()), beside));
    }
  }
  HONE_RETURN_IF_ERROR(program.EnqueueOutermost(batch.view(state), streams.chain));
  if (forks) {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(streams.join, beside));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(streams.chain, streams.join, 0));
  }
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
