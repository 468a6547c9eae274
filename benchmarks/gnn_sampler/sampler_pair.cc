// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times the sampler and the SALIENT scheme, a few batches at a time on request, so that another program can take turns
// with it on the same machine, graph and seeds (tools/bench-pyg-lib does).
//
//   sampler_pair GRAPH [--fanout 15,10,5] [--batch 1024] [--steps 64] [--frontier new|all] [--pages huge|small]
//                [--table auto|direct|hash] [--export DIR]
//
// Writes one line of JSON that describes the graph, then answers each line "SUBJECT FIRST COUNT" of standard input
// with one line: the processor seconds of this thread for the steps FIRST … FIRST + COUNT - 1, nodes and edges.
// SUBJECT: sample, slice (sample and slice), salient, salient_slice. --export DIR: writes row_offsets.i64,
// columns.i32 and seeds.i32 there, raw, for the other program. Ends at the end of its input.
//
//   sampler_pair GRAPH --salient-rounds N [--per-round 4] …
//
// With --salient-rounds, the program takes turns by itself. Hone's sampler and the SALIENT scheme run N rounds each,
// drawing alone and drawing with slicing; one JSON report has the ratios round by round. Both draw for all nodes known
// so far, as SALIENT does.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/arguments.h"
#include "benchmarks/gnn_sampler/salient_scheme.h"
#include "gnn/batch/slice_rows.h"
#include "gnn/sample/fast_sampler.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn {
namespace {

struct Arguments {
  std::string graph, frontier = "new", pages = "huge", table = "auto", export_directory;
  std::vector<int32_t> fanout = {15, 10, 5};
  int64_t batch = 1024, steps = 64, salient_rounds = 0, per_round = 4;
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

struct Answer {
  double cpu_seconds = 0;
  int64_t nodes = 0, edges = 0;
  nlohmann::json json() const { return {{"cpu_seconds", cpu_seconds}, {"nodes", nodes}, {"edges", edges}}; }
};

// The graph, both samplers, and the seeds of all steps.
class Subjects {
 public:
  static Result<std::unique_ptr<Subjects>> Make(const Arguments& arguments) {
    auto subjects = std::make_unique<Subjects>();
    HONE_RETURN_IF_ERROR(subjects->Open(arguments));
    return subjects;
  }

  Status Export(const std::string& directory) const {
    HONE_RETURN_IF_ERROR(WriteRaw(directory + "/row_offsets.i64", csr_.row_offsets));
    HONE_RETURN_IF_ERROR(WriteRaw(directory + "/columns.i32", csr_.columns));
    return WriteRaw(directory + "/seeds.i32", std::span<const NodeId>(seeds_));
  }

  nlohmann::json Facts() const {
    return {{"graph", graph_->name()}, {"nodes", csr_.num_nodes}, {"edges", csr_.num_edges()},
            {"train_nodes", graph_->train_nodes().size()}, {"row_bytes", graph_->features().stride_bytes}};
  }

  Result<Answer> Ask(const std::string& subject, int64_t first, int64_t count) {
    const bool slices = subject.ends_with("slice");
    Answer answer;
    for (int64_t step = first; step < first + count; ++step) {
      const auto begin = static_cast<size_t>(step % arguments_.steps * arguments_.batch);
      const auto batch = std::span<const NodeId>(seeds_).subspan(begin, static_cast<size_t>(arguments_.batch));
      HONE_RETURN_IF_ERROR(subject.starts_with("salient") ? Theirs(batch, step, slices, answer) : Ours(batch, step, slices, answer));
    }
    return answer;
  }

 private:
  Status Open(const Arguments& arguments) {
    arguments_ = arguments;
    pages_ = arguments.pages == "huge" ? PageKind::kHuge : PageKind::kSmall;
    HONE_ASSIGN_OR_RETURN(graph_, OpenGraph(arguments.graph));
    const CsrView original = graph_->structure();
    // Both samplers read copies of the graph on the same kind of pages.
    HONE_ASSIGN_OR_RETURN(offsets_, CopyTo(original.row_offsets, pages_));
    HONE_ASSIGN_OR_RETURN(columns_, CopyTo(original.columns, pages_));
    csr_ = {original.num_nodes, {reinterpret_cast<const int64_t*>(offsets_.data()), original.row_offsets.size()},
            {reinterpret_cast<const NodeId*>(columns_.data()), original.columns.size()}};
    const FrontierRule rule = arguments.frontier == "new" ? FrontierRule::kNewOnly : FrontierRule::kAllSoFar;
    SamplerTuning tuning{.pages = pages_};
    if (arguments.table == "hash") tuning.table = SamplerTuning::Table::kHash;
    if (arguments.table == "direct") tuning.table = SamplerTuning::Table::kDirect;
    HONE_ASSIGN_OR_RETURN(sampler_, MakeFastSampler(csr_, {arguments.fanout, rule}, tuning));
    const std::span<const NodeId> train = graph_->train_nodes();
    if (train.empty()) return Status::InvalidArgument(arguments.graph + " has no training nodes");
    const auto count = static_cast<int64_t>(train.size());
    const IndexPermutation order(1, 0, count);
    for (int64_t i = 0; i < arguments.steps * arguments.batch; ++i) seeds_.push_back(train[static_cast<size_t>(order(i % count))]);
    return Status::Ok();
  }

  Status Ours(std::span<const NodeId> batch, int64_t step, bool slices, Answer& answer) {
    double start = ThreadSeconds();
    HONE_RETURN_IF_ERROR(sampler_->Sample(batch, {.seed = 1, .step = static_cast<uint32_t>(step)}, sample_));
    answer.cpu_seconds += ThreadSeconds() - start;
    if (slices) {
      HONE_RETURN_IF_ERROR(RequireRows(sample_.num_nodes()));
      start = ThreadSeconds();
      SliceRows(graph_->features(), sample_.nodes, rows_.data());
      answer.cpu_seconds += ThreadSeconds() - start;
    }
    answer.nodes += sample_.num_nodes();
    for (const NeighborSample::Rows& rows : sample_.rows) answer.edges += static_cast<int64_t>(rows.columns.size());
    return Status::Ok();
  }

  Status Theirs(std::span<const NodeId> batch, int64_t step, bool slices, Answer& answer) {
    if (salient_ == nullptr) {
      const std::vector<int64_t> wide(csr_.columns.begin(), csr_.columns.end());
      HONE_ASSIGN_OR_RETURN(wide_columns_, CopyTo(std::span<const int64_t>(wide), pages_));
      const std::span<const int64_t> columns(reinterpret_cast<const int64_t*>(wide_columns_.data()), wide.size());
      salient_ = std::make_unique<SalientScheme>(csr_.row_offsets, columns,
                                                 std::vector<int>(arguments_.fanout.begin(), arguments_.fanout.end()));
    }
    const std::vector<int64_t> wide(batch.begin(), batch.end());
    double start = ThreadSeconds();
    salient_->Sample(wide, static_cast<uint64_t>(step));
    answer.cpu_seconds += ThreadSeconds() - start;
    if (slices) {
      HONE_RETURN_IF_ERROR(RequireRows(static_cast<int64_t>(salient_->nodes().size())));
      start = ThreadSeconds();
      salient_->Slice(graph_->features(), rows_.data());
      answer.cpu_seconds += ThreadSeconds() - start;
    }
    answer.nodes += static_cast<int64_t>(salient_->nodes().size());
    answer.edges += salient_->edges();
    return Status::Ok();
  }

  Status RequireRows(int64_t nodes) {
    const auto bytes = static_cast<size_t>(nodes * graph_->features().stride_bytes);
    if (rows_.bytes() >= bytes) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(rows_, HugeBuffer::Allocate(bytes * 5 / 4));
    return Status::Ok();
  }

  Arguments arguments_;
  PageKind pages_ = PageKind::kHuge;
  std::shared_ptr<const Graph> graph_;
  HugeBuffer offsets_, columns_, wide_columns_, rows_;
  CsrView csr_;
  std::unique_ptr<NeighborSampler> sampler_;
  std::unique_ptr<SalientScheme> salient_;
  std::vector<NodeId> seeds_;
  NeighborSample sample_;
};

Status Serve(Subjects& subjects) {
  std::cout << subjects.Facts().dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string subject;
    int64_t first = 0, count = 0;
    if (!(words >> subject >> first >> count)) return Status::InvalidArgument("not a request: " + line);
    HONE_ASSIGN_OR_RETURN(const Answer answer, subjects.Ask(subject, first, count));
    std::cout << answer.json().dump() << std::endl;
  }
  return Status::Ok();
}

nlohmann::json EnvironmentJson() {
  std::string cpu, line;
  for (std::ifstream info("/proc/cpuinfo"); std::getline(info, line);) {
    if (line.starts_with("model name")) cpu = line.substr(line.find(':') + 2);
  }
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = -1;
  return {{"cpu", cpu}, {"cores", std::thread::hardware_concurrency()}, {"load_average", load}};
}

nlohmann::json SpreadJson(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"min", values.front()}, {"median", values[values.size() / 2]}, {"max", values.back()}, {"n", values.size()}};
}

Status TakeTurns(Subjects& subjects, const Arguments& arguments) {
  nlohmann::json report = {{"benchmark", "sampler_pair --salient-rounds"}, {"graph", subjects.Facts()},
                           {"fanout", arguments.fanout}, {"batch", arguments.batch}, {"frontier", arguments.frontier},
                           {"pages", arguments.pages}, {"table", arguments.table},
                           {"environment", EnvironmentJson()}, {"batches_per_round", arguments.per_round},
                           {"clock", "processor seconds of one thread"}};
  for (const std::string part : {"sample", "sample_and_slice"}) {
    const std::string ours = part == "sample" ? "sample" : "slice";
    const std::string theirs = part == "sample" ? "salient" : "salient_slice";
    std::vector<double> our_ms, their_ms, ratios;
    nlohmann::json counts;
    for (int64_t round = -1; round < arguments.salient_rounds; ++round) {  // round -1 warms up
      const int64_t first = (round + 1) * arguments.per_round;
      Answer answers[2];
      for (int turn = 0; turn < 2; ++turn) {
        const int side = (turn + static_cast<int>(round & 1)) % 2;
        HONE_ASSIGN_OR_RETURN(answers[side], subjects.Ask(side == 0 ? ours : theirs, first, arguments.per_round));
      }
      if (round < 0) continue;
      const double scale = 1e3 / static_cast<double>(arguments.per_round);
      our_ms.push_back(answers[0].cpu_seconds * scale);
      their_ms.push_back(answers[1].cpu_seconds * scale);
      ratios.push_back(answers[1].cpu_seconds / answers[0].cpu_seconds);
      counts = {{"hone", answers[0].json()}, {"salient", answers[1].json()}};
    }
    report[part] = {{"hone_ms_per_batch", SpreadJson(our_ms)}, {"salient_ms_per_batch", SpreadJson(their_ms)},
                    {"salient_over_hone", SpreadJson(ratios)}, {"last_round", counts}};
  }
  std::cout << report.dump(1) << std::endl;
  return Status::Ok();
}

Status Run(const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Subjects> subjects, Subjects::Make(arguments));
  if (!arguments.export_directory.empty()) HONE_RETURN_IF_ERROR(subjects->Export(arguments.export_directory));
  return arguments.salient_rounds > 0 ? TakeTurns(*subjects, arguments) : Serve(*subjects);
}

}  // namespace
}  // namespace hone::gnn

int main(int argc, char** argv) {
  hone::gnn::Arguments arguments;
  hone::Arguments app("Times the neighbor sampler a few batches at a time, on request.");
  app.Add("graph", arguments.graph, "", {.required = true});
  app.Add("--fanout", arguments.fanout, "", {.delimiter = ','});
  app.Add("--batch", arguments.batch, "", {.least = 1});
  app.Add("--steps", arguments.steps, "", {.least = 1});
  app.Add("--frontier", arguments.frontier, "", {.one_of = {"new", "all"}});
  app.Add("--pages", arguments.pages, "", {.one_of = {"huge", "small"}});
  app.Add("--table", arguments.table, "", {.one_of = {"auto", "direct", "hash"}});
  app.Add("--salient-rounds", arguments.salient_rounds, "", {.least = 1});
  app.Add("--per-round", arguments.per_round, "", {.least = 1});
  app.Add("--export", arguments.export_directory, "", {.existing_directory = true});
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  if (arguments.salient_rounds > 0) arguments.frontier = "all";
  const hone::Status status = hone::gnn::Run(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "sampler_pair: %s\n", status.message().c_str());
  return 3;
}
