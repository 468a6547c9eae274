// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact inference, layer by layer; see exact.h.
//
// Each chunk of rows becomes a block. The sampler, set to "all neighbors", gives numbers to the chunk's nodes and to
// their in-neighbors. The input rows of all these nodes are gathered, and the model's pass runs on them. If a pass can project rows before
// they are gathered (wide features would be gathered once per edge), all rows are projected first. Memory holds two
// layers' activations and one chunk. While one chunk computes, a second thread makes the next one's block.
#include "gnn/infer/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "gnn/infer/activations.h"
#include "gnn/ops/buffer.h"
#include "gnn/ops/convert_rows.h"
#include "gnn/ops/parallel.h"

namespace hone::gnn {
namespace {

// Returns, for each pass p, the nodes whose rows pass p reads, ascending. The last entry has the nodes that the last
// pass computes, which are the requested ones. Every earlier entry also has the in-neighbors of the one after it.
std::vector<std::vector<NodeId>> RowsOfPasses(const CsrView& graph, std::span<const NodeId> requested, int passes) {
  std::vector<uint8_t> reads(static_cast<size_t>(graph.num_nodes), 0);
  for (NodeId v : requested) reads[static_cast<size_t>(v)] = 1;
  std::vector<std::vector<NodeId>> rows(static_cast<size_t>(passes) + 1);
  for (size_t pass = rows.size(); pass-- > 0;) {
    for (size_t v = 0; v < reads.size(); ++v) {
      if (reads[v] != 0) rows[pass].push_back(static_cast<NodeId>(v));
    }
    if (pass == 0 || rows[pass].size() == reads.size()) {  // all nodes, and so for every earlier pass
      for (size_t earlier = 0; earlier < pass; ++earlier) rows[earlier] = rows[pass];
      break;
    }
    for (NodeId v : rows[pass]) {
      for (NodeId u : graph.Neighbors(v)) reads[static_cast<size_t>(u)] = 1;
    }
  }
  return rows;
}

// Returns the first of `rows` whose input rows number at most `max_inputs` together; at least one row.
std::span<const NodeId> NextChunk(const CsrView& graph, std::span<const NodeId> rows, int64_t max_inputs) {
  int64_t inputs = 0;
  size_t count = 0;
  while (count < rows.size()) {
    inputs += 1 + graph.Degree(rows[count]);
    if (count > 0 && inputs > max_inputs) break;
    ++count;
  }
  return rows.first(count);
}

// Copies rows ids[i] of `from` to rows i of `out`.
void GatherFloatRows(Matrix<const float> from, std::span<const NodeId> ids, Matrix<float> out, int threads) {
  const size_t row_bytes = static_cast<size_t>(from.cols) * sizeof(float);
  ParallelRows(threads, static_cast<int64_t>(ids.size()), PieceRows(from.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::memcpy(out.Row(i), from.Row(ids[static_cast<size_t>(i)]), row_bytes);
  });
}

// Copies rows i of `from` to rows ids[i] of `out`.
void ScatterFloatRows(Matrix<const float> from, std::span<const NodeId> ids, Matrix<float> out) {
  const size_t row_bytes = static_cast<size_t>(from.cols) * sizeof(float);
  for (size_t i = 0; i < ids.size(); ++i) std::memcpy(out.Row(ids[i]), from.Row(static_cast<int64_t>(i)), row_bytes);
}

}  // namespace

Result<Predictions> PredictExact(const Graph& graph, Model<float>& model, std::span<const NodeId> nodes,
                                 const PredictOptions& options, int threads) {
  const Stopwatch wall;
  const CsrView structure = graph.structure();
  const int passes = model.num_passes();
  const std::vector<std::vector<NodeId>> rows = RowsOfPasses(structure, nodes, passes);
  const FeatureView edge_features = graph.edge_features();
  const bool reads_edges = ReadsEdgeFeatures(model.options());
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<NeighborSampler> sampler,
                        MakeNeighborSampler(structure, {.fanouts = {kAllNeighbors}, .edges = reads_edges}));
  Predictions result;
  result.num_nodes = static_cast<int64_t>(nodes.size());
  result.num_classes = model.PassWidth(passes);

  Activations current;  // rows of all nodes: the previous pass's output, or this pass's projected rows
  Buffer<float> inputs, outputs;
  for (int pass = 0; pass < passes; ++pass) {
    const std::vector<NodeId>& computed_rows = rows[static_cast<size_t>(pass) + 1];
    const int64_t projected_width = model.ProjectedWidth(pass);
    const bool projects = projected_width > 0;
    const int64_t in_width = projects ? projected_width : model.PassWidth(pass);
    const int64_t out_width = model.PassWidth(pass + 1);
    const auto rows_at_once = [&](int64_t width) {
      return std::max<int64_t>(1, options.chunk_bytes / (width * static_cast<int64_t>(sizeof(float))));
    };
    if (projects) {
      const Stopwatch compute;
      const std::vector<NodeId>& sources = rows[static_cast<size_t>(pass)];
      HONE_ASSIGN_OR_RETURN(Activations projected,
                            Activations::Make(structure.num_nodes, projected_width, options.scratch));
      const int64_t raw_width = model.PassWidth(pass);
      const auto at_once = static_cast<size_t>(rows_at_once(raw_width));
      for (std::span<const NodeId> sources_left = sources; !sources_left.empty();) {
        const std::span<const NodeId> ids = sources_left.first(std::min(at_once, sources_left.size()));
        sources_left = sources_left.subspan(ids.size());
        const auto count = static_cast<int64_t>(ids.size());
        const Matrix<float> x = inputs.Resize(count, raw_width);
        if (pass == 0) {
          GatherRows(graph.features(), ids, x, threads);
        } else {
          GatherFloatRows(current.matrix(), ids, x, threads);
        }
        const Matrix<float> out = outputs.Resize(count, projected_width);
        model.ProjectRows(pass, x, out, {.nodes = ids, .graph = &structure, .threads = threads});
        ScatterFloatRows(out, ids, projected.matrix());
        if (options.stop && options.stop()) return Status::Cancelled("inference was stopped");
      }
      current = std::move(projected);
      result.times.compute += compute.Seconds();
    }
    HONE_ASSIGN_OR_RETURN(Activations next_activations,
                          Activations::Make(structure.num_nodes, out_width, options.scratch));
    // A chunk has about as many edges as input rows.
    const int64_t max_inputs = rows_at_once(in_width + (reads_edges ? edge_features.width : 0));

    struct Chunk {
      std::span<const NodeId> nodes;
      NeighborSample sample;
      Status status;
      double seconds = 0;
    } chunks[2];
    const auto prepare = [&](Chunk& chunk, std::span<const NodeId> rows_left) {
      const Stopwatch watch;
      chunk.nodes = NextChunk(structure, rows_left, max_inputs);
      chunk.status = sampler->Sample(chunk.nodes, {}, chunk.sample);
      chunk.seconds = watch.Seconds();
    };
    std::span<const NodeId> rows_left = computed_rows;
    if (!rows_left.empty()) prepare(chunks[0], rows_left);
    int64_t done = 0;
    for (int current_chunk = 0; !rows_left.empty(); current_chunk = 1 - current_chunk) {
      Chunk& chunk = chunks[current_chunk];
      HONE_RETURN_IF_ERROR(chunk.status);
      rows_left = rows_left.subspan(chunk.nodes.size());
      std::future<void> preparing;
      const auto prepare_next = [&, rows_left] { prepare(chunks[1 - current_chunk], rows_left); };
      if (!rows_left.empty() && threads > 1) preparing = std::async(std::launch::async, prepare_next);

      const Stopwatch compute;
      const NeighborSample& sample = chunk.sample;
      const Matrix<float> x = inputs.Resize(sample.num_nodes(), in_width);
      if (pass == 0 && !projects) {
        GatherRows(graph.features(), sample.nodes, x, threads);
      } else {
        GatherFloatRows(current.matrix(), sample.nodes, x, threads);
      }
      const Matrix<float> out = outputs.Resize(sample.num_seeds(), out_width);
      const LayerContext context{
          .nodes = sample.nodes, .graph = &structure, .edge_features = &edge_features, .threads = threads};
      if (projects)
        model.RunProjectedPass(pass, sample.Block(0), x, out, context);
      else
        model.RunPass(pass, sample.Block(0), x, out, context);
      ScatterFloatRows(out, chunk.nodes, next_activations.matrix());
      result.times.compute += compute.Seconds();
      result.times.sample += chunk.seconds;
      done += static_cast<int64_t>(chunk.nodes.size());
      if (options.progress) {
        options.progress(fmt::format("layer {}", pass + 1), done, static_cast<int64_t>(computed_rows.size()));
      }
      const Stopwatch waited;
      if (preparing.valid()) {
        preparing.get();
      } else if (!rows_left.empty()) {
        prepare_next();
      }
      result.times.exposed += waited.Seconds();
      if (options.stop && options.stop()) return Status::Cancelled("inference was stopped");
    }
    current = std::move(next_activations);
  }
  result.logits.resize(static_cast<size_t>(result.num_nodes * result.num_classes));
  const Matrix<float> logits{result.logits.data(), result.num_nodes, result.num_classes, result.num_classes};
  GatherFloatRows(current.matrix(), nodes, logits, threads);
  result.times.wall = wall.Seconds();
  return result;
}

int64_t ExactActivationBytes(const Model<float>& model, int64_t num_nodes) {
  int64_t widest = 0, previous_width = 0;  // most columns that are held at a time, and columns of the previous pass
  for (int pass = 0; pass < model.num_passes(); ++pass) {
    if (const int64_t projected = model.ProjectedWidth(pass); projected > 0) {
      widest = std::max(widest, previous_width + projected);
      previous_width = projected;
    }
    const int64_t out_width = model.PassWidth(pass + 1);
    widest = std::max(widest, previous_width + out_width);
    previous_width = out_width;
  }
  return widest * num_nodes * static_cast<int64_t>(sizeof(float));
}

}  // namespace hone::gnn
