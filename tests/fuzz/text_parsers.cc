// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each parser's result is used as far as a program uses it before any candidate runs: a task is asked for its cases, a
// plan is resolved, a run's log becomes a view and is written again.
#include "fuzz/text_parsers.h"

#include <cstdlib>
#include <map>
#include <memory>

#include "base/files/file.h"
#include "base/files/zip_archive.h"
#include "base/text/json_text.h"
#include "base/text/visible_text.h"
#include "fuzz/exchange_parsers.h"
#include "fuzz/parser_seeds.h"
#include "gnn/infer/safetensors.h"
#include "gnn/infer/state_dict.h"
#include "gnn/train/checkpoint.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/expression.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"
#include "tuner/agents/regions.h"
#include "tuner/agents/reply.h"
#include "tuner/core/plan/bindings.h"
#include "tuner/core/plan/plan_test_support.h"
#include "tuner/core/program/machine_code.h"
#include "tuner/core/program/translation_unit.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/device/sim/cuda/ptx_rewrite.h"
#include "tuner/device/sim/sim_protocol.h"
#include "tuner/evaluate/baseline/baseline_file.h"
#include "tuner/evaluate/compile/compile_digest.h"
#include "tuner/evaluate/compile/cubin_reader.h"
#include "tuner/evaluate/shapes/condition_distance.h"
#include "tuner/evaluate/spool.h"
#include "tuner/evaluate/worker/job.h"
#include "tuner/evaluate/worker/worker_main.h"
#include "tuner/interop/read/cu_source.h"
#include "tuner/interop/read/given_plan.h"
#include "tuner/interop/read/python_source.h"
#include "tuner/mcp/protocol.h"
#include "tuner/mcp/schema.h"
#include "tuner/model/chat_wire.h"
#include "tuner/model/prices.h"
#include "tuner/model/retry.h"
#include "tuner/queue/redis_connection.h"
#include "tuner/queue/worker_report.h"
#include "tuner/strategies/config_file.h"

namespace hone {
namespace {

using testing_support::H200;
using testing_support::PlanTask;

// ---- tasks, plans and what stands in them

void FeedTask(std::string_view text) {
  const Result<Task> task = ParseTask(text, "task.toml");
  if (!task.ok()) return;
  for (const Case& one : task->cases) (void)CompulsoryBytes(*task, one.dims).ok();
  for (const Case& one : DrawHiddenCases(*task, 1)) (void)CompulsoryBytes(*task, one.dims).ok();
  if (HasTorchModule(*task)) (void)TorchModuleOf(*task);
}
std::vector<std::string> TaskSeeds() {
  return {FileText("tasks/silu_and_mul/task.toml"), FileText("tasks/transpose/task.toml"),
          FileText("tasks/softmax/task.toml"),      std::string(PlanTask().toml),
          FileText("tasks/top_k/task.toml"),        FileText("tasks/mxfp4_quantize/task.toml")};
}

void UsePlan(const Candidate& candidate, const Task& task, const Dims& dims) {
  (void)ResolvePlan(candidate, task, dims, {}, H200()).ok();
  (void)AllBindings(candidate.plan);
  for (const CompileUnit& unit : CompileUnits(candidate, {})) (void)MakeTranslationUnit(candidate, task, unit);
  std::vector<std::string> names;
  std::vector<int64_t> values;
  for (const auto& [name, value] : dims) {
    names.push_back(name);
    values.push_back(value);
  }
  for (const PlanEntry& entry : candidate.plan.entries) {
    if (!entry.when) continue;
    const ConditionDistance distance(*entry.when, names, {});
    (void)distance.ToHold(values);
    (void)distance.NeverHolds();
  }
}

void FeedCandidate(std::string_view text) {
  const Result<Candidate> candidate = ParseCandidate(text, "candidate.cu", PlanTask());
  if (candidate.ok()) UsePlan(*candidate, PlanTask(), {{"tokens", 3}, {"d", 8}, {"ld", 8}});
}
std::vector<std::string> CandidateSeeds() {
  return {
      testing_support::Source(
          "options = [\"-lineinfo\"]\n[tune]\nVEC = [4, 8]\nconstraints = [\"VEC * 2 <= 16\"]\n[[workspace]]\nname = "
          "\"w\"\nbytes = \"tokens * 4\"\n[[memset]]\ntarget = \"w\"\nstep = -1\n[[tensor_map]]\nname = \"m\"\ntensor "
          "= "
          "\"x\"\ndims = [\"d\", \"tokens\"]\nstrides = [\"2 * d\"]\nbox = [8, 8]\n"
          "[[launch]]\nkernel = \"k<VEC>\"\ngrid = [\"ceil_div(tokens * d, VEC * 32)\"]\nblock = [\"32\"]\nwith = { "
          "VEC "
          "= 8 }\nargs = [\"x + 4\", \"out\", \"tokens > 2 ? d : 1:i32\", \"eps:f32\", \"struct:P{d:i64, w}\", "
          "\"tensormap:m\"]\nwhen = \"d % VEC == 0 && (tokens > 1 ? d > 2 : d < 3) || align(x) >= 16\"\n"
          "[[launch]]\nkernel = \"ns::k<1, (VEC > 4)>\"\ngrid = \"tokens\"\nblock = 1\nargs = [\"out\"]\n"),
      testing_support::Source(testing_support::OneLaunch())};
}

void FeedExpression(std::string_view text) {
  const Result<Expression> expression = Expression::Parse(text);
  if (!expression.ok()) return;
  (void)expression->Evaluate({{"a", 3}, {"b", -1}}).ok();
  (void)expression->EvaluateNumber({{"a", 3}, {"b", -1}}).ok();
  (void)expression->Names();
  (void)expression->Calls();
  const ConditionDistance distance(*expression, {"a", "b"}, {});
  (void)distance.ToHold({3, -1});
  (void)distance.ToFail({3, -1});
  (void)distance.NeverHolds();
}
std::vector<std::string> ExpressionSeeds() {
  return {"a % 4 == 0 && a * b > 4194304 || !(b <= 3)", "(a > b ? a : b) ? ceil_div(a, 2) : round_up(b, -8)",
          "min(a, max(b, 0x7fffffff), log2(a)) + occupancy(k<4, 8>) - stride(x, 0) / 9223372036854775807"};
}

void FeedTables(std::string_view text) {
  (void)ParseBaselines(text, "baseline.toml", PlanTask()).ok();
  (void)PriceTable::Parse(text, "prices.toml").ok();
  (void)ParseRunConfig(text, "run.toml").ok();
}
std::vector<std::string> TableSeeds() {
  return {"[[library]]\nkind = \"torch\"\nexpression = \"F.silu(x)\"\n",
          "[[library]]\nkind = \"cublaslt\"\na = \"x\"\nb = \"s\"\nc = \"out\"\nm = \"tokens\"\nn = \"d\"\nk = \"d\"\n",
          FileText("src/tuner/model/prices.toml").substr(0, 900),
          "strategy = \"tree\"\nattempts = 32\n[tree]\nepsilon = 0.3\n"};
}

// ---- what models say

void FeedReply(std::string_view text) {
  static const std::string parent = FileText("tasks/silu_and_mul/seed.cu");
  ModelReply reply;
  reply.text = std::string(text);
  for (const std::string_view source : {std::string_view(parent), text}) {
    const Proposal proposal = ParseReply(reply, source);
    if (proposal.problem.empty()) (void)ParseCandidate(proposal.source, "candidate.cu", PlanTask()).ok();
    (void)ParsePlanReply(reply, source, true);
  }
  if (const Proposal whole = ParseAgentReply(reply); whole.problem.empty()) {
    (void)ParseCandidate(whole.source, "candidate.cu", PlanTask()).ok();
  }
  (void)ParseTextReply(reply);
  (void)ParseCasesReply(reply, PlanTask(), 8);
  (void)RegionList(SplitRegions(text));
  (void)VisibleText(text);
}
std::vector<std::string> ReplySeeds() {
  const std::string source = FileText("tasks/silu_and_mul/seed.cu");
  return {"IDEA: wider loads\n\nWhy.\n```cuda\n" + source + "```\n",
          "IDEA: one edit\n<<<<<<< SEARCH\n#include <cuda_fp16.h>\n=======\n#include <cuda_bf16.h>\n>>>>>>> REPLACE\n",
          "IDEA: a region\nREGION: silu_and_mul\n```\ntemplate <int n>\n__global__ void silu_and_mul() {}\n```\n",
          "CASE: tokens=3, d=8, ld=16: a tail\nCASE: tokens=1, d=1, ld=1\n", source};
}

void FeedWire(std::string_view text) {
  (void)ReadWireError(text);
  (void)ParseRetryAfter(text, 1.7e9);
  for (const std::unique_ptr<ChatWire>& wire : {MakeOpenAiWire(), MakeAnthropicWire()}) {
    StreamedReply whole, streamed;
    wire->ReadWhole(text, whole);
    SseParser parser(1 << 20);
    const auto sink = [&](const SseEvent& event) { wire->ReadEvent(event, streamed); };
    for (size_t at = 0; at < text.size(); at += 4093) (void)parser.Feed(text.substr(at, 4093), sink);
    parser.Finish(sink);
    (void)streamed.TokensSoFar();
  }
}
std::vector<std::string> WireSeeds() {
  return {
      "event: message_start\ndata: "
      "{\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":7}}}\n\n"
      "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"h\\u00e9\"}}\n\n"
      "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n",
      "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,"
      "\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
      "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\",\"code\":529}}",
      "{\"detail\":[{\"loc\":[\"body\"]}]}", "{\"choices\":[{\"message\":{\"content\":\"x\"}}]}"};
}

// ---- what passes between processes and machines

void FeedSpool(std::string_view text) {
  static const TemporaryDirectory folder = std::move(MakeTemporaryDirectory("/dev/shm")).value();
  for (const char* name : {"/running/b.json", "/done/b.json", "/failed/c.json", "/device.json"}) {
    if (!WriteFileAtomicallyUnflushed(folder.path() + name, text).ok()) std::abort();
  }
  const Spool spool(folder.path());
  (void)spool.Load("b").ok();
  (void)spool.Answer("b").ok();
  (void)spool.Answer("c").ok();
  (void)spool.ReadStatement().ok();
}
std::vector<std::string> SpoolSeeds() {
  const std::string evaluation = JsonOfPage("docs/evaluation-json.md");
  nlohmann::json bundle = {{"protocol", kSpoolProtocol},
                           {"task", {{"toml", PlanTask().toml}, {"oracle", "o"}, {"seed", "s"}, {"name", "plans"}}},
                           {"source", testing_support::Source(testing_support::OneLaunch())},
                           {"incumbent_source", ""},
                           {"options", ReadJsonText(EncodeRequestOptions({}))}};
  return {DumpJson(bundle), "{\"protocol\":1,\"id\":\"b\",\"evaluation\":" + evaluation + "}",
          "{\"error\":{\"code\":3,\"message\":\"no\"}}", EncodeFacts(H200())};
}

void FeedEvaluation(std::string_view text) {
  const Result<Evaluation> evaluation = EvaluationFromJson(text);
  if (evaluation.ok()) (void)EvaluationToJson(*evaluation, -1);
  (void)DecodeRequestOptions(std::string(text)).ok();
}
std::vector<std::string> EvaluationSeeds() { return {JsonOfPage("docs/evaluation-json.md"), EncodeRequestOptions({})}; }

void FeedRunLog(std::string_view text) {
  const std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  const Result<std::string> run = ImportRun(*store, text);
  if (!run.ok()) return;
  (void)LoadRun(*store, *run).ok();
  (void)store->Runs().ok();
  (void)ExportRun(*store, *run).ok();
}
std::vector<std::string> RunLogSeeds() {
  const std::string head = "{\"format\":\"hone-run\",\"version\":1,\"id\":\"r\",\"task\":\"t\",\"started\":1.5}\n";
  return {head +
              "{\"event\":\"note\",\"sequence\":0,\"time\":1,\"node\":-1,\"payload\":{\"text\":\"n\",\"number\":3}}\n"
              "{\"event\":\"ended\",\"sequence\":1,\"time\":2,\"node\":-1,\"payload\":{\"reason\":\"stopped\"}}\n",
          head +
              "{\"source\":\"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\",\"text\":\"x\"}\n"
              "{\"event\":\"proposal\",\"sequence\":0,\"time\":1,\"node\":2,\"payload\":{\"parent\":0,\"idea\":\"i\","
              "\"source\":"
              "\"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\"}}\n"};
}

// The input is a machine code file or a log from a compiler that its source may have taken over.
void FeedCompilerOutput(std::string_view text) {
  (void)ReadCubin(text).ok();
  (void)DigestCompilerLog(text, {});
}
std::vector<std::string> CompilerOutputSeeds() {
  return {
      "candidate.cu(12): error: identifier \"x\" is undefined\n      x = 1;\n      ^\n\n1 error detected in the "
      "compilation of "
      "\"candidate.cu\".\n",
      std::string("\x7f"
                  "ELF\x02\x01\x01\x33\x07",
                  9) +
          std::string(55, '\0')};
}

// The input is device code on its way to the simulated GPU.
void FeedDeviceCode(std::string_view text) { (void)RewriteInlinePtx(text).ok(); }
std::vector<std::string> DeviceCodeSeeds() {
  return {
      "#define ADD \"add.u32 %0, %1, %2;\"\n__global__ void k(unsigned* x) {\n  unsigned r;\n  __shared__ float s[4];\n"
      "  asm volatile(ADD \"\\n\" : \"=r\"(r) : \"r\"(x[0]), \"n\"(3) : \"memory\");\n#pragma unroll 4\n"
      "  for (int i = 0; i < 4; ++i) asm(\"{ .reg .pred p; setp.lt.s32 p, %[a], 5; @p mov.b32 %[a], 0x3f800000; }\" : "
      "[a] \"+r\"(r));\n"
      "  asm(\"cp.async.wait_group %0;\\n\" ::\"n\"(1));\n}\n",
      "#define W(n) asm volatile(\"cp.async.wait_group \" #n \";\\n\")\n__global__ void k() { W(2); }\n"};
}

// ---- foreign sources that tasks are drafted from

void FeedForeignSource(std::string_view text) {
  const auto read = [](std::string_view cuda) {
    const Result<std::unique_ptr<CuSource>> source = ReadCuSource(cuda, "kernel.cu");
    std::vector<CuLeftOut> left_out;
    if (source.ok()) (void)DeviceCode(**source, &left_out);
  };
  read(text);
  (void)ReadGivenPlan(text, "kernel.cu").ok();
  if (const Result<std::string> cuda = CudaFromPython(text, "kernel.py"); cuda.ok()) read(*cuda);
}
std::vector<std::string> ForeignSourceSeeds() {
  return {
      "import torch\nsource = r'''\n#define N(x) (x + 1)\n__global__ void k(float* x, int n) { x[n] = N(1); }\n"
      "torch::Tensor run(torch::Tensor x) { k<<<1, 2>>>(x.data_ptr<float>(), 3); return x; }\n'''\n",
      FileText("tasks/softmax/seed.cu")};
}

// ---- models of the graph engine

void FeedTensorFile(std::string_view text) {
  const Result<gnn::TensorFile> file = gnn::ParseTensorFile(text, "'x'");
  (void)gnn::ModelOptionsFromJson(text, "'x'").ok();
  if (!file.ok()) return;
  for (const gnn::StoredTensor& tensor : file->tensors) (void)gnn::FloatValues(tensor).ok();
  (void)gnn::ReadCheckpointHeader(*file, "'x'").ok();
}
std::vector<std::string> TensorFileSeeds() {
  const std::string numbers("\0\0\x80\x3f\0\0\0\x40", 8);
  gnn::TensorFile file;
  file.metadata = {{"hone.format", "1"}};
  file.tensors.push_back({"w", "F32", {2}, numbers});
  return {gnn::SerializeTensorFile(file),
          "{\"kind\":\"sage\",\"in_width\":3,\"hidden\":4,\"num_classes\":2,\"layers\":2,\"seed\":\"0x01\"}"};
}

// ---- machine code of other compilers, in its archive and in a candidate's text

void FeedMachineCode(std::string_view text) {
  (void)ReadZip(text, {}).ok();
  (void)ImageIn(text, "kernel.cubin").ok();
}
std::vector<std::string> MachineCodeSeeds() {
  const Result<std::string> joined = JoinMachineCode("mode = \"cubin\"\n", {{"kernel.cubin",
                                                                             "\x7f"
                                                                             "ELF"},
                                                                            {"kernel.1.cubin", "more"}});
  if (!joined.ok()) std::abort();
  // The archive holds one empty file "a", as zip -0 writes it.
  std::string archive("PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a", 31);
  archive += std::string(
      "PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a", 47);
  archive += std::string("PK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x1f\0\0\0\0\0", 22);
  if (!ReadZip(archive, {}).ok()) std::abort();
  return {*joined, archive};
}

// The input is a client's line: its request, the protocol's revision, and whether the arguments fit the tool's schema.
// The server's answer is made too.
void FeedContextProtocol(std::string_view text) {
  using namespace mcp;
  static const Json schema = ObjectSchema({{"task", TextSchema("a task")},
                                           {"device", ChoiceSchema("where", {"sim", "auto"})},
                                           {"seed", IntegerSchema("a seed", 0, 1000)},
                                           {"limit", NumberSchema("seconds", 0, 60)},
                                           {"bind", MapSchema("constants", IntegerSchema("a value", 1, 64))},
                                           {"cases", ListSchema("which", IntegerSchema("a case", 0, 9))},
                                           {"warm", BooleanSchema("whether")}},
                                          {"task"});
  const Message message = ParseMessage(text);
  if (message.kind == Message::Kind::kInvalid) {
    (void)ErrorMessage(message.id, message.code, message.problem);
    return;
  }
  const EraOutcome era = EraOf(message);
  (void)ErrorMessage(message.id, era.code, era.problem, era.data);
  const Json arguments = message.params.contains("arguments") ? message.params.at("arguments") : Json::object();
  (void)CheckAgainst(schema, arguments, "arguments").ok();
  (void)ResultMessage(message.id, CompleteResult({{"protocolVersion", NegotiatedVersion(message.params)}}, era.era));
}
std::vector<std::string> ContextProtocolSeeds() {
  return {
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
      "\"capabilities\":{},"
      "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
      "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/"
      "call\",\"params\":{\"name\":\"judge\",\"arguments\":{\"task\":\"relu\","
      "\"device\":\"sim\",\"seed\":7,\"limit\":1.5,\"bind\":{\"VEC\":4},\"cases\":[0,2],\"warm\":false},\"_meta\":{"
      "\"progressToken\":3}}}",
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
      "protocolVersion\":"
      "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1,\"reason\":\"late\"}}",
      "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}"};
}

// The input is the address of a queue, and what its workers report about themselves. Jobs and answers are those of the
// spool.
void FeedQueue(std::string_view text) {
  (void)ParseRedisAddress(std::string(text)).ok();
  const Result<WorkerReport> report = DecodeWorkerReport(text);
  if (report.ok()) (void)EncodeWorkerReport(*report);
}
std::vector<std::string> QueueSeeds() {
  return {
      "redis://user:pass%40word@localhost:6379/jobs", "rediss://[::1]:6380/queue-1", "redis://host/q",
      EncodeWorkerReport({.device = "NVIDIA H200", .threads = 2, .busy = 1, .judged = 7, .last_failure = "a fault"})};
}

// The input is the answer of a process in which a stranger's kernel has run.
void FeedSimulatedLaunch(std::string_view text) {
  const Result<sim::LaunchAnswer> answer = sim::DecodeAnswer(std::string(text));
  if (answer.ok()) (void)sim::EncodeAnswer(*answer);
  (void)sim::DecodeLoadAnswer(std::string(text)).ok();
  const size_t split = text.find('\n');
  (void)sim::DecodeLaunch(std::string(text.substr(0, split)),
                          split == std::string_view::npos ? std::string() : std::string(text.substr(split + 1)))
      .ok();
}
std::vector<std::string> SimulatedLaunchSeeds() {
  sim::LaunchAnswer answer;
  answer.report.findings.push_back({"shared_race", "block (0, 0, 0) at {0}", {1, 2}, true});
  answer.report.counters.range_read = {1.5, 2};
  answer.report.sites.push_back({.pc = 3, .bytes = 4, .accesses = 5});
  sim::LaunchMessage message;
  message.kernel_symbol = "k";
  message.argument_bytes = {"12345678", "1234"};
  message.spec.ranges.push_back({.begin = 64, .end = 128, .writable = true, .name = "x"});
  message.spec.blocks = {1, 2, 3};
  return {sim::EncodeAnswer(answer), sim::EncodeLaunch(message) + "\n" + sim::EncodeArguments(message),
          "{\"ok\":true,\"writable_bytes\":64}", "{\"ok\":false,\"error\":\"no such symbol\"}"};
}

// Inputs that were kept name a parser by its place: new ones are added behind the last part (TextParsers).
constexpr TextParser kParsers[] = {
    {"task.toml", FeedTask, TaskSeeds},
    {"candidate", FeedCandidate, CandidateSeeds},
    {"expression", FeedExpression, ExpressionSeeds},
    {"tables", FeedTables, TableSeeds},
    {"reply", FeedReply, ReplySeeds},
    {"wire", FeedWire, WireSeeds},
    {"spool", FeedSpool, SpoolSeeds},
    {"evaluation", FeedEvaluation, EvaluationSeeds},
    {"run log", FeedRunLog, RunLogSeeds},
    {"compiler output", FeedCompilerOutput, CompilerOutputSeeds},
    {"foreign source", FeedForeignSource, ForeignSourceSeeds},
    {"tensor file", FeedTensorFile, TensorFileSeeds},
    {"device code", FeedDeviceCode, DeviceCodeSeeds},
    {"machine code", FeedMachineCode, MachineCodeSeeds},
    {"context protocol", FeedContextProtocol, ContextProtocolSeeds},
    {"queue", FeedQueue, QueueSeeds},
    {"simulated launch", FeedSimulatedLaunch, SimulatedLaunchSeeds},
};

}  // namespace

std::span<const TextParser> TextParsers() {
  static const std::vector<TextParser> all = [] {
    std::vector<TextParser> parsers;
    for (const std::span<const TextParser> part :
         {std::span<const TextParser>(kParsers), ExchangeParsers(), NetworkParsers(), LaterExchangeParsers()}) {
      parsers.insert(parsers.end(), part.begin(), part.end());
    }
    return parsers;
  }();
  return all;
}

void FeedTextParser(std::string_view input) {
  if (input.empty()) return;
  const std::span<const TextParser> parsers = TextParsers();
  parsers[static_cast<unsigned char>(input[0]) % parsers.size()].feed(input.substr(1));
}

}  // namespace hone
