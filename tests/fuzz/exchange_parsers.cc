// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checksums are corrected before a text is fed, since a stranger can compute them and random bytes would never meet
// them.
#include "fuzz/exchange_parsers.h"

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/text/json_text.h"
#include "fuzz/parser_seeds.h"
#include "gnn/tune/tuned_kernels.h"
#include "hone/gnn/model_spec.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"
#include "tuner/core/plan/plan_test_support.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/device/sim/image/elf_symbols.h"
#include "tuner/device/sim/image/image_symbols.h"
#include "tuner/evaluate/bundle.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"
#include "tuner/evaluate/profiling/ncu_report.h"
#include "tuner/evaluate/sanitizing/sanitizer_report.h"
#include "tuner/store/database.h"
#include "tuner/torch/definition_files.h"
#include "tuner/torch/module_task.h"
#include "tuner/torch/operator_costs.h"
#include "tuner/tunings/tuning_analysis.h"
#include "tuner/tunings/tuning_database.h"
#include "tuner/tunings/tuning_text.h"
#include "tuner/workbench/claim.h"
#include "tuner/workbench/trace_lines.h"

namespace hone {
namespace {

using nlohmann::json;
using testing_support::PlanTask;

Evaluation DocumentedEvaluation() { return EvaluationFromJson(JsonOfPage("docs/evaluation-json.md")).value(); }

// Returns a folder in memory that stays until the program ends.
const std::string& MemoryFolder() {
  static const TemporaryDirectory folder = std::move(MakeTemporaryDirectory("/dev/shm")).value();
  static const std::string path = folder.path();
  return path;
}

// ---- claims

void FeedClaim(std::string_view text) {
  json claim = ReadJsonText(text);
  std::string corrected(text);
  if (claim.is_object()) {
    claim.erase("checksum");
    claim["checksum"] = Sha256Hex(DumpJson(claim));
    corrected = DumpJson(claim);
  }
  const Result<Claim> read = DecodeClaim(corrected, "a.claim.json");
  if (read.ok()) {
    const ClaimReport report = HoldAgainst(*read, DocumentedEvaluation());
    (void)ClaimText(*read, report);
    (void)ClaimJson(*read, report);
    (void)EncodeClaim(*read);
  }
  static const std::string source = FileText("tasks/relu/seed.cu");
  (void)ClaimOfFile(PlanTask(), source, "mine.cu", text).ok();
}
std::vector<std::string> ClaimSeeds() {
  Claim claim;
  claim.task = PlanTask();
  claim.request.source = testing_support::Source(testing_support::OneLaunch());
  claim.request.name = "mine.cu";
  claim.evaluation = DocumentedEvaluation();
  claim.evaluation.task = claim.task.name;
  claim.evaluation.source_hash = Sha256Hex(claim.request.source);
  claim.version = "0.1.0";
  const std::string text = EncodeClaim(claim);
  if (!DecodeClaim(text, "a").ok()) std::abort();
  return {text};
}

// ---- the tuning database

// An entry with one point, whose texts the fuzzer replaces.
class OneEntry {
 public:
  OneEntry() {
    path_ = MemoryFolder() + "/tunings.db";
    TuningEntry entry;
    entry.task = "plans";
    entry.task_text = TaskText(PlanTask());
    entry.candidate_name = "mine.cu";
    entry.device = "NVIDIA H200";
    MeasuredPoint point;
    point.sitting = "s";
    point.binding = {{"VEC", 4}};
    point.evaluation = DocumentedEvaluation();
    database_ = TuningDatabase::Open(path_).value();
    if (!database_->Add(entry, point).ok()) std::abort();
    rows_ = Database::Open(path_, 10, false, "tuning database").value();
    if (!rows_->Execute("PRAGMA synchronous = OFF").ok()) std::abort();
  }
  TuningDatabase& Database_() { return *database_; }
  void Put(std::string_view binding, std::string_view evaluation, std::string_view device) {
    Statement update = rows_->Prepare("UPDATE points SET binding = ?, evaluation = ?").value();
    if (!update.Bind(1, binding).Bind(2, evaluation).Run().ok()) std::abort();
    Statement name = rows_->Prepare("UPDATE entries SET device = ?").value();
    if (!name.Bind(1, device).Run().ok()) std::abort();
  }

 private:
  std::string path_;
  std::unique_ptr<TuningDatabase> database_;
  std::unique_ptr<Database> rows_;
};

void UseDatabase(TuningDatabase& database) {
  const Result<std::vector<TuningRow>> rows = database.Entries();
  if (!rows.ok()) return;
  (void)TuningRowsText(*rows);
  (void)TuningRowsJson(*rows);
  for (const TuningRow& row : *rows) {
    const Result<std::vector<MeasuredPoint>> points = database.Points(row.id);
    if (!points.ok()) continue;
    (void)KnownPoints(*points, 1, 0);
    const RowPoints entry{row, *points};
    const Explanation explanation = ExplainEntry(entry, {entry}, 3);
    (void)ExplanationText(row, explanation);
    (void)ExplanationJson(row, explanation);
  }
}

// The input is a whole database file, a stored task, or a point: the binding, a line feed, and the evaluation.
void FeedTunings(std::string_view text) {
  if (text.starts_with("SQLite format 3")) {
    const std::string path = MemoryFolder() + "/foreign.db";
    if (!WriteFileAtomicallyUnflushed(path, text).ok()) std::abort();
    const Result<std::unique_ptr<TuningDatabase>> database = TuningDatabase::Open(path, /*read_only=*/true);
    if (database.ok()) UseDatabase(**database);
    return;
  }
  (void)TaskFromText(std::string(text)).ok();
  static OneEntry one;
  const size_t line = std::min(text.find('\n'), text.size());
  one.Put(text.substr(0, line), text.substr(std::min(line + 1, text.size())),
          text.substr(0, std::min<size_t>(line, 40)));
  UseDatabase(one.Database_());
}
std::vector<std::string> TuningSeeds() {
  return {TaskText(PlanTask()), "{\"VEC\":4}\n" + EvaluationToJson(DocumentedEvaluation(), -1)};
}

// ---- models of the graph engine

void FeedModelFile(std::string_view text) {
  const Result<gnn::ModelSpec> spec = gnn::ParseModelSpec(text, "gcn.toml");
  if (!spec.ok()) return;
  (void)gnn::LayersOf(*spec).ok();
  for (const int64_t width : {int64_t{16}, int64_t{1} << 40}) (void)gnn::CheckModelSpec(*spec, width, 7).ok();
  const Result<gnn::ModelSpec> again = gnn::ParseModelSpec(gnn::ModelSpecText(*spec), "again.toml");
  // What was read once is written so that it reads back as the same.
  if (!again.ok() || !gnn::SpecDifference(*spec, *again).empty()) std::abort();
}
std::vector<std::string> ModelFileSeeds() {
  return {FileText("examples/gnn_models/gcn.toml"), FileText("examples/gnn_models/residual_gat.toml"),
          FileText("examples/gnn_models/mixed.toml")};
}

// The input is each of the three files of tuning: a folder's tasks, a winner beside its task, and what a training run
// takes.
void FeedTuningFiles(std::string_view text) {
  const std::string folder = MemoryFolder() + "/tasks", run = MemoryFolder() + "/m.tuned.json";
  static const bool made = MakeDirectories(folder + "/sum").ok();
  if (!made) std::abort();
  for (const std::string& path : {run, folder + "/tasks.json", folder + "/sum/winner.json"}) {
    if (!WriteFileAtomicallyUnflushed(path, text).ok()) std::abort();
  }
  const Result<gnn::TunedKernels> tuned = gnn::ReadTunedKernels(run);
  if (tuned.ok()) (void)gnn::TunedText(*tuned);
  const Result<gnn::TaskFolder> tasks = gnn::ReadTaskFolder(folder);
  if (tasks.ok()) (void)gnn::WhyNotHere(tasks->place, gnn::TuningPlace{});
  gnn::TaskFolder known;
  known.tasks.push_back({"sum", {{"a0", {{"rows", 64}, {"d", 32}}}}});
  (void)gnn::ReadWinners(folder, known, {{"sum", std::string(64, 'a')}}, "NVIDIA H200").ok();
}
std::vector<std::string> TuningFileSeeds() {
  gnn::TunedKernels tuned;
  tuned.place = {"gcn", std::string(64, 'b'), "g", 1000, true, {10, 10}, 512, "NVIDIA H200"};
  tuned.choices.aggregates["a0"] = {};
  tuned.choices.aggregates["a0"].forward = gnn::SumChoice{.lanes = 16};
  return {gnn::TunedText(tuned), gnn::TasksText(tuned.place, {}),
          "{\"hone_winner\": 1, \"task\": \"sum\", \"candidate\": \"engine.cu\", \"candidate_sha256\": \"" +
              std::string(64, 'a') +
              "\", \"device\": {\"name\": \"NVIDIA H200\", \"modelled\": false, \"judge\": \"gates 5\"}, \"verdict\": "
              "\"ok\", \"shapes\": "
              "[{\"dims\": {\"rows\": 64, \"d\": 32}, \"binding\": {\"LANES\": 16, \"AHEAD\": 4, \"BLOCK\": 128}, "
              "\"speedup\": "
              "{\"median\": 1.3, \"low\": 1.2, \"high\": 1.4}}]}"};
}

// ---- definitions of boards, and the report that Python makes of them or of a user's module

void FeedModuleReport(std::string_view text) {
  ModuleTaskOptions options;
  options.name = "made";
  options.file = "problem.py";
  options.text = "import torch\n";
  (void)DraftOfReport(options, text).ok();
}
std::vector<std::string> ModuleReportSeeds() {
  return {
      "{\"torch\": \"9.9\", \"class\": \"gemm\", \"slice\": \"rows\", \"special\": [\"subnormal\"], \"operators\": "
      "[\"addmm\"],"
      "\"flops\": \"2 * rows * stride\", \"checks\": [{\"rows\": 1, \"stride\": 2}], \"notes\": [\"heads = 8 is "
      "fixed\"],"
      "\"dims\": [{\"name\": \"rows\", \"size\": 128, \"multiple\": 1, \"low\": 1, \"high\": 9, \"alone\": true},"
      "{\"name\": \"stride\", \"size\": 64, \"multiple\": 2, \"low\": 2, \"high\": 8, \"alone\": false}],"
      "\"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [\"rows\", \"stride\"], \"values\": "
      "{\"distribution\": "
      "\"uniform\", \"low\": 0.0, \"high\": 1.0}}, {\"name\": \"scale\", \"value\": 2.0}, {\"name\": \"eps\", "
      "\"value\": 1e-5, "
      "\"scalar\": \"float32\"}], \"timed\": [{\"rows\": 16, \"stride\": 64}], \"summary\": \"rows by a layer\","
      "\"state\": [{\"name\": \"fc.weight\", \"dtype\": \"float32\", \"shape\": [\"8\", \"stride\"], \"role\": \"in\", "
      "\"values\": "
      "{\"distribution\": \"uniform\", \"low\": \"-1 / sqrt(stride)\", \"high\": \"1 / sqrt(stride)\"}}, {\"name\": "
      "\"fc_weight\", "
      "\"dtype\": \"float32\", \"shape\": [\"8\"], \"role\": \"inout\", \"values\": {\"distribution\": \"normal\"}, "
      "\"tolerance\": "
      "{\"c_max\": 1e-4, \"c_rms\": 1e-5}}], \"outputs\": [{\"name\": \"out\", \"dtype\": \"float32\", \"shape\": "
      "[\"rows\", \"8\"], "
      "\"tolerance\": {\"c_max\": 2e-4, \"c_rms\": 1e-5, \"honest_rms\": 3e-7, \"dishonest\": 4e-4, \"least\": "
      "\"tf32\"}}]}",
      "{\"torch\": \"2.8\", \"class\": \"elementwise\", \"seed\": \"/*hone\\n[[launch]]\\nkernel = \\\"k\\\"\\ngrid = "
      "\\\"@{dn}\\\"\\nblock = "
      "32\\nargs = [\\\"@{tin x}\\\"]\\n*/\\n\", \"board\": {\"problem\": \"p\", \"leaves\": [0], \"filled\": [1], "
      "\"inputs\": 2},"
      "\"dims\": [{\"name\": \"n\", \"size\": 4}], \"inputs\": [{\"name\": \"x\", \"dtype\": \"float16\", \"shape\": "
      "[\"n\"]}],"
      "\"outputs\": [{\"name\": \"y\", \"dtype\": \"float16\", \"shape\": [\"n\"], \"boolean\": true}], "
      "\"definition\": \"d\"}",
      "{\"error\": \"forward returns a dict: return a tensor or a tuple of tensors\"}"};
}

constexpr char kDefinedTask[] = R"(
name = "norm"
summary = "rows of unit length"
class = "reduction"
[dims]
rows = "rows"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "8"]
[[tensor]]
name = "y"
role = "out"
dtype = "float32"
shape = ["rows", "8"]
[reference]
kind = "torch"
inputs = ["x"]
outputs = ["y"]
definition = "norm_h8"
[reference.sizes]
rows = "batch"
[tolerance.y]
c_max = 1e-5
c_rms = 1e-6
[[case]]
role = "time"
dims = { rows = 64 }
[[case]]
role = "check"
dims = { rows = 3 }
)";

// The input is the file of workloads beside a definition.
void FeedWorkloads(std::string_view text) {
  static const Task task = ParseTask(kDefinedTask, "task.toml").value();
  static const std::string definition = MemoryFolder() + "/d.json", workloads = MemoryFolder() + "/d.jsonl";
  if (!WriteFileAtomicallyUnflushed(definition, text).ok() || !WriteFileAtomicallyUnflushed(workloads, text).ok())
    std::abort();
  (void)ReadDefinitionFiles(definition, "").ok();
  Evaluation evaluation;
  evaluation.verdict = Verdict::kOk;
  evaluation.device = "cuda:0 NVIDIA H200";
  CaseResult result;
  result.dims = {{"rows", 64}};
  result.time_us = Interval{250, 240, 260};
  evaluation.cases.push_back(result);
  (void)TraceLines(task, evaluation, {"s", "2026-11-24T04:00:00Z", "0.1.0", std::string(text)}).ok();
}
std::vector<std::string> WorkloadSeeds() {
  return {
      "{\"definition\": \"norm_h8\", \"workload\": {\"axes\": {\"batch\": 64}, \"inputs\": {\"x\": {\"type\": "
      "\"random\"}}, \"uuid\": "
      "\"first\"}, \"solution\": null}\n\n"
      "{\"axes\": {\"batch\": 64, \"more\": 2}, \"inputs\": {\"x\": {\"type\": \"safetensors\", \"path\": "
      "\"a/b.safetensors\"}}, \"uuid\": "
      "\"second\"}\n"};
}

// ---- processes in which a stranger's source was compiled or ran

// The input is a frame's header, and after each empty line a blob.
void FeedCompilingProcess(std::string_view text) {
  Frame frame;
  size_t end = std::min(text.find("\n\n"), text.size());
  frame.header = std::string(text.substr(0, end));
  while (end < text.size()) {
    text.remove_prefix(end + 2);
    end = std::min(text.find("\n\n"), text.size());
    frame.blobs.emplace_back(text.substr(0, end));
  }
  const Result<NvrtcReply> reply = DecodeReply(frame);
  if (reply.ok()) (void)EncodeReply(*reply);
  (void)DecodeJob(frame).ok();
  (void)DecodeSetup(frame).ok();
  (void)DecodeGreeting(frame).ok();
  (void)DecodeChildEnd(frame).ok();
}
std::vector<std::string> CompilingProcessSeeds() {
  NvrtcReply reply;
  reply.ok = true;
  reply.log = "a warning";
  reply.cubin =
      "\x7f"
      "ELF";
  reply.lowered = {{"scale<float>", "_Z5scaleIfEvPT_"}};
  std::vector<std::string> seeds{"{\"ok\": true, \"pch\": false}",
                                 "{\"signal\": 11, \"exit\": 0, \"timed_out\": false, \"out_of_memory\": true}"};
  for (const WireMessage& message : {EncodeReply(reply), EncodeJob({"k.cu", "__global__ void k() {}", {"k"}})}) {
    std::string& seed = seeds.emplace_back(message.header);
    for (const std::string& blob : message.blobs) seed += "\n\n" + blob;
  }
  return seeds;
}

// The input is an object file or a library that the host's compiler made of a stranger's source.
void FeedHostImage(std::string_view text) {
  (void)sim::ReadElfSymbols(text).ok();
  (void)sim::ReadElfDynamicSymbols(text).ok();
  (void)sim::ReadImageSymbols(text).ok();
}
// Returns a small shared library's tables: an ELF header, three sections (strings, symbols, their names), three
// symbols.
std::vector<std::string> HostImageSeeds() {
  const auto number = [](uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  const std::string strings("\0k\0hone_dynamic_shared\0hone_entry_0\0.strtab\0.symtab\0.data\0", 58);
  const auto symbol = [&](uint32_t name, int info, int section, uint64_t value, uint64_t size) {
    return number(name, 4) + number(static_cast<uint64_t>(info), 1) + number(0, 1) +
           number(static_cast<uint64_t>(section), 2) + number(value, 8) + number(size, 8);
  };
  const std::string symbols =
      symbol(0, 0, 0, 0, 0) + symbol(1, 0x11, 3, 16, 4) + symbol(3, 0x16, 3, 0, 4) + symbol(23, 0x12, 3, 64, 8);
  const auto section = [&](uint32_t name, uint32_t type, uint64_t flags, uint64_t at, uint64_t size, uint32_t link,
                           uint64_t each) {
    return number(name, 4) + number(type, 4) + number(flags, 8) + number(0, 8) + number(at, 8) + number(size, 8) +
           number(link, 4) + number(1, 4) + number(8, 8) + number(each, 8);
  };
  std::string file(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  file += std::string(9, '\0') + number(3, 2) + number(62, 2) + number(1, 4) + number(0, 8) + number(0, 8);
  const uint64_t strings_at = 64, symbols_at = strings_at + strings.size(), sections_at = symbols_at + symbols.size();
  std::vector<std::string> seeds;
  for (const uint32_t kind : {2u, 11u}) {
    std::string one = file + number(sections_at, 8) + number(0, 4) + number(64, 2) + number(0, 2) + number(0, 2) +
                      number(64, 2) + number(4, 2) + number(1, 2);
    one += strings + symbols;
    one += section(0, 0, 0, 0, 0, 0, 0) + section(36, 3, 0, strings_at, strings.size(), 0, 0) +
           section(44, kind, 2, symbols_at, symbols.size(), 1, 24) + section(52, 1, 3, strings_at, 8, 0, 0);
    if (!(kind == 2 ? sim::ReadElfSymbols(one) : sim::ReadElfDynamicSymbols(one)).ok()) std::abort();
    seeds.push_back(std::move(one));
  }
  return seeds;
}

// The input is a profiler's table, in which kernels' names stand.
void FeedProfilerTable(std::string_view text) {
  (void)ParseNcuCsv(text).ok();
  (void)UnknownMetrics(text);
}
std::vector<std::string> ProfilerTableSeeds() {
  const std::string head =
      "==PROF== Connected to process 7 (/usr/bin/hone)\n==PROF== Profiling \"k\": 0%....50%....100% - 3 passes\n"
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
      "Size\",\"Grid Size\",\"Device\",\"CC\","
      "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const std::string row =
      "\"0\",\"7\",\"hone\",\"127.0.0.1\",\"void k<8>(float, int)\",\"1\",\"13\",\"(256, 1, 1)\",\"(4096, 1, "
      "1)\",\"0\",\"9.0\","
      "\"Command line profiler metrics\",\"dram__bytes_read.sum\",\"byte\",\"4,194,304\"\n";
  if (!ParseNcuCsv(head + row).ok()) std::abort();
  return {head + row, "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n",
          "==ERROR== Failed to find metric a.sum\n"};
}

// The input is compute-sanitizer's log, in which kernels' names stand.
void FeedSanitizerLog(std::string_view text) { (void)ReadSanitizerLog(text); }
std::vector<std::string> SanitizerLogSeeds() {
  const std::string fault =
      "========= COMPUTE-SANITIZER\n========= Invalid __global__ read of size 4 bytes\n=========     at k(float*)+0x1a0 in k.cu:7\n"
      "=========     by thread (3,0,0) in block (7,0,0)\n=========     Address 0x7f2a8c000fac is out of bounds\n"
      "=========     and is 1 bytes after the nearest allocation at 0x7f2a8c000000 of size 4,012 bytes\n========= \n"
      "========= ERROR SUMMARY: 1 error\n";
  const std::string race =
      "========= Warning: Race reported between Write access at k+0xf0\n=========     and Read access at k+0x280 [4 hazards]\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n";
  if (ReadSanitizerLog(fault).faults.empty() || ReadSanitizerLog(race).faults.empty()) std::abort();
  return {fault, race, "========= Uninitialized __shared__ memory read of size 4 bytes\n=========     Address 0x0\n"};
}

// The input is operator_times.py's report, in whose process a user's module ran.
void FeedOperatorTimes(std::string_view text) {
  const Result<OperatorProfile> profile = ReadOperatorProfile(text);
  if (!profile.ok()) return;
  (void)MeasuredCostNotes(*profile);
  (void)ComputedCostNotes(profile->costs, "");
  (void)ProfileJson(*profile);
}
std::vector<std::string> OperatorTimesSeeds() {
  const std::string report =
      "{\"device\": \"NVIDIA H200\", \"torch\": \"2.11.0\", \"on_gpu\": true, \"training\": true, \"sizes\": {\"rows\": 512}, \"warm_calls\": 3, \"calls\": 15, "
      "\"own\": 5244928, \"timer_us\": 1.5, \"all_us\": {\"median\": 80, \"low\": 79, \"high\": 82}, \"forward_us\": {\"median\": 75, \"low\": 74, \"high\": 76}, "
      "\"operators\": [{\"name\": \"addmm\", \"calls\": 1, \"bytes\": 5244928, \"flops\": 536870912, \"us\": {\"median\": 61.25, \"low\": 60, \"high\": 62}}]}";
  if (!ReadOperatorProfile(report).ok()) std::abort();
  return {report, "{\"error\": \"OutOfMemoryError: CUDA out of memory\"}"};
}

constexpr TextParser kParsers[] = {
    {"claim", FeedClaim, ClaimSeeds},
    {"tuning database", FeedTunings, TuningSeeds},
    {"model file", FeedModelFile, ModelFileSeeds},
    {"module report", FeedModuleReport, ModuleReportSeeds},
    {"workloads", FeedWorkloads, WorkloadSeeds},
    {"compiling process", FeedCompilingProcess, CompilingProcessSeeds},
    {"host image", FeedHostImage, HostImageSeeds},
    {"profiler table", FeedProfilerTable, ProfilerTableSeeds},
};
// Parsers that came after NetworkParsers, whose places must stay.
constexpr TextParser kLaterParsers[] = {{"tuning files", FeedTuningFiles, TuningFileSeeds},
                                        {"sanitizer log", FeedSanitizerLog, SanitizerLogSeeds},
                                        {"operator times", FeedOperatorTimes, OperatorTimesSeeds}};

}  // namespace

std::span<const TextParser> ExchangeParsers() { return kParsers; }
std::span<const TextParser> LaterExchangeParsers() { return kLaterParsers; }

}  // namespace hone
