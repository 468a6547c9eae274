// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/loader/c_api.h"

#include <memory>
#include <utility>
#include <vector>

#include "gnn/loader/batch_loader.h"
#include "gnn/loader/c_errors.h"

using hone::Result;
using hone::Status;
using hone::gnn::BatchLoader;
using hone::gnn::BatchLoaderOptions;
using hone::gnn::Guarded;
using hone::gnn::InEdges;
using hone::gnn::LoadedBatch;
using hone::gnn::ReportStatus;
using hone::gnn::Tables;

struct HoneGraph {
  std::shared_ptr<const InEdges> edges;
};
struct HoneLoader {
  std::unique_ptr<BatchLoader> loader;
};
struct HoneBatch {
  std::unique_ptr<LoadedBatch> batch;
  std::vector<int64_t> node_rows_at, edge_rows_at;
};

namespace {

// Fills in the view of a batch, and returns the code for the caller.
int32_t FillBatchView(Result<std::unique_ptr<LoadedBatch>> batch_or_error, HoneBatchView* view, char* error) {
  if (!batch_or_error.ok()) return ReportStatus(batch_or_error.status(), error);
  if (*batch_or_error == nullptr) return HONE_END;
  auto held = std::make_unique<HoneBatch>();
  held->batch = std::move(*batch_or_error);
  const LoadedBatch& batch = *held->batch;
  const auto at = [&](const void* place) { return static_cast<const std::byte*>(place) - batch.block; };
  for (const std::byte* rows : batch.node_rows) held->node_rows_at.push_back(at(rows));
  for (const std::byte* rows : batch.edge_rows) held->edge_rows_at.push_back(at(rows));
  *view = {.batch = nullptr,
           .block = batch.block,
           .block_bytes = batch.block_bytes,
           .step = batch.step,
           .seeds = static_cast<int64_t>(batch.input.size()),
           .nodes = static_cast<int64_t>(batch.nodes.size()),
           .edges = static_cast<int64_t>(batch.sources.size()),
           .hops = static_cast<int32_t>(batch.hop_nodes.size()) - 1,
           .has_edge_ids = !batch.edge_ids.empty() || batch.sources.empty(),
           .hop_nodes = batch.hop_nodes.data(),
           .hop_edges = batch.hop_edges.empty() ? nullptr : batch.hop_edges.data(),
           .nodes_at = at(batch.nodes.data()),
           .input_at = at(batch.input.data()),
           .sources_at = at(batch.sources.data()),
           .destinations_at = at(batch.destinations.data()),
           .edge_ids_at = batch.edge_ids.empty() ? 0 : at(batch.edge_ids.data()),
           .trees_at = batch.trees.empty() ? -1 : at(batch.trees.data()),
           .node_rows_at = held->node_rows_at.data(),
           .edge_rows_at = held->edge_rows_at.data()};
  view->batch = held.release();
  return HONE_OK;
}

}  // namespace

int32_t hone_loader_abi() { return HONE_LOADER_ABI; }

int32_t hone_graph_make(const int64_t* sources, const int64_t* destinations, int64_t edges, int64_t nodes,
                        int32_t threads, HoneGraph** graph, char* error) {
  return Guarded(error, [&] {
    const auto count = static_cast<size_t>(edges);
    Result<InEdges> edges_or_error = hone::gnn::MakeInEdges({sources, count}, {destinations, count}, nodes, threads);
    if (!edges_or_error.ok()) return ReportStatus(edges_or_error.status(), error);
    *graph = new HoneGraph{std::make_shared<const InEdges>(std::move(*edges_or_error))};
    return int32_t{HONE_OK};
  });
}
void hone_graph_arrays(const HoneGraph* graph, const int64_t** row_offsets, const int32_t** columns,
                       const int64_t** edge_ids) {
  *row_offsets = graph->edges->row_offsets.data();
  *columns = graph->edges->columns.data();
  *edge_ids = graph->edges->edge_ids.data();
}
void hone_graph_free(HoneGraph* graph) { delete graph; }

int32_t hone_loader_make(const HoneGraph* graph, const HoneLoaderOptions* options, HoneLoader** loader, char* error) {
  return Guarded(error, [&] {
    BatchLoaderOptions loader_options;
    loader_options.fanouts.assign(options->fanouts, options->fanouts + options->hops);
    loader_options.batch = options->batch;
    loader_options.threads = options->threads;
    loader_options.queue = options->queue;
    loader_options.edge_ids = options->edge_ids != 0;
    loader_options.node_tables = Tables(options->node_tables, options->num_node_tables);
    loader_options.edge_tables = Tables(options->edge_tables, options->num_edge_tables);
    loader_options.replace = options->replace != 0;
    loader_options.disjoint = options->disjoint != 0;
    loader_options.induced = options->induced != 0;
    if (options->weights != nullptr) loader_options.weights = {options->weights, graph->edges->columns.size()};
    Result<std::unique_ptr<BatchLoader>> loader_or_error = BatchLoader::Make(graph->edges, loader_options);
    if (!loader_or_error.ok()) return ReportStatus(loader_or_error.status(), error);
    *loader = new HoneLoader{std::move(*loader_or_error)};
    return int32_t{HONE_OK};
  });
}
void hone_loader_free(HoneLoader* loader) { delete loader; }

int32_t hone_loader_start(HoneLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed, uint32_t epoch,
                          int32_t shuffle, int32_t drop_last, int64_t first_step, char* error) {
  return Guarded(error, [&] {
    const Status started = loader->loader->Start({.seeds = {seeds, static_cast<size_t>(count)},
                                                  .seed = seed,
                                                  .epoch = epoch,
                                                  .shuffle = shuffle != 0,
                                                  .drop_last = drop_last != 0,
                                                  .first_step = first_step});
    return started.ok() ? int32_t{HONE_OK} : ReportStatus(started, error);
  });
}
int32_t hone_loader_next(HoneLoader* loader, double seconds, HoneBatchView* view, char* error) {
  return Guarded(error, [&] { return FillBatchView(loader->loader->Next(seconds), view, error); });
}
void hone_loader_cancel(HoneLoader* loader) { loader->loader->Cancel(); }

int32_t hone_loader_load(HoneLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed, uint32_t epoch,
                         uint32_t step, HoneBatchView* view, char* error) {
  return Guarded(error, [&] {
    return FillBatchView(loader->loader->Load({seeds, static_cast<size_t>(count)}, seed, epoch, step), view, error);
  });
}
void hone_batch_free(HoneBatch* batch) { delete batch; }
