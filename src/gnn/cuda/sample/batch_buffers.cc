// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/sample/batch_buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/sample/sample_kernels.h"
#include "gnn/cuda/sample/source_kernels.h"
#include "gnn/cuda/sample/step_weight.h"

namespace hone::gnn::cuda {
namespace {

// Clears the table to tag 2^32 - 1, which no batch has (pass.cc).
cudaError_t Clear(const DeviceArray<NodeTableEntry>& entries, cudaStream_t stream) {
  return cudaMemsetAsync(entries.get(), 0xff, static_cast<size_t>(entries.size()) * sizeof(NodeTableEntry), stream);
}

}  // namespace

Result<HopOnDevice> BatchBuffers::Hop::Make(int32_t fanout, int32_t rows, int32_t sources, bool by_source) {
  const int64_t places = static_cast<int64_t>(rows) * fanout;
  HONE_RETURN_IF_ERROR(entries.Allocate(places));
  HONE_RETURN_IF_ERROR(columns.Allocate(places));
  HONE_RETURN_IF_ERROR(counts.Allocate(rows));
  HONE_RETURN_IF_ERROR(prefix_sum_scratch.Allocate((places + kNumberingTile - 1) / kNumberingTile + 1));
  if (by_source) {
    HONE_RETURN_IF_ERROR(slot_ranks.Allocate(places));
    HONE_RETURN_IF_ERROR(ordering.Allocate(places));
    HONE_RETURN_IF_ERROR(sorted_slots.Allocate(places));
    HONE_RETURN_IF_ERROR(first.Allocate(sources));
    HONE_RETURN_IF_ERROR(end.Allocate(sources));
  }
  return HopOnDevice{.fanout = fanout,
                     .rows = rows,
                     .sources = sources,
                     .entries = entries.get(),
                     .columns = columns.get(),
                     .counts = counts.get(),
                     .slot_ranks = slot_ranks.get(),
                     .ordering = ordering.get(),
                     .sorted_slots = sorted_slots.get(),
                     .first = first.get(),
                     .end = end.get(),
                     .prefix_sum_scratch = prefix_sum_scratch.get()};
}

Status BatchBuffers::Make(const Envelope& envelope, int64_t outer_bytes) {
  for (size_t h = 0; h + 1 < envelope.known.size(); ++h) {  // the outermost hop's slots are not numbered
    if (static_cast<int64_t>(envelope.known[h]) * envelope.fanouts[h] >= kNewRank) {
      return Status::InvalidArgument(fmt::format(
          "hop {} of a batch of {} may have {} nodes, and with {} slots each (`all`: the largest degree) it has more than "
          "the {} that can be numbered: take a smaller batch or fanout, or the CPU",
          h + 1, envelope.known[0], envelope.known[h], envelope.fanouts[h], kNewRank));
    }
  }
  HONE_RETURN_IF_ERROR(header_.Allocate(1));
  HONE_RETURN_IF_ERROR(nodes_.Allocate(envelope.known.back()));
  for (size_t h = 0; h + 1 < envelope.known.size(); ++h) {
    hops_.emplace_back();
    HONE_ASSIGN_OR_RETURN(const HopOnDevice view, hops_.back().Make(envelope.fanouts[h], envelope.known[h],
                                                                    envelope.known[h + 1], envelope.trains));
    hop_views_.push_back(view);
  }
  return outer_.Allocate(outer_bytes);
}

Status BatchBuffers::MakeDrawn(const Envelope& envelope) {
  if (envelope.fanouts.back() > kNarrowFanout) return Status::Ok();  // wide hops are drawn again
  HONE_RETURN_IF_ERROR(own_places_.Allocate(envelope.known.back()));
  return slot_places_.Allocate(int64_t{envelope.known.back()} * envelope.fanouts.back());
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
  HONE_RETURN_IF_ERROR(table_entries_.Allocate(entries));
  HONE_CUDA_RETURN_IF_ERROR(Clear(table_entries_, nullptr));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(nullptr));
  table_ = {table_entries_.get(), static_cast<uint32_t>(entries - 1)};
  return Status::Ok();
}

Status BatchSource::ClearTable(cudaStream_t stream) const {
  HONE_CUDA_RETURN_IF_ERROR(Clear(table_entries_, stream));
  return Status::Ok();
}

Status BatchSource::EnqueueSample(const Envelope& envelope, BatchBuffers& batch, RunState* state,
                                  volatile uint32_t* device_halt, const SampleStreams& streams,
                                  const std::function<Status(cudaStream_t)>& outermost) const {
  if (envelope.layers() == 1) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBeginBatch(seeds_, state, batch.header(), batch.nodes(), streams.chain));
  }
  const bool forks = streams.structure != nullptr;
  const auto after_chain = [&](cudaStream_t stream) -> Status {
    if (!forks) return Status::Ok();
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(streams.fork, streams.chain));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream, streams.fork, 0));
    return Status::Ok();
  };
  const cudaStream_t structure = forks ? streams.structure : streams.chain;
  const cudaStream_t last = forks ? streams.outermost : streams.chain;
  for (int h = 0; h + 1 < envelope.layers(); ++h) {
    const HopOnDevice& hop = batch.hops()[static_cast<size_t>(h)];
    HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleHop(graph_->view(), seeds_, table_, h, hop, state, device_halt,
                                               batch.header(), batch.nodes(), streams.chain));
    HONE_RETURN_IF_ERROR(after_chain(structure));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueRelabel(table_, h, hop, batch.header(), structure));
    if (envelope.trains) HONE_CUDA_RETURN_IF_ERROR(EnqueueBySource(hop, structure));
  }
  if (class_weights_ != nullptr) {  // only the loss needs the weight
    HONE_RETURN_IF_ERROR(after_chain(structure));
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueStepWeight(graph_->view(), seeds_, state, class_weights_, batch.header(), structure));
  }
  if (outermost) {
    HONE_RETURN_IF_ERROR(after_chain(last));
    HONE_RETURN_IF_ERROR(outermost(last));
  }
  if (!forks) return Status::Ok();
  for (const cudaStream_t stream : {structure, last}) {
    const bool forked = stream == last ? bool{outermost} : envelope.layers() > 1 || class_weights_ != nullptr;
    if (!forked) continue;
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(streams.join, stream));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(streams.chain, streams.join, 0));
  }
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
