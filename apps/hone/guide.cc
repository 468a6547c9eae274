// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/guide.h"

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "hone/tuner/strategy.h"
#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

using Statuses = std::vector<std::pair<int, std::string>>;

constexpr const char* kUsage = "wrong usage, or a file that is not there or not valid";
constexpr const char* kEnvironment = "the environment failed: a device, a compiler, a disk, a service";
constexpr const char* kSpool =
    "no verdict yet: the job waits in a spool (--device spool:DIR); the same command asks again";

// Returns the exit statuses of commands that only list or write.
Statuses StatusesOfListing() { return {{0, "done"}, {2, kUsage}, {3, kEnvironment}}; }
// Returns the exit statuses of commands that judge one candidate.
Statuses StatusesOfJudging() {
  return {{0, "the candidate is right"},
          {1, "the candidate was rejected"},
          {2, "wrong usage, or a task or plan that is not valid"},
          {3, kEnvironment},
          {4, kSpool}};
}

// Returns the exit statuses of hone compare.
Statuses StatusesOfComparing() {
  Statuses statuses = StatusesOfJudging();
  statuses[0].second = "both kernels are right, whichever is faster";
  statuses[1].second = "kernel A or kernel B was rejected";
  return statuses;
}

const OptionGroup kDevice{"Device and compiler",
                          {"--device", "--launch-limit", "--jobs", "--no-cache", "--no-sim", "--cutlass"}};
const OptionGroup kModels{
    "Who proposes",
    {"--model", "--base-url", "--key-env", "--prices", "--prompts", "--temperature", "--request-tokens",
     "--request-limit", "--request-timeout", "--stall-timeout", "--max-retries"}};
const OptionGroup kSearch{"How it searches",
                          {"--strategy", "--strategies", "--target", "--set", "--config", "--settings", "--parallel",
                           "--rounds", "--blind-start", "--suspend", "--run-seed"}};
const OptionGroup kKept{"Which versions are kept, and tuning of each",
                        {"--keep-above", "--sweep-points", "--no-seed-sweep", "--no-calls"}};
const OptionGroup kEnds{"When it ends", {"--attempts", "--minutes", "--max-tokens", "--max-cost", "--floor-fraction"}};

// Returns the pages of all commands: groups of options, examples, exit statuses, and where more is written.
std::vector<CommandPage> Pages() {
  return {
      {.command = "",
       .examples = {{"hone doctor", "Says what can be judged on here, and what is missing for more.", true},
                    {"hone eval relu tasks/relu/seed.cu --device sim",
                     "Judges a kernel on the simulated GPU, whose times are modelled."},
                    {"hone optimize rmsnorm --attempts 8",
                     "Looks for a faster kernel with mechanical rewrites, without a language model."}},
       .exit_statuses = {{0, "done"},
                         {1, "the candidate was rejected, or the goal was not reached"},
                         {2, kUsage},
                         {3, kEnvironment},
                         {4, kSpool}},
       .document = "README.md"},
      {.command = "devices",
       .examples = {{"hone devices", "Lists the GPUs of this machine and the simulated ones.", true},
                    {"hone devices --json", "Writes the figures of each as JSON.", true}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/measurement.md"},
      {.command = "doctor",
       .examples = {{"hone doctor", "Lists what is here, what is missing, and how to get that.", true},
                    {"hone doctor --json", "Writes the same as JSON.", true}},
       .exit_statuses = {{0, "what is needed to judge candidates is here"},
                         {2, "wrong usage"},
                         {3, "nothing can be judged here"}}},
      {.command = "tasks",
       .examples = {{"hone tasks", "Lists the tasks that can be named.", true},
                    {"hone tasks show rmsnorm", "Describes one of them.", true}},
       .exit_statuses = {{0, "done"}, {2, "wrong usage, or a task that is not valid"}, {3, kEnvironment}},
       .document = "docs/task-format.md"},
      {.command = "tasks show",
       .examples = {{"hone tasks show rmsnorm", "Says what it computes, on which shapes, and how exactly.", true},
                    {"hone tasks show tasks/relu --json", "Writes the same of a task in a folder, as JSON.", true}},
       .exit_statuses = {{0, "done"}, {2, "wrong usage, or a task that is not valid"}},
       .document = "docs/task-format.md"},
      {.command = "tasks check",
       .examples = {{"hone tasks check relu --device sim",
                     "Says whether the task's oracle is right, and whether a wrong kernel can pass."}},
       .exit_statuses = {{0, "the task is sound"}, {2, "wrong usage, or the task is not sound"}, {3, kEnvironment}},
       .document = "docs/task-format.md"},
      {.command = "eval",
       .groups = {{"What is judged",
                   {"--baseline", "--bind", "--seed", "--trials", "--case", "--no-time", "--no-warm", "--no-calls",
                    "--hosted"}},
                  {"What is reported", {"--profile", "--sass", "--libraries", "--trace", "--json"}},
                  kDevice},
       .examples = {{"hone eval relu tasks/relu/seed.cu --device sim --no-time",
                     "Checks a kernel and does not time it.", true},
                    {"hone eval rmsnorm mine.cu --bind BLOCK=512 --profile",
                     "Times a kernel with one choice of its tunable, and says where the time goes."},
                    {"hone eval relu kernels.py::relu --device cuda:0",
                     "Compiles the Triton kernel relu of kernels.py and judges it."},
                    {"hone eval fused_linear submission.py --libraries",
                     "Judges a finished PyTorch module against eager and compiled PyTorch."}},
       .exit_statuses = StatusesOfJudging(),
       .document = "docs/measurement.md"},
      {.command = "compare",
       .groups = {{"How they are compared", {"--seed", "--libraries", "--json"}}, kDevice},
       .examples = {{"hone compare transpose tasks/transpose/seed.cu mine.cu",
                     "Says whether mine.cu is faster than the seed, and by how much."}},
       .exit_statuses = StatusesOfComparing(),
       .document = "docs/timing.md"},
      {.command = "pack",
       .examples = {{"hone pack last --out transpose.claim.json",
                     "Packs the best kernel of the latest run, with its verdict and the run's log."},
                    {"hone pack relu mine.cu --evaluation verdict.json",
                     "Packs a kernel with the verdict that hone eval --json wrote."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/claims.md"},
      {.command = "verify",
       .groups = {{"How the claim is judged", {"--margin", "--no-time", "--seed", "--json"}}, kDevice},
       .examples = {{"hone verify transpose.claim.json",
                     "Judges the claim's kernel here, and says whether the claim holds."},
                    {"hone verify transpose.claim.json --device sim --no-time",
                     "Checks on the simulated GPU that the kernel is right."}},
       .exit_statuses = {{0,
                          "the claim holds; also where only its verdict could be compared, as on another kind of "
                          "device (--json tells the two apart)"},
                         {1, "the claim does not hold"},
                         {2, kUsage},
                         {3, kEnvironment},
                         {4, kSpool}},
       .document = "docs/claims.md"},
      {.command = "worker",
       .groups = {{"Where jobs wait", {"--spool", "--queue", "--poll"}},
                  {"When it ends", {"--until-idle", "--once"}},
                  {"What it does", {"--parallel", "--profiles", "--no-profile", "--sieve", "--ahead", "--json"}},
                  kDevice},
       .examples = {{"hone worker --spool /shared/spool --device cuda:0",
                     "Judges what other machines put in the folder, until it is stopped."},
                    {"hone worker --spool spool --once --device sim", "Judges what waits there now, and ends."},
                    {"hone worker --queue redis://login1/h200 --until-idle 10m",
                     "Judges a queue's jobs until none has come for ten minutes."}},
       .exit_statuses = {{0, "everything that waited was judged"},
                         {2, kUsage},
                         {3, "the environment failed, or something could not be judged"}},
       .document = "docs/queue.md"},
      {.command = "workers",
       .examples = {{"hone workers redis://login1/h200",
                     "Shows a queue once: its workers, their jobs per minute, what waits and what failed."},
                    {"hone workers redis://login1/h200 --watch", "Shows it again every two seconds."}},
       .exit_statuses = {{0, "done"}, {2, kUsage}, {3, kEnvironment}},
       .document = "docs/queue.md"},
      {.command = "clean",
       .examples = {{"hone clean redis://login1/h200", "Shows what the queue holds."},
                    {"hone clean redis://login1/h200 --answers --dead --older-than 1",
                     "Shows which verdicts and failed jobs are at least a day old; --yes removes them."},
                    {"hone clean spool:/shared/spool --all --yes", "Empties a spool."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/queue.md"},
      {.command = "rights",
       .examples = {{"hone rights h200 --administrator admin.pw --submitter alice=alice.pw --worker "
                     "gpu-worker=worker.pw > users.acl",
                     "Writes the rules of a queue's users; start redis-server with --aclfile users.acl."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/queue.md"},
      {.command = "tune",
       .groups = {{"What is tried", {"--points", "--baseline", "--trials", "--quads", "--again", "--parallel"}},
                  {"What is written", {"--out", "--db", "--json"}},
                  kDevice},
       .examples = {{"hone tune relu examples/kernels/relu.cu --device sim --points 8 --out relu.tuned.cu",
                     "Tries up to 8 choices of values for the kernel's tunables, and writes the fastest."}},
       .exit_statuses = {{0, "a binding is right, and what was written is right"},
                         {1, "no binding was right, or the tuning was stopped"},
                         {2, kUsage},
                         {3, kEnvironment},
                         {4, kSpool}},
       .document = "docs/optimizing.md"},
      {.command = "db",
       .examples =
           {{"hone db list", "Lists what hone tune has measured.", true},
            {"hone db show relu",
             "Explains the choices for task relu; where it has several entries, name one as hone db list does."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/tuning-database.md"},
      {.command = "db list",
       .examples = {{"hone db list --task relu", "Lists the entries of one task.", true}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/tuning-database.md"},
      {.command = "db show",
       .examples = {{"hone db show 3fa9c2", "Explains the entry whose id begins with 3fa9c2."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/tuning-database.md"},
      {.command = "db export",
       .examples = {{"hone db export 3fa9c2 --candidate relu.tuned.cu",
                     "Writes the candidate with the fastest values that all its measurements found."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/tuning-database.md"},
      {.command = "db merge",
       .examples = {{"hone db merge h200.sqlite", "Takes over what another machine has measured."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/tuning-database.md"},
      {.command = "db prune",
       .examples = {{"hone db prune --older-than 180",
                     "Lists the entries for which nothing was measured in the last 180 days."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/tuning-database.md"},
      {.command = "optimize",
       .groups = {{"What is optimised", {"--seed-kernel", "--broken-start", "--resume", "--replay"}},
                  kEnds,
                  kSearch,
                  kKept,
                  kModels,
                  {"What is written and shown",
                   {"--out", "--report", "--store", "--libraries", "--no-profile", "--json"}},
                  kDevice},
       .examples =
           {{"hone optimize fused_add_rmsnorm --device sim --minutes 1.5",
             "Tries mechanical rewrites for a minute and a half, without a language model."},
            {"hone optimize rmsnorm --model anthropic:claude-sonnet-5-5 --strategy team --attempts 32 --max-cost 5",
             "Lets a language model propose up to 32 versions for at most 5 US dollars."},
            {"hone optimize --resume last", "Continues the latest run where it was stopped or killed."}},
       .exit_statuses = {{0, "a kernel was found that is faster than the seed, by more than measurement noise"},
                         {1, "none was found, or the run was stopped"},
                         {2, kUsage},
                         {3, kEnvironment},
                         {4, "the run waits: for answers in a mailbox (--suspend), or for a spool"}},
       .document = "docs/optimizing.md"},
      {.command = "bench",
       .examples = {{"hone bench strategies relu softmax --attempts 16 --device sim",
                     "Compares the strategies on two tasks."},
                    {"hone bench kernelbench KernelBench --judge submissions",
                     "Judges finished PyTorch modules against KernelBench's problems."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/comparing-strategies.md"},
      {.command = "bench strategies",
       .groups = {{"What is compared", {"--name", "--variant", "--lot", "--lot-seed", "--lot-skip", "--broken-starts"}},
                  kSearch,
                  kKept,
                  kEnds,
                  kModels,
                  {"What is written and shown", {"--store", "--libraries", "--no-profile", "--json"}},
                  kDevice},
       .examples =
           {{"hone bench strategies relu softmax --strategies refine,tree --attempts 16 --device sim",
             "Runs two strategies on two tasks with the same number of attempts."},
            {"hone bench strategies relu --variant with=refine --variant "
             "without=refine,refine.profile_from_start=0 --attempts 16 --device sim",
             "Compares a strategy with itself under another setting."},
            {"hone bench strategies tasks/*/ --lot 10 --lot-seed 2026 --attempts 24 --device spool:jobs",
             "Runs every strategy on ten tasks that a lot chooses, and judges wherever a worker serves the spool."}},
       .exit_statuses = {{0, "done"},
                         {2, kUsage},
                         {3, "the environment failed, or the bench was stopped; the same command continues it"},
                         {4, "runs wait for answers or for a spool; the message names them"}},
       .document = "docs/comparing-strategies.md"},
      {.command = "bench kernelbench",
       .groups = {{"What is judged", {"--judge", "--level", "--problem", "--lot", "--lot-seed", "--lot-skip"}},
                  {"How it is judged", {"--trials", "--no-time", "--compile", "--hosted"}},
                  kSearch,
                  kKept,
                  kEnds,
                  kModels,
                  {"What is written and shown", {"--out", "--name", "--store", "--no-profile", "--json"}},
                  kDevice},
       .examples = {{"hone bench kernelbench KernelBench --judge submissions --level 1 --compile",
                     "Judges the submissions for level 1 and times them against PyTorch, eager and compiled."}},
       .exit_statuses = {{0, "every submission has a verdict"},
                         {2, kUsage},
                         {3, "the environment failed, or the campaign was stopped; the same command continues it"}},
       .document = "docs/kernelbench.md"},
      {.command = "runs",
       .examples = {{"hone runs", "Lists the runs with their state and what they found.", true}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/optimizing.md"},
      {.command = "show",
       .examples = {{"hone show last", "Shows the tree of the latest run."},
                    {"hone show last 3 --prompts", "Shows node 3 of that tree with the model's requests and replies."},
                    {"hone show examples/runs/h200/refine-transpose.jsonl", "Shows a run that was exported to a file.",
                     true}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/formats/run-store.md"},
      {.command = "report",
       .examples = {{"hone report last --out run.html", "Writes the latest run as one HTML file."},
                    {"hone report --compare examples/runs/h200/refine-transpose.jsonl",
                     "Prints the figures of an exported run as a table.", true}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/apply.md"},
      {.command = "apply",
       .examples = {{"hone apply last --out kernels/rmsnorm",
                     "Writes the best kernel of the latest run as a C++ header and a PyTorch extension."}},
       .exit_statuses = StatusesOfListing(),
       .document = "docs/apply.md"},
      {.command = "new",
       .groups = {{"Files", {"--from", "--oracle", "--out", "--force", "--json"}},
                  {"What the kernel computes",
                   {"--summary", "--class", "--slice", "--dims", "--let", "--shape", "--dtype", "--role", "--work"}},
                  {"Which values its inputs get", {"--values", "--special", "--no-stress", "--scalar"}},
                  {"Which shapes are judged", {"--case", "--check", "--hidden", "--multiple"}},
                  {"How it is launched", {"--kernel", "--template", "--grid", "--block", "--shared"}},
                  {"A benchmark's problem", {"--workload", "--accept-licence"}},
                  {"A PyTorch module", {"--input", "--init", "--fix", "--eval", "--profile", "--memory", "--limit"}},
                  {"Whether it is tried", {"--no-check"}}},
       .examples = {{"hone new my_relu --from relu.cu",
                     "Makes tasks/my_relu from a file that holds a kernel and its launch."},
                    {"hone new my_relu --from relu.cu --dims n --shape x=n --role out=out --grid 'ceil_div(n, 256)' "
                     "--block 256",
                     "Says what the file does not: dimensions, shapes, and the launch."},
                    {"hone new my_norm --from norm.py",
                     "Makes a task of a PyTorch module: the file's Model, with inputs as its get_inputs makes them."},
                    {"hone new my_gemm --from definition.json",
                     "Makes a task of a problem of FlashInfer-Bench or SOL-ExecBench."}},
       .exit_statuses = {{0, "the task is ready for `hone tasks check`"},
                         {1, "the task is written but not ready: what is missing is printed"},
                         {2, kUsage},
                         {3, kEnvironment}},
       .document = "docs/interop.md"},
      {.command = "gate",
       .groups = {{"What is compared", {"--base", "--head", "--repo", "--exact-base", "--kernel"}},
                  {"When it fails", {"--slower", "--rate", "--no-time", "--compile-only", "--parallel"}},
                  {"What is reported", {"--junit", "--markdown", "--json"}},
                  kDevice},
       .examples = {{"hone gate --base origin/main --head HEAD --junit gate.xml --markdown gate.md",
                     "Judges the kernels that differ from where HEAD left origin/main, for a CI server and a pull "
                     "request's comment."},
                    {"hone gate --base old/ --head new/ --device sim --no-time",
                     "Compiles and checks the kernels that differ between two folders."},
                    {"hone gate --base origin/main --compile-only sm_90a",
                     "Only compiles the changed kernels, for an H100 or H200 that this machine need not have."}},
       .exit_statuses = {{0, "no kernel is wrong, or slower by more than --slower and the noise"},
                         {1, "a kernel is wrong, or slower by more than --slower and the noise"},
                         {2, kUsage},
                         {3, kEnvironment}},
       .document = "docs/gate.md"},
      {.command = "mcp",
       .groups = {{"What is served", {"--root", "--store", "--agent"}}, kDevice},
       .examples =
           {{"hone mcp --root ~/kernels",
             "Serves a coding agent that starts it: candidates are read from, and files written to, ~/kernels."},
            {"hone mcp --device sim < /dev/null",
             "Tries whether the server starts; it ends at once, because its input is empty.", true}},
       .exit_statuses = {{0, "the client has ended the session"}, {2, kUsage}, {3, kEnvironment}},
       .document = "docs/mcp.md"},
      {.command = "help",
       .examples = {{"hone help tasks check", "Prints what `hone tasks check --help` does.", true}},
       .exit_statuses = {{0, "done"}, {2, "there is no such command"}}},
      {.command = "completion",
       .examples = {{"source <(hone completion bash)",
                     "Completes hone's commands, options, tasks and runs in this shell."},
                    {"hone completion zsh > ~/.zfunc/_hone",
                     "Keeps the script where zsh looks for it, once ~/.zfunc is in fpath."},
                    {"hone completion fish > ~/.config/fish/completions/hone.fish",
                     "Keeps the script where fish looks for it."}},
       .exit_statuses = {{0, "done"}, {2, "wrong usage"}}},
  };
}

std::vector<std::string> DeviceWords() {
  std::vector<std::string> device_names = {"auto", "cuda:0", "sim", "spool:"};
  for (const std::string& name : sim::GpuModelNames()) device_names.push_back("sim:" + name);
  return device_names;
}

}  // namespace

Guide MakeGuide(const CommandContext& context) {
  Guide guide;
  guide.program = "hone";
  guide.pages = Pages();
  const auto tasks = [&context] {
    std::vector<std::string> names;
    for (const std::string& directory : TaskDirectories(context))
      names.push_back(std::filesystem::path(directory).filename().string());
    return names;
  };
  const auto runs = [&context] {
    std::vector<std::string> names = {"last"};
    const std::string path = context.state_directory + "/runs.sqlite";
    if (!FileExists(path)) return names;
    const Result<std::unique_ptr<RunStore>> store = OpenStoreToRead(path);
    if (!store.ok()) return names;
    if (const Result<std::vector<RunInfo>> stored_runs = (*store)->Runs(); stored_runs.ok()) {
      for (const RunInfo& run : *stored_runs) names.push_back(run.id);
    }
    return names;
  };
  const ValueKind task{.name = "TASK", .folders = true, .ask = tasks};
  const ValueKind kernel{.name = "FILE.cu", .suffixes = {".cu"}};
  const ValueKind judged{.name = "FILE.cu", .suffixes = {".cu", ".py"}};
  const ValueKind run{.name = "RUN", .suffixes = {".jsonl"}, .ask = runs};
  const ValueKind folder{.name = "DIR", .folders = true};
  guide.values = {
      {"task", task},
      {"tasks", task},
      {"directory", task},
      {"candidate", kernel},
      {"eval candidate", judged},
      {"a", kernel},
      {"b", kernel},
      {"--baseline", kernel},
      {"--seed-kernel", kernel},
      {"--broken-start", kernel},
      {"--broken-starts", folder},
      {"--variant", {.name = "LABEL=STRATEGY"}},
      {"--from", {.name = "SOURCE", .suffixes = {".cu", ".py", ".json"}, .folders = true}},
      {"--oracle", kernel},
      {"--out", kernel},
      {"report --out", {.name = "FILE.html", .suffixes = {".html"}}},
      {"apply --out", folder},
      {"pack --out", {.name = "FILE.json", .suffixes = {".json"}}},
      {"--evaluation", {.name = "FILE.json", .suffixes = {".json"}}},
      {"claim", {.name = "FILE.json", .suffixes = {".json"}}},
      {"--margin", {.name = "SHARE"}},
      {"new --out", folder},
      {"bench kernelbench --out", folder},
      {"--judge", folder},
      {"problems", folder},
      {"run", run},
      {"runs", run},
      {"--replay", run},
      {"--resume", {.name = "RUN", .ask = runs}},
      {"--export", {.name = "FILE.jsonl", .suffixes = {".jsonl"}}},
      {"--workload", {.name = "FILE.jsonl", .suffixes = {".jsonl"}}},
      {"--trace", {.name = "FILE.jsonl", .suffixes = {".jsonl"}}},
      {"--store", {.name = "FILE", .suffixes = {".sqlite"}}},
      {"--report", {.name = "FILE.html", .suffixes = {".html"}}},
      {"--config", {.name = "FILE.toml", .suffixes = {".toml"}}},
      {"--prices", {.name = "FILE.toml", .suffixes = {".toml"}}},
      {"--db", {.name = "FILE", .suffixes = {".sqlite"}}},
      {"other", {.name = "FILE", .suffixes = {".sqlite"}}},
      {"db export --out", folder},
      {"--candidate", {.name = "FILE.cu", .suffixes = {".cu"}}},
      {"--prompts", folder},
      {"--spool", folder},
      {"--root", folder},
      {"--repo", folder},
      {"--base", {.name = "REVISION", .folders = true}},
      {"--head", {.name = "REVISION", .folders = true}},
      {"--kernel", {.name = "TASK=FILE.cu"}},
      {"new --kernel", {.name = "NAME"}},
      {"new --dims", {.name = "NAME,NAME,..."}},
      {"new --shape", {.name = "NAME=SIZES"}},
      {"new --dtype", {.name = "NAME=DTYPE"}},
      {"new --role", {.name = "NAME=ROLE"}},
      {"new --values", {.name = "NAME=RULE"}},
      {"new --scalar", {.name = "NAME=VALUE"}},
      {"new --let", {.name = "SIZE=EXPRESSION"}},
      {"new --work", {.name = "UNIT=EXPRESSION"}},
      {"new --slice", {.name = "DIM"}},
      {"new --no-stress", {.name = "NAME"}},
      {"new --special", {.name = "NAMES"}},
      {"new --case", {.name = "DIM=SIZE,..."}},
      {"new --check", {.name = "DIM=SIZE,..."}},
      {"new --hidden", {.name = "DIM=RANGE,..."}},
      {"new --multiple", {.name = "DIM=NUMBER"}},
      {"new --template", {.name = "ARGUMENTS"}},
      {"new --grid", {.name = "EXPRESSION"}},
      {"new --block", {.name = "EXPRESSION"}},
      {"new --shared", {.name = "EXPRESSION"}},
      {"new --input", {.name = "NAME=DTYPE[SIZES]"}},
      {"new --init", {.name = "ARGUMENTS"}},
      {"new --fix", {.name = "SIZE"}},
      {"rights --submitter", {.name = "NAME=FILE"}},
      {"rights --worker", {.name = "NAME=FILE"}},
      {"rights --administrator", {.name = "FILE", .suffixes = {""}}},
      {"--compile-only", {.name = "ARCHITECTURE"}},
      {"--queue", {.name = "ADDRESS"}},
      {"--until-idle", {.name = "DURATION"}},
      {"--as", {.name = "FORM"}},
      {"--task", task},
      {"bench strategies --name", {.name = "NAME"}},
      {"bench kernelbench --name", {.name = "NAME"}},
      {"--slower", {.name = "SHARE"}},
      {"--rate", {.name = "SHARE"}},
      {"--junit", {.name = "FILE.xml", .suffixes = {".xml"}}},
      {"--markdown", {.name = "FILE.md", .suffixes = {".md"}}},
      {"--cutlass", folder},
      {"--device", {.name = "DEVICE", .words = DeviceWords()}},
      {"--strategy", {.name = "NAME", .words = StrategyNames()}},
      {"--target", {.name = "LANGUAGE", .words = {"any", "cuda", "cute"}}},
      {"--strategies", {.name = "NAMES", .words = StrategyNames()}},
      {"--model",
       {.name = "MODEL", .words = {"builtin", "openai:", "anthropic:", "exec:", "agent:", "mailbox:", "replay:"}}},
      {"--class",
       {.name = "CLASS",
        .words = {"gemm", "elementwise", "reduction", "convolution", "attention", "gather", "graph", "other"}}},
      {"--agent", {.name = "SOCKET"}},
      {"--base-url", {.name = "URL"}},
      {"--key-env", {.name = "VARIABLE"}},
      {"--set", {.name = "NAME=NUMBER"}},
      {"--bind", {.name = "NAME=VALUE"}},
      {"help command", {.name = "COMMAND"}},
  };
  guide.environment =
      "HONE_CACHE\tThe folder for compiled kernels; ~/.cache/hone where it is not set.\n"
      "HONE_STATE\tThe folder for runs and reports; ~/.local/state/hone where it is not set.\n"
      "CUDA_HOME\tThe CUDA toolkit; /usr/local/cuda where it is not set.\n"
      "CUTLASS_HOME\tThe CUTLASS headers, for candidates that use CuTe; the usual places where it is not set.\n"
      "OPENAI_API_KEY, ANTHROPIC_API_KEY\tThe keys of models; --key-env names others.\n"
      "NO_COLOR\tNothing is coloured where it is set.\n";
  return guide;
}

}  // namespace hone
