// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn bench sampler | pipeline measures how fast batches are drawn, and prepared, on this machine.
//
// Sampling is timed in processor seconds of the thread that does it, so that a busy machine changes the figures little;
// throughput and waiting are wall time. `sampler` also times plain random reads of the same columns by as many
// independent processes. That is the rate at which the machine's memory serves programs that do nothing else, and with
// several threads it is the best scaling to expect.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/sample/index_permutation.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/load_flag.h"
#include "hone-gnn/random_reads.h"
#include "hone/gnn/batch_pipeline.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchFlags {
  std::string graph, frontier = "all", load = "auto";
  std::vector<int32_t> fanout = {15, 10, 5};
  int64_t batch = 1024, batches = 100;
  int threads = 1, queue = 0, epochs = 1;
  double consume_ms = 0;
  uint64_t seed = 1;
  bool json = false;

  SamplerOptions sampler() const {
    return {fanout, frontier == "new" ? FrontierRule::kNewOnly : FrontierRule::kAllSoFar};
  }
};

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Result<std::shared_ptr<const Graph>> Open(const BenchFlags& flags) {
  OpenGraphOptions options;
  options.load = LoadOf(flags.load);
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Graph> graph, OpenGraph(flags.graph, options));
  if (graph->train_nodes().empty()) {
    return Status::InvalidArgument(flags.graph +
                                   " has no training nodes to sample for; give it a split when converting");
  }
  return graph;
}

// The results of `threads` sampling threads that ran at the same time.
struct SamplerRun {
  double batches_per_second = 0;           // of all threads together, per second of wall time
  std::vector<double> batch_seconds;       // processor time of each batch, over all threads
  int64_t nodes = 0, edges = 0, rows = 0;  // rows: number of rows from which neighbors were drawn
  Status status;
};

// Runs samplers. A thread that has drawn its batches goes on, uncounted, until all have drawn theirs, so that no thread
// is timed on a machine that the others have left.
SamplerRun RunSamplers(const Graph& graph, const BenchFlags& flags, int threads) {
  constexpr int64_t kWarmUp = 8;  // batches, until buffers have grown
  const std::span<const NodeId> train = graph.train_nodes();
  const auto count = static_cast<int64_t>(train.size());
  const IndexPermutation order(flags.seed, 0, count);
  std::vector<SamplerRun> runs(static_cast<size_t>(threads));
  std::barrier ready(threads);
  std::atomic<int> done{0};
  const auto work = [&](int thread) {
    SamplerRun& run = runs[static_cast<size_t>(thread)];
    Result<std::unique_ptr<NeighborSampler>> sampler = MakeNeighborSampler(graph.structure(), flags.sampler());
    NeighborSample sample;
    std::vector<NodeId> seeds;
    const auto draw = [&](int64_t step) {
      seeds.clear();
      for (int64_t i = 0; i < std::min(flags.batch, count); ++i) {
        seeds.push_back(train[static_cast<size_t>(order((step * flags.batch + i) % count))]);
      }
      const double start = ThreadSeconds();
      run.status = (*sampler)->Sample(seeds, {.seed = flags.seed, .step = static_cast<uint32_t>(step)}, sample);
      return ThreadSeconds() - start;
    };
    run.status = sampler.status();
    for (int64_t i = 0; run.status.ok() && i < kWarmUp; ++i) draw(thread + i * threads);
    ready.arrive_and_wait();
    const Clock::time_point start = Clock::now();
    for (int64_t i = 0; run.status.ok() && i < flags.batches; ++i) {
      run.batch_seconds.push_back(draw(thread + (kWarmUp + i) * threads));
      run.nodes += sample.num_nodes();
      for (const NeighborSample::Rows& rows : sample.rows) {
        run.edges += static_cast<int64_t>(rows.columns.size());
        run.rows += static_cast<int64_t>(rows.row_offsets.size()) - 1;
      }
    }
    run.batches_per_second = static_cast<double>(run.batch_seconds.size()) / SecondsSince(start);
    done.fetch_add(1);
    for (int64_t i = flags.batches; run.status.ok() && done.load() < threads; ++i)
      draw(thread + (kWarmUp + i) * threads);
  };
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread) pool.emplace_back(work, thread);
  for (std::thread& thread : pool) thread.join();
  SamplerRun all_runs;
  for (const SamplerRun& run : runs) {
    all_runs.batch_seconds.insert(all_runs.batch_seconds.end(), run.batch_seconds.begin(), run.batch_seconds.end());
    all_runs.batches_per_second += run.batches_per_second;
    all_runs.nodes += run.nodes;
    all_runs.edges += run.edges;
    all_runs.rows += run.rows;
    if (!run.status.ok()) all_runs.status = run.status;
  }
  return all_runs;
}

Status RunSamplerBench(const BenchFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, Open(flags));
  const SamplerRun run = RunSamplers(*graph, flags, flags.threads);
  HONE_RETURN_IF_ERROR(run.status);
  const auto batches = static_cast<double>(run.batch_seconds.size());
  const double median = Median(run.batch_seconds);
  nlohmann::json report = {
      {"benchmark", "sampler"},
      {"graph", graph->name()},
      {"fanout", flags.fanout},
      {"batch", flags.batch},
      {"frontier", flags.frontier},
      {"threads", flags.threads},
      {"batches", run.batch_seconds.size()},
      {"cpu_ms_per_batch",
       {{"min", 1e3 * *std::min_element(run.batch_seconds.begin(), run.batch_seconds.end())},
        {"median", 1e3 * median},
        {"max", 1e3 * *std::max_element(run.batch_seconds.begin(), run.batch_seconds.end())}}},
      {"batches_per_second", run.batches_per_second},
      {"nodes_per_batch", static_cast<double>(run.nodes) / batches},
      {"edges_per_batch", static_cast<double>(run.edges) / batches},
      {"cpu_ns_per_edge", 1e9 * median * batches / static_cast<double>(std::max<int64_t>(run.edges, 1))}};
  const std::span<const NodeId> columns = graph->structure().columns;
  RandomReads reads;
  if (!columns.empty()) {
    // A sampler needs at least one read for each neighbor drawn and one for each row it is drawn from.
    HONE_ASSIGN_OR_RETURN(reads, ReadAtRandom(columns, 1));
    report["rows_per_batch"] = static_cast<double>(run.rows) / batches;
    report["random_reads_per_cpu_second"] = reads.per_cpu_second;
    report["same_reads_cpu_ms_per_batch"] =
        1e3 * static_cast<double>(run.edges + run.rows) / batches / reads.per_cpu_second;
  }
  if (flags.threads > 1) {
    const SamplerRun one = RunSamplers(*graph, flags, 1);
    HONE_RETURN_IF_ERROR(one.status);
    const double scaling = run.batches_per_second / one.batches_per_second;
    report["batches_per_second_of_one_thread"] = one.batches_per_second;
    report["scaling"] = scaling;
    if (!columns.empty()) {
      HONE_ASSIGN_OR_RETURN(const RandomReads random_reads, ReadAtRandom(columns, flags.threads));
      report["random_reads_per_second"] = random_reads.per_second;
      report["random_reads_per_second_of_one_process"] = reads.per_second;
      report["scaling_of_random_reads"] = random_reads.per_second / reads.per_second;
      report["scaling_over_that_of_random_reads"] = scaling / (random_reads.per_second / reads.per_second);
    }
  }
  if (flags.json) {
    hone::Print("{}\n", DumpJson(report, 2));
    return Status::Ok();
  }
  const nlohmann::json& ms = report["cpu_ms_per_batch"];
  hone::Print("{}: fanout {}, {} seeds a batch, {} frontier, {} threads\n", graph->name(), fmt::join(flags.fanout, ","),
              flags.batch, flags.frontier, flags.threads);
  hone::Print("  {:.2f} ms of processor time a batch (median of {}; {:.2f} to {:.2f}), {:.1f} ns an edge\n",
              ms["median"].get<double>(), run.batch_seconds.size(), ms["min"].get<double>(), ms["max"].get<double>(),
              report["cpu_ns_per_edge"].get<double>());
  hone::Print("  {:.0f} nodes and {:.0f} edges a batch, {:.0f} batches a second\n",
              report["nodes_per_batch"].get<double>(), report["edges_per_batch"].get<double>(),
              report["batches_per_second"].get<double>());
  if (report.contains("same_reads_cpu_ms_per_batch")) {
    hone::Print("  as many uniformly random reads and nothing else: {:.2f} ms\n",
                report["same_reads_cpu_ms_per_batch"].get<double>());
  }
  if (flags.threads > 1) {
    hone::Print("  {:.2f} times the batches a second of one thread\n", report["scaling"].get<double>());
    if (report.contains("scaling_of_random_reads")) {
      hone::Print("  {} processes that only read at random: {:.2f} times one of them\n", flags.threads,
                  report["scaling_of_random_reads"].get<double>());
    }
  }
  return Status::Ok();
}

// Measures the pipeline. The consumer sleeps and does not compute, as the consumer of a device does, so the preparing
// threads have all processors.
Status RunPipelineBench(const BenchFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, Open(flags));
  BatchPipelineOptions options;
  options.sampler = flags.sampler();
  options.batch = flags.batch;
  options.seed = flags.seed;
  options.workers = flags.threads;
  options.queue = flags.queue;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline, BatchPipeline::Make(graph, options));
  for (int epoch = 0; epoch < flags.epochs; ++epoch) {
    HONE_RETURN_IF_ERROR(pipeline->Start({.seeds = graph->train_nodes(), .epoch = static_cast<uint32_t>(epoch)}));
  }
  const Clock::time_point start = Clock::now();
  int64_t row_bytes = 0;
  for (int epoch = 0; epoch < flags.epochs;) {
    HONE_ASSIGN_OR_RETURN(const BatchLease lease, pipeline->Next());
    if (!lease) {
      ++epoch;
      continue;
    }
    row_bytes += lease->features.num_rows * lease->features.stride_bytes;
    if (flags.consume_ms > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(flags.consume_ms));
  }
  const double wall = SecondsSince(start);
  const PipelineTimes times = pipeline->TakeTimes();
  const auto batches = static_cast<double>(std::max<int64_t>(times.batches, 1));
  const nlohmann::json report = {
      {"benchmark", "pipeline"},
      {"graph", graph->name()},
      {"fanout", flags.fanout},
      {"batch", flags.batch},
      {"frontier", flags.frontier},
      {"workers", flags.threads},
      {"epochs", flags.epochs},
      {"batches", times.batches},
      {"consume_ms", flags.consume_ms},
      {"wall_ms_per_batch", 1e3 * wall / batches},
      {"sample_cpu_ms_per_batch", 1e3 * times.sample_seconds / batches},
      {"slice_cpu_ms_per_batch", 1e3 * times.slice_seconds / batches},
      {"exposed_wait_ms_per_batch", 1e3 * times.wait_seconds / batches},
      {"rows_mib_per_batch", static_cast<double>(row_bytes) / batches / (1 << 20)},
      {"slice_gb_per_second",
       times.slice_seconds > 0 ? 1e-9 * static_cast<double>(row_bytes) / times.slice_seconds : 0},
      {"nodes_per_batch", static_cast<double>(times.nodes) / batches},
      {"edges_per_batch", static_cast<double>(times.edges) / batches}};
  if (flags.json) {
    hone::Print("{}\n", DumpJson(report, 2));
    return Status::Ok();
  }
  const auto value = [&report](const char* key) { return report[key].get<double>(); };
  hone::Print("{}: fanout {}, {} seeds a batch, {} frontier, {} workers, {} batches\n", graph->name(),
              fmt::join(flags.fanout, ","), flags.batch, flags.frontier, flags.threads, times.batches);
  hone::Print("  {:.2f} ms a batch on the clock, of which the consumer waited {:.2f}\n", value("wall_ms_per_batch"),
              value("exposed_wait_ms_per_batch"));
  hone::Print("  processor time a batch: sample {:.2f} ms, slice {:.2f} ms ({:.1f} MiB of rows, {:.1f} GB/s)\n",
              value("sample_cpu_ms_per_batch"), value("slice_cpu_ms_per_batch"), value("rows_mib_per_batch"),
              value("slice_gb_per_second"));
  return Status::Ok();
}

void AddCommonOptions(CLI::App& command, const std::shared_ptr<BenchFlags>& flags) {
  command
      .add_option("graph", flags->graph,
                  "a graph file (container) that convert or generate wrote, or a graph that is made on the spot, such "
                  "as 'synthetic:arxiv?scale=0.1&seed=1'")
      ->required();
  command
      .add_option("--fanout", flags->fanout,
                  "how many neighbors each hop draws, the hop next to the seeds first; all: every one")
      ->transform([](const std::string& text) { return text == "all" ? std::to_string(kAllNeighbors) : text; })
      ->delimiter(',')
      ->default_str("15,10,5");
  command.add_option("--batch", flags->batch, "how many training nodes (seeds) a batch has")
      ->check(kAboveZero)
      ->capture_default_str();
  command
      .add_option("--frontier", flags->frontier,
                  "for which nodes a hop draws neighbors: all (every node reached so far, with new draws) or new (only "
                  "the nodes that the hop before added)")
      ->check(CLI::IsMember({"all", "new"}))
      ->capture_default_str();
  AddLoadFlag(command, flags->load);
  command.add_option("--seed", flags->seed, "the random seed of the order of training nodes and of the draws")
      ->capture_default_str();
  command.add_flag("--json", flags->json, "write JSON");
}

void AddSamplerBench(CLI::App& bench, CommandResult& result) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = bench.add_subcommand("sampler", "time the sampling of batches alone");
  AddCommonOptions(*command, flags);
  command->add_option("--threads", flags->threads, "how many threads sample, each its own batches")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--batches", flags->batches, "how many batches each thread draws")
      ->check(kAboveZero)
      ->capture_default_str();
  command->callback([flags, &result] {
    const Status status = RunSamplerBench(*flags);
    if (!status.ok()) result.exit_status = ReportStatus(status);
  });
}

void AddPipelineBench(CLI::App& bench, CommandResult& result) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = bench.add_subcommand(
      "pipeline", "time the preparation of whole epochs' batches: sampling and gathering features");
  AddCommonOptions(*command, flags);
  command->add_option("--workers", flags->threads, "how many threads prepare batches")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--queue", flags->queue, "how many batches may be under way; 0: two more than workers")
      ->check(kZeroOrMore);
  command->add_option("--epochs", flags->epochs, "how many passes over the training nodes are made")
      ->check(kAboveZero)
      ->capture_default_str();
  command
      ->add_option("--consume-ms", flags->consume_ms, "how long the consumer sleeps for each batch, as if it were busy")
      ->check(kZeroOrMore);
  command->callback([flags, &result] {
    const Status status = RunPipelineBench(*flags);
    if (!status.ok()) result.exit_status = ReportStatus(status);
  });
}

}  // namespace

void RegisterBenchCommand(CLI::App& app, CommandResult& result) {
  CLI::App* bench = app.add_subcommand("bench", "time parts of the engine on this machine");
  bench->require_subcommand(1);
  AddSamplerBench(*bench, result);
  AddPipelineBench(*bench, result);
}

}  // namespace hone::gnn
