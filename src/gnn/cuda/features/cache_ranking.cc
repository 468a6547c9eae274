// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/features/cache_ranking.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

#include "gnn/cuda/features/inclusion_log.h"
#include "gnn/graph/parallel.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kPiece = 1 << 14;  // nodes per piece of work

template <typename Work>
void ForNodes(int threads, int64_t count, const Work& work) {
  ParallelPieces(threads, (count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t end = std::min(count, (piece + 1) * kPiece);
    for (int64_t v = piece * kPiece; v < end; ++v) work(static_cast<NodeId>(v));
  });
}

}  // namespace

std::vector<double> InclusionProbabilities(const CsrView& graph, std::span<const NodeId> train, const BatchShape& shape,
                                           bool symmetric, int threads) {
  threads = ThreadCount(threads);
  const auto count = static_cast<size_t>(graph.num_nodes);
  std::vector<double> known_probability(count, 0.0);
  if (train.empty()) return known_probability;
  const double seed = std::min(1.0, static_cast<double>(shape.batch) / static_cast<double>(train.size()));
  std::vector<bool> trains(count, false);
  for (const NodeId v : train) {
    known_probability[static_cast<size_t>(v)] = seed;
    trains[static_cast<size_t>(v)] = true;
  }
  const uint64_t as_seed = FixedLog(seed);

  std::vector<double> drawn(count, 0.0);  // probability that a given slot of the node has been drawn
  std::vector<uint64_t> sent(count);      // FixedLog(drawn[v]): each neighbor in a drawn slot receives it
  std::vector<uint64_t> received(count);  // sums of `sent` over the slots that list the node
  for (const int32_t fanout : shape.fanouts) {
    ForNodes(threads, graph.num_nodes, [&](NodeId node) {
      const auto v = static_cast<size_t>(node);
      drawn[v] = DrawnAfter(drawn[v], known_probability[v], fanout, graph.Degree(node));
      sent[v] = FixedLog(drawn[v]);
      received[v] = trains[v] ? as_seed : 0;
    });
    ForNodes(threads, graph.num_nodes, [&](NodeId v) {
      if (symmetric) {
        uint64_t sum = received[static_cast<size_t>(v)];
        for (const NodeId u : graph.Neighbors(v)) sum = std::min(kEnough, sum + sent[static_cast<size_t>(u)]);
        received[static_cast<size_t>(v)] = sum;
      } else if (const uint64_t amount = sent[static_cast<size_t>(v)]; amount != 0) {
        for (const NodeId u : graph.Neighbors(v)) {
          std::atomic_ref<uint64_t> to(received[static_cast<size_t>(u)]);
          if (to.load(std::memory_order_relaxed) < kEnough) to.fetch_add(amount, std::memory_order_relaxed);
        }
      }
    });
    ForNodes(threads, graph.num_nodes, [&](NodeId v) {
      known_probability[static_cast<size_t>(v)] = ProbabilityOf(received[static_cast<size_t>(v)]);
    });
  }
  return known_probability;
}

Result<std::vector<uint32_t>> CountInclusions(const CsrView& graph, std::span<const NodeId> train,
                                              const BatchShape& shape, int epochs, int threads) {
  const auto seeds = static_cast<int64_t>(train.size());
  if (shape.batch < 1) return Status::InvalidArgument("a batch has at least one node");
  const int64_t steps = (seeds + shape.batch - 1) / shape.batch;
  const auto workers = static_cast<int>(std::min<int64_t>(ThreadCount(threads), std::max<int64_t>(steps * epochs, 1)));
  std::vector<std::unique_ptr<NeighborSampler>> samplers;
  for (int w = 0; w < workers; ++w) {
    HONE_ASSIGN_OR_RETURN(auto sampler, MakeNeighborSampler(graph, {shape.fanouts, FrontierRule::kAllSoFar}));
    samplers.push_back(std::move(sampler));
  }
  std::vector<uint32_t> counts(static_cast<size_t>(graph.num_nodes), 0);
  std::atomic<int64_t> next{0};
  std::mutex lock;
  Status failure;
  ParallelPieces(workers, workers, [&](int64_t worker) {
    std::vector<NodeId> nodes;
    NeighborSample sample;
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < steps * epochs;) {
      const auto epoch = static_cast<uint32_t>(i / steps), step = static_cast<uint32_t>(i % steps);
      nodes.clear();
      for (int64_t s = step * shape.batch; s < std::min(seeds, (step + 1) * shape.batch); ++s) {
        nodes.push_back(train[static_cast<size_t>(PermutedIndex(shape.seed, epoch, seeds, s))]);
      }
      const Status status = samplers[static_cast<size_t>(worker)]->Sample(nodes, {shape.seed, epoch, step, 0}, sample);
      if (!status.ok()) {
        const std::lock_guard guard(lock);
        if (failure.ok()) failure = status;
        return;
      }
      for (const NodeId v : sample.nodes) {
        std::atomic_ref<uint32_t>(counts[static_cast<size_t>(v)]).fetch_add(1, std::memory_order_relaxed);
      }
    }
  });
  HONE_RETURN_IF_ERROR(failure);
  return counts;
}

Result<std::vector<NodeId>> LikeliestRows(const Graph& graph, const BatchShape& shape, const FeatureStorage& storage) {
  const CsrView csr = graph.structure();
  const std::span<const NodeId> seeds = shape.seeds.empty() ? graph.train_nodes() : shape.seeds;
  const auto cached_rows = static_cast<size_t>(std::clamp<int64_t>(storage.cache_rows, 0, csr.num_nodes));
  std::vector<NodeId> nodes(static_cast<size_t>(csr.num_nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  if (cached_rows == nodes.size()) return nodes;
  std::vector<double> scores;
  if (cached_rows > 0 && storage.ranking == CacheRanking::kInclusion) {
    scores = InclusionProbabilities(csr, seeds, shape, graph.flags().symmetric, storage.threads);
  } else if (cached_rows > 0) {
    HONE_ASSIGN_OR_RETURN(const std::vector<uint32_t> counts,
                          CountInclusions(csr, seeds, shape, storage.presampled_epochs, storage.threads));
    scores.assign(counts.begin(), counts.end());
  }
  if (cached_rows > 0) {
    std::nth_element(nodes.begin(), nodes.begin() + static_cast<int64_t>(cached_rows), nodes.end(),
                     [&](NodeId a, NodeId b) {
                       const double pa = scores[static_cast<size_t>(a)], pb = scores[static_cast<size_t>(b)];
                       if (pa != pb) return pa > pb;
                       const int64_t da = csr.Degree(a), db = csr.Degree(b);
                       return da != db ? da > db : a < b;
                     });
  }
  nodes.resize(cached_rows);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace hone::gnn::cuda
