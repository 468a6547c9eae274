// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements searches that outlive the call and the server: run_start, run_status, run_stop, run_best; and apply, for
// their results.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/numbers/random.h"
#include "base/text/json_text.h"
#include "hone/tuner/run_view.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/mcp/answer_budget.h"
#include "tuner/mcp/background_run.h"
#include "tuner/mcp/tool_fields.h"
#include "tuner/mcp/tools.h"
#include "tuner/report/run_summary.h"
#include "tuner/report/run_text.h"
#include "tuner/run/log/open_run.h"
#include "tuner/run/log/run_standing.h"
#include "tuner/workbench/write_package.h"

namespace hone::mcp {
namespace {

constexpr double kBeginSeconds = 120;  // limit until a run's process has begun: making a GPU's first context is slow

// Started holds the processes that this server started, in order to reap them when they end.
class Started {
 public:
  void Add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.push_back(pid);
    std::erase_if(pids_, [](pid_t one) { return EndOfBackground(one).has_value(); });
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};

std::string NumberText(double number) { return fmt::format("{}", number); }

// Returns the language model that a request names, after a check. A request may not choose commands and addresses: a
// command could run anything, and the user's key would be sent to an address.
Result<std::string> ModelOf(const Toolbox& toolbox, const std::string& model) {
  if (model == "builtin") return model;
  if (model.starts_with("mailbox:")) {
    HONE_ASSIGN_OR_RETURN(const std::string folder, toolbox.BelowRoot(model.substr(8)));
    return "mailbox:" + folder;
  }
  const bool service = model.starts_with("openai:") || model.starts_with("anthropic:");
  if (service && model.find_first_of("@#\n=") == std::string::npos) return model;
  return Status::InvalidArgument(
      fmt::format("model '{}': a call may name builtin, openai:NAME, anthropic:NAME or mailbox:FOLDER below the root; "
                  "start other runs by "
                  "hone optimize, and watch them with run_status",
                  model.substr(0, 100)));
}

struct RunState {
  RunView view;
  std::string state;  // running | stopped | finished
};

Result<RunState> ReadRunState(const Toolbox& toolbox, const std::string& name) {
  const std::string& path = toolbox.options().store;
  // Look for the run's process before reading its events. A run that ends in between is then reported as running once
  // more, and not as stopped without an end.
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, OpenStoreToRead(path));
  HONE_ASSIGN_OR_RETURN(const RunInfo info, store->FindRun(name));
  const bool held = HolderOfRun(path, info.id).has_value();
  HONE_ASSIGN_OR_RETURN(RunView view, LoadRun(*store, info.id));
  const bool is_over = IsOver(view);
  return RunState{std::move(view), held ? "running" : is_over ? "finished" : "stopped"};
}

// Returns a run's state as an answer. `instead`, if not empty, replaces the usual sentence about what to do next.
ToolAnswer StateAnswer(const Toolbox& toolbox, const RunState& run, const std::string& instead = {}) {
  const RunView& view = run.view;
  const std::string address = "hone://runs/" + view.info.id;
  Json fields = ReadJsonText(RunSummaryToJson({Summarize(view)}, -1)).at(0);
  fields["state"] = run.state;
  fields["ended"] = view.ended.empty() ? Json() : Json(ReasonText(view));
  fields["best"] = view.best;
  Json nodes = Json::array();
  for (const RunNode& node : view.nodes) {
    Json one = {{"node", node.id},
                {"idea", node.idea},
                {"state", node.evaluation        ? VerdictName(node.evaluation->verdict)
                          : node.problem.empty() ? "under way"
                                                 : node.problem},
                {"kept", node.kept}};
    if (node.speedup) one["speedup"] = *node.speedup;
    nodes.push_back(std::move(one));
  }
  std::reverse(nodes.begin(), nodes.end());  // newest first: if the list is cut, the oldest are left out
  fields["nodes"] = std::move(nodes);
  const std::string next_step =
      !instead.empty() ? instead
      : run.state == "running"
          ? "Call run_status again (with wait_seconds), or run_best for the best so far, or run_stop."
      : run.state == "stopped" ? "Continue it by run_start with resume, or take what there is by run_best."
                               : "Take the winner by run_best, or as a header and a PyTorch extension by apply.";
  fields["next"] = next_step;
  fields["address"] = address;
  (void)toolbox;
  ToolAnswer answer;
  answer.text = FitText(fmt::format("Run {} ({}): {}{}\n", view.info.id, view.info.task, run.state,
                                    view.ended.empty() ? "" : ", " + ReasonText(view)) +
                            RunText(view),
                        address, kAnswerBytes - 400) +
                "\n" + next_step + "\n";
  std::vector<std::string> left_out;
  answer.structured = FitJson(std::move(fields), {}, left_out, kAnswerBytes - 500);
  answer.structured["left_out"] = left_out;
  answer.links.push_back({address, "run " + view.info.id, "The whole run as JSON", "application/json"});
  return answer;
}

// Returns the schema of a run's state, which several tools answer with.
Json StateSchema() {
  return ObjectSchema(
      {{"run", TextSchema("The run's id: give it to the other tools, now or in another session.")},
       {"task", TextSchema("The task.")},
       {"state", ChoiceSchema("running: a process works at it. stopped: none does, and it can be continued. finished: "
                              "it ended by itself.",
                              {"running", "stopped", "finished"})},
       {"attempts", IntegerSchema("Proposals so far: an attempt is one kernel that the model or a rewrite proposed, "
                                  "whether or not it compiled or was right.",
                                  0, int64_t{1} << 53)},
       {"best", IntegerSchema("The best node so far; 0 is the seed.", 0, int64_t{1} << 53)},
       {"speedup",
        {{"type", Json::array({"number", "string", "null"})},
         {"description", "Of the best over the seed: proven by a final pairing, or estimated (see proven)."}}},
       {"proven", BooleanSchema("Whether the best was paired with the seed at the end.")},
       {"nodes",
        ListSchema("The attempts, newest first.",
                   AnyObjectSchema("node, idea, state (a verdict or a problem), kept, speedup over the seed."))},
       {"next", TextSchema("What to do next.")},
       {"address", TextSchema("Where the whole run is read as a resource.")},
       {"left_out", LeftOutField()}},
      {"run", "task", "state", "next"}, /*open=*/true);
}

// Starts or resumes a run in a process of its own, and waits until its id is known.
Result<ToolAnswer> StartRunTool(Toolbox& toolbox, Started& started, const Json& arguments, const CallContext& context) {
  const ToolboxOptions& options = toolbox.options();
  const bool resumes = arguments.contains("resume");
  if (resumes == arguments.contains("task"))
    return Status::InvalidArgument("give a task to begin a run, or resume to continue one");
  BackgroundProgram program;
  program.argv = {options.evaluator.executable, "optimize"};
  const auto add = [&](const std::string& option, const std::string& value) {
    program.argv.insert(program.argv.end(), {option, value});
  };
  if (resumes) {
    for (const auto& [name, value] : arguments.items()) {
      if (name != "resume" && name != "device") {
        return Status::InvalidArgument(
            fmt::format("{} belongs to a new run: one that is continued has what it began with", name));
      }
    }
    HONE_ASSIGN_OR_RETURN(const RunState run, ReadRunState(toolbox, arguments.at("resume").get<std::string>()));
    if (run.state == "running")
      return Status::InvalidArgument(fmt::format("run {} is running already", run.view.info.id));
    if (run.state == "finished") {
      return StateAnswer(toolbox, run,
                         "This run had ended by itself, so nothing was begun: take its winner by run_best or apply, or "
                         "begin another run by run_start "
                         "with task, and with the winner as source.");
    }
    add("--resume", run.view.info.id);
  } else {
    HONE_ASSIGN_OR_RETURN(const Task task, toolbox.FindTask(arguments.at("task").get<std::string>()));
    program.argv.push_back(task.directory);
    HONE_ASSIGN_OR_RETURN(const std::string model, ModelOf(toolbox, arguments.value("model", std::string("builtin"))));
    add("--model", model);
    if (arguments.contains("strategy")) add("--strategy", arguments.at("strategy").get<std::string>());
    for (const auto& [field, option] :
         {std::pair{"attempts", "--attempts"}, {"max_tokens", "--max-tokens"}, {"parallel", "--parallel"}}) {
      if (arguments.contains(field)) add(option, std::to_string(arguments.at(field).get<int64_t>()));
    }
    for (const auto& [field, option] : {std::pair{"minutes", "--minutes"}, {"max_cost", "--max-cost"}}) {
      if (arguments.contains(field)) add(option, NumberText(arguments.at(field).get<double>()));
    }
    if (arguments.contains("source") || arguments.contains("path")) {
      HONE_ASSIGN_OR_RETURN(const Toolbox::Source seed,
                            toolbox.SourceOf(arguments, "source", "path", "the kernel to start from"));
      const std::string file = options.state_directory + "/seed-kernels/" + Sha256Hex(seed.text).substr(0, 16) + ".cu";
      HONE_RETURN_IF_ERROR(WriteFileAtomically(file, seed.text));
      add("--seed-kernel", file);
    }
  }
  const std::string given_device = arguments.value("device", std::string());
  if (given_device.starts_with("spool:") && given_device != options.evaluator.device)
    return Status::InvalidArgument("a spool is chosen when the server is started: hone mcp --device spool:DIR");
  // A resumed run goes on with the device with which it began, unless the call names one.
  if (!given_device.empty() || !resumes)
    add("--device", given_device.empty() ? options.evaluator.device : given_device);
  add("--store", options.store);
  program.environment = options.run_environment;
  program.folder = options.root;
  program.log =
      fmt::format("{}/run-logs/{:.0f}-{:08x}.log", options.state_directory, UnixSeconds(), SystemSeed() & 0xffffffff);
  HONE_ASSIGN_OR_RETURN(const pid_t pid, StartInBackground(program));
  started.Add(pid);
  context.progress(1, std::nullopt, "waiting for the run to begin");
  HONE_ASSIGN_OR_RETURN(const std::string run, WaitForRunId(pid, program.log, kBeginSeconds));
  HONE_ASSIGN_OR_RETURN(RunState state, ReadRunState(toolbox, run));
  // The process prints the run's ID just before it locks the run, which fails if another process has locked it.
  std::optional<int> end;
  for (int look = 0; look < 100 && state.state == "stopped" && !end; ++look) {
    end = EndOfBackground(pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    HONE_ASSIGN_OR_RETURN(state, ReadRunState(toolbox, run));
  }
  if (end.value_or(0) > 1 && state.state == "stopped") {
    return Status::Unavailable(fmt::format("run {} could not go on: {}", run, ComplaintsIn(program.log)));
  }
  return StateAnswer(toolbox, state);
}

// Returns a run's state. With wait_seconds, waits for the next finished node or the run's end first.
Result<ToolAnswer> RunStatus(const Toolbox& toolbox, const Json& arguments, const CallContext& context) {
  const double patience = arguments.value("wait_seconds", 0.0);
  const Stopwatch watch;
  HONE_ASSIGN_OR_RETURN(RunState run, ReadRunState(toolbox, arguments.value("run", std::string("last"))));
  const std::string id = run.view.info.id;
  // The call is done when a further node is done, or the run has ended.
  const auto done = [](const RunView& view) {
    return std::count_if(view.nodes.begin(), view.nodes.end(), [](const RunNode& node) { return node.done(); });
  };
  const auto before = done(run.view);
  while (run.state == "running" && done(run.view) == before && watch.Seconds() < patience &&
         !context.stop.stop_requested()) {
    context.progress(watch.Seconds() + 1e-3, patience,
                     fmt::format("{} nodes, {} attempts", run.view.nodes.size(), run.view.attempts));
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    HONE_ASSIGN_OR_RETURN(run, ReadRunState(toolbox, id));
  }
  return StateAnswer(toolbox, run);
}

// Asks a run to stop, and waits a while for it.
Result<ToolAnswer> StopRunTool(const Toolbox& toolbox, const Json& arguments) {
  HONE_ASSIGN_OR_RETURN(RunState run, ReadRunState(toolbox, arguments.at("run").get<std::string>()));
  const std::string id = run.view.info.id;
  if (run.state == "running" && !StopRun(toolbox.options().store, id, arguments.value("wait_seconds", 30.0))) {
    return Status::TimedOut(fmt::format(
        "run {} was asked to stop, and finishes an evaluation first: call run_status to see when it has", id));
  }
  HONE_ASSIGN_OR_RETURN(run, ReadRunState(toolbox, id));
  return StateAnswer(toolbox, run);
}

// Returns the source and the evaluation of a node, by default the best.
Result<ToolAnswer> RunBest(const Toolbox& toolbox, const Json& arguments) {
  HONE_ASSIGN_OR_RETURN(const OpenedRun run,
                        OpenRun(toolbox.options().store, arguments.value("run", std::string("last"))));
  const RunView& view = run.view;
  const int64_t id = arguments.value("node", view.best);
  if (id >= static_cast<int64_t>(view.nodes.size()) || view.node(id).source_hash.empty()) {
    return Status::NotFound(fmt::format("node {} of run {} has no source", id, view.info.id));
  }
  const RunNode& node = view.node(id);
  HONE_ASSIGN_OR_RETURN(const std::string source, run.store->Source(node.source_hash));
  const std::string address = fmt::format("hone://runs/{}/{}", view.info.id, id);
  const bool proven =
      view.final_result && view.final_result->node == id && view.final_result->evaluation.verdict == Verdict::kOk;
  const std::string next_step =
      fmt::format("Judge or change it with eval, or take it into a program by apply with run \"{}\".", view.info.id);
  Json fields = {
      {"run", view.info.id}, {"task", view.info.task},
      {"node", id},          {"idea", node.idea},
      {"source", source},    {"modelled", view.info.modelled},
      {"proven", proven},    {"verdict", node.evaluation ? VerdictName(node.evaluation->verdict) : "not judged"},
      {"next", next_step},   {"address", address}};
  if (proven && view.final_result->evaluation.geomean_speedup) {
    fields["speedup"] = *view.final_result->evaluation.geomean_speedup;
  } else if (node.speedup) {
    fields["speedup"] = *node.speedup;
  }
  ToolAnswer answer;
  answer.text = fmt::format("Node {} of run {} ({}): {}\n", id, view.info.id, view.info.task, node.idea);
  if (fields.contains("speedup")) {
    answer.text += fmt::format("{:.3f}x over the seed, {}{}\n", fields["speedup"].get<double>(),
                               proven ? "paired with it at the end" : "estimated along the chain of kept versions",
                               view.info.modelled ? "; times are modelled" : "");
  }
  answer.text =
      FitText(answer.text + "\n```cuda\n" + source + "\n```\n", address, kAnswerBytes - 400) + "\n" + next_step + "\n";
  std::vector<std::string> left_out;
  answer.structured = FitJson(std::move(fields), {}, left_out, kAnswerBytes - 500);
  answer.structured["left_out"] = left_out;
  answer.links.push_back({address, fmt::format("node {}", id),
                          "The node with its source, evaluation and difference to its parent", "application/json"});
  return answer;
}

// Writes a run's best kernel, or a candidate, as files for use (docs/apply.md).
Result<ToolAnswer> Apply(const Toolbox& toolbox, const Json& arguments) {
  const bool from_run = arguments.contains("run");
  if (from_run == arguments.contains("task"))
    return Status::InvalidArgument("give a run, or a task with a candidate as source or path");
  Result<KernelPackage> package = Status::Internal("not made");
  if (from_run) {
    HONE_ASSIGN_OR_RETURN(const OpenedRun run,
                          OpenRun(toolbox.options().store, arguments.at("run").get<std::string>()));
    package = MakeKernelPackage(*run.store, run.view, arguments.value("node", int64_t{-1}));
  } else {
    HONE_ASSIGN_OR_RETURN(const Task task, toolbox.FindTask(arguments.at("task").get<std::string>()));
    HONE_ASSIGN_OR_RETURN(const Toolbox::Source source, CandidateOf(toolbox, arguments));
    package = MakeFilePackage(task, source.text, source.name);
  }
  HONE_RETURN_IF_ERROR(package.status());
  HONE_ASSIGN_OR_RETURN(const std::string out, toolbox.BelowRoot(arguments.value("out", "hone_" + package->task.name)));
  HONE_ASSIGN_OR_RETURN(const std::vector<GeneratedFile> files, WritePackage(*package, out));
  ToolAnswer answer;
  answer.structured = PackageJson(*package, files, out);
  const std::vector<std::string> options = PackageOptions(*package);
  answer.structured["compiler_options"] = options;
  answer.text =
      package->run.empty()
          ? fmt::format("{} as it stands, for every shape that its plan serves; eval judges it.\n", package->file)
          : fmt::format("Node {} of run {}.\n", package->node, package->run);
  for (const std::string& when : package->seed_shapes) answer.text += "The seed runs where " + when + "\n";
  std::string joined;
  for (const std::string& option : options) joined += (joined.empty() ? "" : " ") + option;
  if (!options.empty()) answer.text += "Compile with " + joined + "\n";
  for (const GeneratedFile& file : files) answer.text += fmt::format("{}/{}: {}\n", out, file.name, file.what);
  return answer;
}

}  // namespace

std::vector<Tool> RunTools(const std::shared_ptr<Toolbox>& toolbox) {
  const auto started = std::make_shared<Started>();
  const Json node = IntegerSchema("A node other than the best.", 0, int64_t{1} << 31);
  std::vector<Tool> tools;
  tools.push_back(
      {.name = "run_start",
       .title = "Start or continue a search",
       .description =
           "Starts a search for a faster kernel in the background, or continues one, and answers at once with its id. "
           "A strategy proposes versions (by a language model, or "
           "by mechanical rewrites with model builtin), each is judged, the best is kept, tunables are swept. The run "
           "outlives this session: any later one watches it by "
           "run_status, stops it by run_stop, continues it by resume, and takes the winner by run_best or apply.",
       .input_schema = ObjectSchema(
           {{"task", TaskField()},
            {"resume", TextSchema("Continue this run: an id, a part of one, or last. It keeps the options it began "
                                  "with. A run that ended by itself is shown, and not continued.")},
            {"strategy", ChoiceSchema("How to search; by default refine.",
                                      {"refine", "team", "tree", "sample", "reflexion", "single", "funnel", "reckon"})},
            {"model", TextSchema("Who proposes: builtin (mechanical rewrites, the default), openai:NAME or "
                                 "anthropic:NAME with the key in the server's environment, or mailbox:FOLDER below "
                                 "the root, where somebody answers files.")},
            {"attempts", IntegerSchema("How many proposals at most; by default 32.", 1, 1000000)},
            {"minutes", NumberSchema("How long at most; 0: no limit.", 0, 1e6)},
            {"max_tokens", IntegerSchema("How many tokens at most, in and out; 0: no limit.", 0, int64_t{1} << 50)},
            {"max_cost", NumberSchema("How many US dollars at most; 0: no limit.", 0, 1e9)},
            {"parallel", IntegerSchema("How many attempts at a time; by default 1.", 1, 256)},
            {"source", SourceField("Start from this .cu text in place of the task's seed.")},
            {"path", TextSchema("Start from this .cu file below the server's root.")},
            {"device", DeviceField()}},
           {}),
       .output_schema = StateSchema(),
       .annotations = {{"readOnlyHint", false}, {"destructiveHint", false}, {"openWorldHint", true}},
       .call = [toolbox, started](const Json& arguments, const CallContext& context) {
         return StartRunTool(*toolbox, *started, arguments, context);
       }});
  tools.push_back({.name = "run_status",
                   .title = "Look at a search",
                   .description = "Says what a run has found so far, attempt by attempt, and whether a process works "
                                  "at it. With wait_seconds it answers when the next attempt is judged.",
                   .input_schema = ObjectSchema({{"run", RunField("By default last.")},
                                                 {"wait_seconds", NumberSchema("Wait so long for news.", 0, 600)}},
                                                {}),
                   .output_schema = StateSchema(),
                   .annotations = {{"readOnlyHint", true}, {"openWorldHint", false}},
                   .call = [toolbox](const Json& arguments, const CallContext& context) {
                     return RunStatus(*toolbox, arguments, context);
                   }});
  tools.push_back(
      {.name = "run_stop",
       .title = "Stop a search",
       .description = "Stops a run in order: the evaluation under way is finished, everything found is kept, and "
                      "run_start continues it by resume.",
       .input_schema = ObjectSchema(
           {{"run", RunField("")}, {"wait_seconds", NumberSchema("Wait so long for its end; by default 30.", 0, 600)}},
           {"run"}),
       .output_schema = StateSchema(),
       .annotations =
           {{"readOnlyHint", false}, {"destructiveHint", false}, {"idempotentHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext&) { return StopRunTool(*toolbox, arguments); }});
  tools.push_back(
      {.name = "run_best",
       .title = "Take a search's best kernel",
       .description =
           "Gives the source of the best kernel of a run, or of another node, with its speedup over the seed.",
       .input_schema = ObjectSchema({{"run", RunField("By default last.")}, {"node", node}}, {}),
       .output_schema = ObjectSchema(
           {{"run", TextSchema("The run.")},
            {"node", IntegerSchema("The node; 0 is the seed.", 0, int64_t{1} << 53)},
            {"source", TextSchema("The kernel: a whole candidate.")},
            {"verdict", TextSchema("Of its evaluation.")},
            {"speedup", NumberSchema("Over the seed.")},
            {"proven",
             BooleanSchema("Whether it was paired with the seed at the run's end; else the speedup is estimated.")},
            {"modelled", BooleanSchema("Whether times are modelled.")},
            {"next", TextSchema("What to do next.")},
            {"left_out", LeftOutField()}},
           {"run", "node", "source", "verdict", "next"}, /*open=*/true),
       .annotations = {{"readOnlyHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext&) { return RunBest(*toolbox, arguments); }});
  tools.push_back(
      {.name = "apply",
       .title = "Take a kernel into a program",
       .description = "Writes a run's winner, or a candidate, as a C++/CUDA header with a function that chooses the "
                      "kernel by shape, and as a PyTorch extension, to a folder below the "
                      "server's root.",
       .input_schema = ObjectSchema({{"run", RunField("Or give task with source or path.")},
                                     {"node", node},
                                     {"task", TaskField()},
                                     {"source", CandidateField()},
                                     {"path", PathField()},
                                     {"out", TextSchema("The folder below the server's root; by default hone_TASK.")}},
                                    {}),
       .output_schema = ObjectSchema(
           {{"task", TextSchema("The task.")},
            {"files", ListSchema("What was written.", TextSchema("A path."))},
            {"shapes",
             ListSchema("The timed shapes, and which kernel runs there.", AnyObjectSchema("dims, runs, speedup."))},
            {"seed_when",
             ListSchema("Where one of these holds, the seed runs.", TextSchema("An expression over the dimensions."))},
            {"compiler_options", ListSchema("Options to compile the header with.", TextSchema("An option."))}},
           {"task", "files"}, /*open=*/true),
       .annotations = {{"readOnlyHint", false}, {"destructiveHint", true}, {"openWorldHint", false}},
       .call = [toolbox](const Json& arguments, const CallContext&) { return Apply(*toolbox, arguments); }});
  return tools;
}

}  // namespace hone::mcp
