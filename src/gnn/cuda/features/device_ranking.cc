// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/features/device_ranking.h"

#include <algorithm>
#include <numeric>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/features/ranking_kernels.h"
#include "gnn/cuda/sample/batch_buffers.h"

namespace hone::gnn::cuda {
namespace {

// Returns every node, in ascending order.
Result<DeviceArray<int32_t>> AllNodes(int64_t count) {
  std::vector<int32_t> nodes(static_cast<size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  DeviceArray<int32_t> list;
  HONE_RETURN_IF_ERROR(list.Upload(nodes.data(), count));
  return list;
}

// Returns the first `rows` nodes by rank, in ascending order; `rows` is below the graph's number of nodes.
Result<DeviceArray<int32_t>> FirstByRank(const DeviceGraph& graph, const ScoresOnDevice& scores, int64_t rows) {
  const GraphOnDevice& view = graph.view();
  DeviceArray<int32_t> list;
  if (rows == 0) return list;
  // Finds the last of these nodes, digit by digit from the highest. `left` nodes are still to be found among those that
  // agree with the digits so far.
  RankKey last_key;
  DeviceArray<unsigned long long> histogram;
  HONE_RETURN_IF_ERROR(histogram.Allocate(256));
  auto rows_left = static_cast<unsigned long long>(rows);
  for (int digit = 0; digit < kRankDigits; ++digit) {
    HONE_CUDA_RETURN_IF_ERROR(cudaMemset(histogram.get(), 0, 256 * sizeof(unsigned long long)));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueRankHistogram(view, scores, last_key, digit, histogram.get(), nullptr));
    std::vector<unsigned long long> counts;
    HONE_RETURN_IF_ERROR(histogram.Download(counts));
    uint32_t value = 255;
    for (; value > 0 && counts[value] < rows_left; --value) rows_left -= counts[value];
    if (counts[value] < rows_left) return Status::Internal("a ranking that does not add up");
    if (digit < 8) {
      last_key.score |= uint64_t{value} << (56 - 8 * digit);
    } else {
      (digit < 12 ? last_key.slots : last_key.unlike_id) |= value << (24 - 8 * (digit % 4));
    }
  }
  DeviceArray<int32_t> tiles;
  HONE_RETURN_IF_ERROR(tiles.Allocate((view.num_nodes + kRankTile - 1) / kRankTile));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueCountRanked(view, scores, last_key, tiles.get(), nullptr));
  std::vector<int32_t> counts_before;
  HONE_RETURN_IF_ERROR(tiles.Download(counts_before));
  int32_t sum = 0;
  for (int32_t& tile : counts_before) sum += std::exchange(tile, sum);
  if (sum != rows) return Status::Internal("a ranking that lists other rows than it counted");
  HONE_RETURN_IF_ERROR(tiles.Upload(counts_before.data(), tiles.size()));
  HONE_RETURN_IF_ERROR(list.Allocate(rows));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueListRanked(view, scores, last_key, tiles.get(), list.get(), nullptr));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(nullptr));
  return list;
}

}  // namespace

Result<DeviceArray<double>> InclusionOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                           const BatchShape& shape, bool symmetric) {
  const int64_t nodes = graph.view().num_nodes;
  DeviceArray<double> known, drawn;
  DeviceArray<unsigned long long> sent, received;
  DeviceArray<unsigned char> trains;
  DeviceArray<int32_t> seeds;
  HONE_RETURN_IF_ERROR(known.Allocate(nodes));
  if (train.empty()) return known;
  HONE_RETURN_IF_ERROR(drawn.Allocate(nodes));
  HONE_RETURN_IF_ERROR(sent.Allocate(nodes));
  HONE_RETURN_IF_ERROR(received.Allocate(nodes));
  HONE_RETURN_IF_ERROR(trains.Allocate(nodes));
  HONE_RETURN_IF_ERROR(seeds.Upload(train.data(), static_cast<int64_t>(train.size())));
  const InclusionOnDevice inclusion{known.get(), drawn.get(), sent.get(), received.get(), trains.get()};
  const double seed = std::min(1.0, static_cast<double>(shape.batch) / static_cast<double>(train.size()));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueInclusionSeeds(inclusion, seeds.get(), seeds.size(), seed, nullptr));
  for (const int32_t fanout : shape.fanouts) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueInclusionHop(graph.view(), inclusion, fanout, seed, symmetric, nullptr));
  }
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(nullptr));
  return known;
}

Result<DeviceArray<uint32_t>> CountReadsOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                              const BatchShape& shape, uint32_t first_epoch, int epochs) {
  const int64_t nodes = graph.view().num_nodes;
  if (shape.batch < 1) return Status::InvalidArgument("a batch has at least one node");
  const auto steps = static_cast<uint32_t>((static_cast<int64_t>(train.size()) + shape.batch - 1) / shape.batch);
  DeviceArray<uint32_t> counts, stamps;
  HONE_RETURN_IF_ERROR(counts.Allocate(nodes));
  if (steps == 0 || shape.fanouts.empty()) return counts;
  HONE_RETURN_IF_ERROR(stamps.Allocate(nodes));
  Envelope envelope{.fanouts = shape.fanouts, .known = {}, .trains = false};
  int64_t most = shape.batch;
  for (const int32_t fanout : shape.fanouts) {
    if (fanout < 1) return Status::InvalidArgument("reads are counted of fanouts from 1 on");
    envelope.known.push_back(static_cast<int32_t>(most));
    most = std::min(most * (1 + int64_t{fanout}), std::max(nodes, shape.batch));
  }
  BatchSource source;
  BatchBuffers batch;
  DeviceArray<RunState> device_state;
  MappedValue<HostProgress> progress;
  Stream stream;
  HONE_RETURN_IF_ERROR(source.Make(graph, train, {.batch = static_cast<int32_t>(shape.batch)}, envelope.known.back()));
  HONE_RETURN_IF_ERROR(batch.Make(envelope, 0));
  batch.SetGraph(graph, 0);
  HONE_RETURN_IF_ERROR(device_state.Allocate(1));
  HONE_RETURN_IF_ERROR(progress.Make());
  HONE_RETURN_IF_ERROR(stream.Make());
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  for (int epoch = 0; epoch < epochs; ++epoch) {
    RunState state{};
    state.seed = shape.seed;
    state.epoch = first_epoch + static_cast<uint32_t>(epoch);
    state.steps = steps;
    state.table_tag = static_cast<uint32_t>(epoch) * steps;  // each batch of all epochs has its own tag
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(device_state.get(), &state, sizeof(state), cudaMemcpyHostToDevice));
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
    for (uint32_t step = 0; step < steps; ++step) {
      const BatchOnDevice view = batch.view(device_state.get());
      HONE_RETURN_IF_ERROR(source.EnqueueSample(
          envelope, batch, device_state.get(), &progress.device()->halt, {.chain = stream.handle},
          [&](cudaStream_t on) -> Status {
            HONE_CUDA_RETURN_IF_ERROR(EnqueueCountReads(view.graph, envelope.HopOf(0), envelope.fanouts.back(),
                                                        envelope.known.back(), view.state, view.header, view.nodes,
                                                        stamps.get(), counts.get(), on));
            return Status::Ok();
          }));
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
  }
  return counts;
}

Result<DeviceArray<int32_t>> LikeliestOnGpu(const DeviceGraph& graph, std::span<const NodeId> train,
                                            const BatchShape& shape, const FeatureStorage& storage, bool symmetric) {
  const int64_t nodes = graph.view().num_nodes;
  const int64_t rows = std::clamp<int64_t>(storage.cache_rows, 0, nodes);
  if (rows == nodes) return AllNodes(nodes);
  if (rows == 0) return DeviceArray<int32_t>();
  if (storage.ranking == CacheRanking::kInclusion) {
    HONE_ASSIGN_OR_RETURN(const DeviceArray<double> scores, InclusionOnGpu(graph, train, shape, symmetric));
    return FirstByRank(graph, {.probabilities = scores.get()}, rows);
  }
  HONE_ASSIGN_OR_RETURN(const DeviceArray<uint32_t> counts,
                        CountReadsOnGpu(graph, train, shape, 0, storage.presampled_epochs));
  return FirstByRank(graph, {.counts = counts.get()}, rows);
}

Result<CacheReads> CountCacheReads(const DeviceGraph& graph, std::span<const NodeId> train, const BatchShape& shape,
                                   uint32_t epoch) {
  HONE_ASSIGN_OR_RETURN(const DeviceArray<uint32_t> counts, CountReadsOnGpu(graph, train, shape, epoch, 1));
  DeviceArray<unsigned long long> device_sums;
  HONE_RETURN_IF_ERROR(device_sums.Allocate(2));
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  HONE_CUDA_RETURN_IF_ERROR(EnqueueSumReads(graph.view().feature_places, static_cast<int32_t>(graph.cached_rows()),
                                            counts.get(), counts.size(), device_sums.get(), nullptr));
  std::vector<unsigned long long> sums;
  HONE_RETURN_IF_ERROR(device_sums.Download(sums));
  return CacheReads{(static_cast<int64_t>(train.size()) + shape.batch - 1) / shape.batch, static_cast<int64_t>(sums[0]),
                    static_cast<int64_t>(sums[1])};
}

}  // namespace hone::gnn::cuda
