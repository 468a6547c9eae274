// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times the sampler, and the SALIENT scheme, a few batches at a time on request, so that another program can take
// turns with it on the same machine, graph and seeds (tools/bench-pyg-lib does).
//
//   sampler_pair GRAPH [--fanout 15,10,5] [--batch 1024] [--steps 64] [--frontier new|all] [--pages huge|small]
//                [--table auto|direct|hash] [--export DIR]
//
// Writes one line of JSON that describes the graph, then answers each line "SUBJECT FIRST COUNT" of standard input
// with one line: the processor seconds of this thread for the steps FIRST … FIRST + COUNT - 1, nodes and edges.
// SUBJECT: sample, slice (sample and slice), salient, salient_slice. --export DIR: writes row_offsets.i64,
// columns.i32 and seeds.i32 there, raw, for the other program. Ends at the end of its input.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "benchmarks/gnn_sampler/salient_scheme.h"
#include "gnn/batch/slice_rows.h"
#include "gnn/sample/fast_sampler.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn {
namespace {

struct Arguments {
  std::string graph, frontier = "new", pages = "huge", table = "auto", export_directory;
  std::vector<int32_t> fanout = {15, 10, 5};
  int64_t batch = 1024, steps = 64;
};

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename T>
Result<HugeBuffer> CopyTo(std::span<const T> values, PageKind pages) {
  HONE_ASSIGN_OR_RETURN(HugeBuffer buffer, HugeBuffer::Allocate(std::max<size_t>(values.size_bytes(), 1), pages));
  std::memcpy(buffer.data(), values.data(), values.size_bytes());
  return buffer;
}

template <typename T>
Status WriteRaw(const std::string& path, std::span<const T> values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  return file.flush() ? Status::Ok() : Status::Io("cannot write " + path);
}

Status Run(const Arguments& arguments) {
  const PageKind pages = arguments.pages == "huge" ? PageKind::kHuge : PageKind::kSmall;
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, OpenGraph(arguments.graph));
  const CsrView original = graph->structure();
  // Both sides read their own copy, on the same kind of pages.
  HONE_ASSIGN_OR_RETURN(const HugeBuffer offsets, CopyTo(original.row_offsets, pages));
  HONE_ASSIGN_OR_RETURN(const HugeBuffer columns, CopyTo(original.columns, pages));
  const CsrView csr{original.num_nodes, {reinterpret_cast<const int64_t*>(offsets.data()), original.row_offsets.size()},
                    {reinterpret_cast<const NodeId*>(columns.data()), original.columns.size()}};
  const SamplerOptions options{arguments.fanout, arguments.frontier == "new" ? FrontierRule::kNewOnly : FrontierRule::kAllSoFar};
  SamplerTuning tuning{.pages = pages};
  if (arguments.table != "auto") {
    tuning.table = arguments.table == "hash" ? SamplerTuning::Table::kHash : SamplerTuning::Table::kDirect;
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<NeighborSampler> sampler, MakeFastSampler(csr, options, tuning));
  const std::span<const NodeId> train = graph->train_nodes();
  const IndexPermutation order(1, 0, static_cast<int64_t>(train.size()));
  std::vector<NodeId> seeds;
  for (int64_t i = 0; i < arguments.steps * arguments.batch; ++i) {
    seeds.push_back(train[static_cast<size_t>(order(i % static_cast<int64_t>(train.size())))]);
  }
  if (!arguments.export_directory.empty()) {
    HONE_RETURN_IF_ERROR(WriteRaw(arguments.export_directory + "/row_offsets.i64", csr.row_offsets));
    HONE_RETURN_IF_ERROR(WriteRaw(arguments.export_directory + "/columns.i32", csr.columns));
    HONE_RETURN_IF_ERROR(WriteRaw(arguments.export_directory + "/seeds.i32", std::span<const NodeId>(seeds)));
  }
  std::cout << nlohmann::json{{"graph", graph->name()}, {"nodes", csr.num_nodes}, {"edges", csr.num_edges()},
                              {"train_nodes", train.size()}, {"steps", arguments.steps}}
                   .dump()
            << std::endl;

  NeighborSample sample;
  HugeBuffer rows, wide_columns;
  const auto require_rows = [&rows, graph](int64_t nodes) -> Status {
    const auto bytes = static_cast<size_t>(nodes * graph->features().stride_bytes);
    if (rows.bytes() >= bytes) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(rows, HugeBuffer::Allocate(bytes * 5 / 4));
    return Status::Ok();
  };
  std::unique_ptr<SalientScheme> salient;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string subject;
    int64_t first = 0, count = 0;
    if (!(words >> subject >> first >> count)) return Status::InvalidArgument("not a request: " + line);
    const bool slices = subject.ends_with("slice");
    const bool is_salient = subject.starts_with("salient");
    if (is_salient && salient == nullptr) {
      std::vector<int64_t> wide(csr.columns.begin(), csr.columns.end());
      HONE_ASSIGN_OR_RETURN(wide_columns, CopyTo(std::span<const int64_t>(wide), pages));
      salient = std::make_unique<SalientScheme>(csr.row_offsets,
                                                std::span(reinterpret_cast<const int64_t*>(wide_columns.data()), wide.size()),
                                                std::vector<int>(arguments.fanout.begin(), arguments.fanout.end()));
    }
    int64_t nodes = 0, edges = 0;
    double seconds = 0;
    for (int64_t step = first; step < first + count; ++step) {
      const int64_t begin = step % arguments.steps * arguments.batch;
      const std::span<const NodeId> batch = std::span<const NodeId>(seeds).subspan(static_cast<size_t>(begin), static_cast<size_t>(arguments.batch));
      if (is_salient) {
        const std::vector<int64_t> wide(batch.begin(), batch.end());
        double start = ThreadSeconds();
        salient->Sample(wide, static_cast<uint64_t>(step));
        seconds += ThreadSeconds() - start;
        if (slices) {
          HONE_RETURN_IF_ERROR(require_rows(static_cast<int64_t>(salient->nodes().size())));
          start = ThreadSeconds();
          salient->Slice(graph->features(), rows.data());
          seconds += ThreadSeconds() - start;
        }
        nodes += static_cast<int64_t>(salient->nodes().size());
        edges += salient->edges();
        continue;
      }
      double start = ThreadSeconds();
      HONE_RETURN_IF_ERROR(sampler->Sample(batch, {.seed = 1, .step = static_cast<uint32_t>(step)}, sample));
      seconds += ThreadSeconds() - start;
      if (slices) {
        HONE_RETURN_IF_ERROR(require_rows(sample.num_nodes()));
        start = ThreadSeconds();
        SliceRows(graph->features(), sample.nodes, rows.data());
        seconds += ThreadSeconds() - start;
      }
      nodes += sample.num_nodes();
      for (const NeighborSample::Rows& r : sample.rows) edges += static_cast<int64_t>(r.columns.size());
    }
    std::cout << nlohmann::json{{"cpu_seconds", seconds}, {"nodes", nodes}, {"edges", edges}}.dump() << std::endl;
  }
  return Status::Ok();
}

}  // namespace
}  // namespace hone::gnn

int main(int argc, char** argv) {
  hone::gnn::Arguments arguments;
  CLI::App app{"Times the neighbor sampler a few batches at a time, on request."};
  app.add_option("graph", arguments.graph)->required();
  app.add_option("--fanout", arguments.fanout)->delimiter(',');
  app.add_option("--batch", arguments.batch)->check(CLI::PositiveNumber);
  app.add_option("--steps", arguments.steps)->check(CLI::PositiveNumber);
  app.add_option("--frontier", arguments.frontier)->check(CLI::IsMember({"new", "all"}));
  app.add_option("--pages", arguments.pages)->check(CLI::IsMember({"huge", "small"}));
  app.add_option("--table", arguments.table)->check(CLI::IsMember({"auto", "direct", "hash"}));
  app.add_option("--export", arguments.export_directory)->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);
  const hone::Status status = hone::gnn::Run(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "sampler_pair: %s\n", status.message().c_str());
  return 3;
}
