// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/engine/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/engine/pass.h"
#include "gnn/cuda/graph/peer_rows.h"
#include "gnn/cuda/lower/plan_model.h"
#include "gnn/cuda/sample/batch_buffers.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kProductsWorkspace = int64_t{64} << 20;  // that of matmul.cc
constexpr int64_t kReserve = int64_t{256} << 20;           // a guess, not a measurement
constexpr int64_t kPeerGranularity = int64_t{2} << 20;     // granularity of today's GPUs

class CountedMatmul final : public Matmul {
 public:
  Status Enqueue(const void*, const void*, void*, cudaStream_t) override {
    return Status::Internal("a product of a memory plan");
  }
};
class CountedMatmuls final : public MatmulLibrary {
 public:
  Result<std::unique_ptr<Matmul>> Plan(const MatmulShape&) override {
    return std::unique_ptr<Matmul>(std::make_unique<CountedMatmul>());
  }
};

// Counts what Pass allocates: one batch in the worst-case envelope, and `buffers` batches in the observed envelope,
// which is at most as large.
Result<int64_t> CountPass(const ProgramContext& context, const ModelPlan& plan, const std::vector<int32_t>& fanouts,
                          int32_t batch, bool trains, int64_t num_nodes, int buffers) {
  Envelope envelope{.fanouts = fanouts, .known = {}, .trains = trains};
  int64_t nodes = batch;
  for (const int32_t fanout : fanouts) {
    envelope.known.push_back(static_cast<int32_t>(nodes));
    nodes = std::min(nodes * (1 + int64_t{fanout}), std::max<int64_t>(num_nodes, batch));
  }
  const AllocationCount count;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, plan.Build(context, envelope));
  int64_t bytes = 2 * count.bytes();
  BatchBuffers one;
  const int64_t bytes_before = count.bytes();
  HONE_RETURN_IF_ERROR(one.Make(envelope, program->OuterBytes()));
  if (buffers > Pass::kBuffers) HONE_RETURN_IF_ERROR(one.MakeDrawn(envelope));
  const int64_t a_batch = count.bytes() - bytes_before;
  const int64_t seeds = envelope.Rows(envelope.layers() - 1);
  bytes += 2 * seeds * (plan.padded_classes() * 8 + 8);  // logits and their gradients, and a loss and a hit per row
  int64_t entries = 1024;                                // entries of the node table, which both envelopes share
  while (entries < 2 * int64_t{envelope.known.back()}) entries *= 2;
  return bytes + (1 + buffers) * a_batch + 16 * entries + 8 * num_nodes;  // the last term: seeds and predictions
}

std::string Gigabytes(int64_t bytes) { return fmt::format("{:.2f} GB", static_cast<double>(bytes) * 1e-9); }

}  // namespace

Result<WorkingMemory> CountWorkingMemory(const ModelOptions& model, const GpuEngineOptions& options,
                                         int64_t num_nodes) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ModelPlan> plan, PlanModel(model));
  const bool stages = options.storage.tier == FeatureTier::kCached && options.storage.misses != MissPath::kZeroCopy;
  const int buffers = stages ? DeviceGraph::kStagingSets : Pass::kBuffers;
  WorkingMemory working;
  working.products = kProductsWorkspace;
  CountedMatmuls matmuls;
  DeviceGraph graph;
  DeviceParameters parameters;
  ProgramContext context;
  context.graph = &graph;
  context.parameters = &parameters;
  context.matmuls = &matmuls;
  context.element = options.fp32 ? Element::kFloat32 : Element::kBFloat16;
  const AllocationCount count;  // the parameters must outlive the programs that point to them
  HONE_RETURN_IF_ERROR(parameters.Make(plan->Layout(), context.element));
  working.parameters = count.bytes();
  if (options.trains) {
    HONE_ASSIGN_OR_RETURN(working.training, CountPass(context, *plan, EnvelopeFanouts(*plan, options.fanouts),
                                                      options.batch, /*trains=*/true, num_nodes, buffers));
  }
  HONE_ASSIGN_OR_RETURN(working.evaluation, CountPass(context, *plan, EnvelopeFanouts(*plan, options.eval_fanouts),
                                                      options.eval_batch, /*trains=*/false, num_nodes, buffers));
  return working;
}

MemoryPlan PlanMemory(const GraphSize& graph, const WorkingMemory& working, const FeatureStorage& storage,
                      int64_t device_free) {
  const bool cached = storage.tier == FeatureTier::kCached;
  const int64_t rows = graph.num_nodes, stride = graph.feature_stride_bytes;
  const int64_t cache_rows = std::min(storage.cache_rows, rows);
  // The staged rows of all batches in flight.
  const int64_t staged = std::min(storage.staging_rows, rows);
  const bool stages = storage.misses != MissPath::kZeroCopy && staged > 0;
  const int64_t staging = stages ? DeviceGraph::kStagingSets * staged : 0;
  const int64_t map = 4 * rows, maps = stages ? DeviceGraph::kStagingSets * (map + 4 * staged) : map;
  const bool peers = storage.tier == FeatureTier::kPeers;
  const int64_t part = LayOutOverPeers(rows * stride, kPeerGranularity, std::max(storage.processes, 1)).BytesOf(0);
  MemoryPlan plan;
  plan.structure = 8 * (rows + 1) + 4 * graph.num_edges;
  plan.labels = 4 * rows + 2 * graph.target_bytes;  // the targets, and the outputs of Evaluate
  plan.edge_features = graph.edge_feature_bytes;
  if (peers) {
    plan.features = part + cache_rows * stride;
    plan.feature_map = cache_rows > 0 ? map : 0;
  } else {
    plan.features = !cached ? rows * stride : (cache_rows + (cache_rows < rows ? staging : 0)) * stride;
    plan.feature_map = !cached ? 0 : cache_rows < rows ? maps : map;
  }
  plan.working = working;
  plan.reserve = kReserve;
  const int64_t always = plan.structure + plan.labels + plan.edge_features + working.parameters + working.training +
                         working.evaluation + working.products + plan.reserve;
  plan.needed = always + plan.features + plan.feature_map;
  plan.free = device_free;
  plan.fits = plan.needed <= device_free;
  const int64_t room = device_free - always - maps;
  if (room >= rows * stride) {
    plan.most_cache_rows = rows;
  } else if (room >= staging * stride) {
    plan.most_cache_rows = stride > 0 ? room / stride - staging : 0;
  }

  if (const int64_t besides_part = device_free - always - part; storage.processes > 1 && besides_part >= 0) {
    plan.most_cache_rows_of_peers = stride > 0 ? std::clamp<int64_t>((besides_part - map) / stride, 0, rows) : 0;
  }

  plan.text = fmt::format("{:<28}{}\n{:<28}{}\n{:<28}{}\n", "structure", Gigabytes(plan.structure), "labels",
                          Gigabytes(plan.labels),
                          peers    ? fmt::format("features, a part and {} rows", cache_rows)
                          : cached ? fmt::format("features, {} rows", cache_rows)
                                   : "features",
                          Gigabytes(plan.features));
  if (plan.edge_features > 0) {
    plan.text += fmt::format("{:<28}{}\n", "features of edges", Gigabytes(plan.edge_features));
  }
  if (plan.feature_map > 0) plan.text += fmt::format("{:<28}{}\n", "map of cached rows", Gigabytes(plan.feature_map));
  plan.text +=
      fmt::format("{:<28}{}\n{:<28}at most {}\n{:<28}at most {}\n{:<28}{}\n{:<28}{}\n{:<28}{}\n", "parameters",
                  Gigabytes(working.parameters), "training", Gigabytes(working.training), "evaluation",
                  Gigabytes(working.evaluation), "products and the runtime", Gigabytes(working.products + plan.reserve),
                  "needed", Gigabytes(plan.needed), "free on the GPU", Gigabytes(device_free));
  if (plan.fits) return plan;
  plan.refusal = fmt::format(
      "'{}' needs up to {} of the GPU's memory, and {} are free: structure and labels {}, features {}{}, training {}, "
      "evaluation {}, everything else {}. ",
      graph.name, Gigabytes(plan.needed), Gigabytes(device_free), Gigabytes(plan.structure + plan.labels),
      Gigabytes(plan.features + plan.feature_map),
      plan.edge_features > 0 ? ", features of edges " + Gigabytes(plan.edge_features) : "", Gigabytes(working.training),
      Gigabytes(working.evaluation), Gigabytes(working.parameters + working.products + plan.reserve));
  if (plan.most_cache_rows_of_peers >= 0) {
    plan.refusal += fmt::format(
        "Features shared by the GPUs of the {} ranks, each with a cache of at most {} of the {} rows, "
        "would work; ",
        storage.processes, plan.most_cache_rows_of_peers, rows);
  }
  if (plan.most_cache_rows >= 0) {
    plan.refusal += fmt::format("Features in host memory behind a cache of at most {} of the {} rows would work",
                                plan.most_cache_rows, rows);
  } else {
    plan.refusal += fmt::format(
        "Without a row of features on the GPU it would still need {}: take smaller batches or fanouts, or a GPU with "
        "more "
        "memory",
        Gigabytes(always + maps + staging * stride));
  }
  return plan;
}

Result<MemoryPlan> PlanMemory(const GraphSize& graph, const ModelOptions& model, const GpuEngineOptions& options) {
  HONE_ASSIGN_OR_RETURN(const WorkingMemory working, CountWorkingMemory(model, options, graph.num_nodes));
  size_t free = 0, total = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free, &total));
  return PlanMemory(graph, working, options.storage, static_cast<int64_t>(free));
}

}  // namespace hone::gnn::cuda
