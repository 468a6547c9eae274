// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn train GRAPH trains a model on sampled mini-batches, epoch by epoch, with checkpoints from which it can
// resume.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/dist/agreement.h"
#include "gnn/train/checkpoint.h"
#include "gnn/train/run_position.h"
#include "gnn/train/standard_targets.h"
#include "gnn/train/train_options.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/device.h"
#include "hone-gnn/go_on.h"
#include "hone-gnn/load_flag.h"
#include "hone-gnn/model_warnings.h"
#include "hone-gnn/ranks.h"
#include "hone-gnn/run_setup.h"
#include "hone-gnn/time_left.h"
#include "hone-gnn/train_flags.h"
#include "hone-gnn/tuned.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

struct TrainCommandFlags {
  TrainFlags train;
  RunOptions run;
  RankFlags ranks;
  DeviceFlags device;
  FeatureRequest features;
  std::string graph, load = "auto", split, resume, init, tuned;
  int epochs = 0;
  bool overwrite = false, json = false, quiet = false, shards_given = false;
  std::vector<CLI::Option*> trajectory;  // the options that decide the result, which a resumed run keeps
};

std::atomic<bool> g_stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

// Makes the first signal ask the run to stop after its step; a second one ends the program as usual.
void StopAtSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_stop_requested.store(true); };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// Shows progress on standard error: on a terminal in one line that is redrawn at every step, elsewhere by a line twice
// a minute.
class StepLine {
 public:
  StepLine(bool is_wanted, int epochs)
      : wanted_(is_wanted), terminal_(isatty(STDERR_FILENO) == 1), epochs_(epochs), left_(epochs) {}

  void Show(const StepReport& step) {
    const double now = SteadySeconds();
    const std::string time_left = left_.Text(step, now);
    if (!wanted_ || now - last_ < (terminal_ ? 0.2 : 30)) return;  // seconds between two lines
    last_ = now;
    const std::string what = step.validating
                                 ? fmt::format("validating {} of {}", step.step + 1, step.steps)
                                 : fmt::format("step {} of {}, loss {:.4f}", step.step + 1, step.steps, step.loss);
    // "\r\x1b[K" returns to the line's beginning and erases it.
    WriteAsIs(stderr, fmt::format("{}epoch {} of {}, {}{}{}{}", terminal_ ? "\r\x1b[K" : "", step.epoch + 1, epochs_,
                                  what, time_left.empty() ? "" : "; ", time_left, terminal_ ? "" : "\n"));
    std::fflush(stderr);
    line_is_open_ = terminal_;
  }
  void Clear() {
    if (line_is_open_) WriteAsIs(stderr, "\r\x1b[K");
    line_is_open_ = false;
  }

 private:
  bool wanted_, terminal_, line_is_open_ = false;
  int epochs_;
  TimeLeft left_;
  double last_ = SteadySeconds();
};

// Returns an epoch's report as JSON. A GPU that samples for itself overlaps sampling, gathering and computing of
// successive batches: the parts have no times of their own, and the drawn nodes are not counted.
nlohmann::json ToJson(const EpochReport& e, const DeviceChoice& device) {
  const EpochTimes& t = e.times;
  nlohmann::json json = {{"event", "epoch"},
                         {"epoch", e.epoch},
                         {"steps", e.steps},
                         {"loss", NumberOrNull(e.loss)},
                         {"train_accuracy", NumberOrNull(e.train_accuracy)},
                         {"valid_accuracy", NumberOrNull(e.valid_accuracy)},
                         {"valid_macro_f1", NumberOrNull(e.valid_macro_f1)},
                         {"valid_auc", NumberOrNull(e.valid_auc)},
                         {"valid_micro_f1", NumberOrNull(e.valid_micro_f1)},
                         {"valid_average_precision", NumberOrNull(e.valid_average_precision)},
                         {"valid_rmse", NumberOrNull(e.valid_rmse)},
                         {"valid_mae", NumberOrNull(e.valid_mae)},
                         {"best", e.best},
                         {"learning_rate", e.learning_rate},
                         {"sampled_nodes", e.sampled_nodes},
                         {"sampled_edges", e.sampled_edges},
                         {"seconds",
                          {{"wall", t.wall},
                           {"train", t.train},
                           {"sample", t.sample},
                           {"slice", t.slice},
                           {"transfer", t.transfer},
                           {"compute", t.compute},
                           {"exposed", t.exposed},
                           {"evaluate", t.evaluate},
                           {"cpu", t.cpu}}}};
  if (device.cuda && !device.host_batches) {
    for (const char* seconds_or_dash : {"sample", "slice", "transfer", "exposed"})
      json["seconds"][seconds_or_dash] = nullptr;
    json["sampled_nodes"] = json["sampled_edges"] = nullptr;
  }
  return json;
}

// Prints an epoch's row of the table.
void PrintRow(const TrainOptions& options, const EpochReport& e, const DeviceChoice& device) {
  const EpochTimes& t = e.times;
  const bool samples_on_gpu = device.cuda && !device.host_batches;
  const auto seconds_or_dash = [&](double seconds) {
    return samples_on_gpu ? std::string("-") : fmt::format("{:.2f}", seconds);
  };
  hone::Print("{:>5} {:>9.4f} {:>9} {:>9}{} {:>9.2f} {:>8} {:>8} {:>8} {:>8.2f} {:>8} {:>8.2f} {:>9.2g}\n", e.epoch + 1,
              e.loss, PercentText(e.train_accuracy), MetricText(options.metric, MetricOf(options, e)),
              e.best ? '*' : ' ', t.train, seconds_or_dash(t.sample), seconds_or_dash(t.slice),
              seconds_or_dash(t.transfer), t.compute, seconds_or_dash(t.exposed), t.evaluate, e.learning_rate);
  std::fflush(stdout);
}

// Returns where the features will lie if the GPU can do the run, else why it cannot. The options of a resumed run are
// read from its checkpoint.
Result<FeaturePlace> PlaceTrainingOnGpu(const TrainCommandFlags& flags, const GraphOutline& graph, bool fp32,
                                        const FeatureRequest& requested) {
  if (flags.resume.empty()) {
    const TrainOptions options = ForTargets(flags.train.train, graph.targets);
    HONE_RETURN_IF_ERROR(GpuCanTrain(flags.train.model.options, options, flags.run));
    return PlaceFeaturesOnGpu(graph, flags.train.model.options, options, fp32, requested);
  }
  const std::string path = CheckpointFile(flags.resume);
  HONE_ASSIGN_OR_RETURN(const TensorFile file, ReadTensorFile(path));
  HONE_ASSIGN_OR_RETURN(const CheckpointHeader header, ReadCheckpointHeader(file, fmt::format("'{}'", path)));
  HONE_RETURN_IF_ERROR(GpuCanTrain(header.model, header.train, flags.run).WithContext(fmt::format("'{}'", path)));
  return PlaceFeaturesOnGpu(graph, header.model, header.train, fp32, requested);
}

// Returns the learning rate given for a resumed run; 0: none was given.
double GivenLearningRate(const TrainCommandFlags& flags) {
  const auto sets_learning_rate = [](const CLI::Option* option) {
    return option->get_name() == "--lr" && option->count() > 0;
  };
  return std::any_of(flags.trajectory.begin(), flags.trajectory.end(), sets_learning_rate)
             ? flags.train.train.learning_rate
             : 0;
}

// Reads the kernels of --tuned into `gpu`, if they are for this run.
Status ReadTunedKernels(const TrainCommandFlags& flags, const Graph& graph, const DeviceChoice& device, GpuRun& gpu) {
  if (flags.tuned.empty() || !device.cuda) return Status::Ok();
  ModelOptions model = flags.train.model.options;
  TrainOptions options = flags.train.train;
  if (!flags.resume.empty()) {
    const std::string path = CheckpointFile(flags.resume);
    HONE_ASSIGN_OR_RETURN(const TensorFile file, ReadTensorFile(path));
    HONE_ASSIGN_OR_RETURN(const CheckpointHeader header, ReadCheckpointHeader(file, fmt::format("'{}'", path)));
    model = header.model;
    options = header.train;
  }
  HONE_ASSIGN_OR_RETURN(gpu.choices,
                        ChoicesFor(flags.tuned, PlaceOf(model, options, graph, device.fp32, device.gpu.name)));
  return Status::Ok();
}

// Makes the trainer of a new run, or of the run that --resume continues.
Result<std::unique_ptr<Trainer>> Prepare(TrainCommandFlags& flags, const std::shared_ptr<const Graph>& graph,
                                         const DeviceChoice& device, GpuRun& gpu) {
  if (flags.resume.empty()) {
    if (flags.epochs > 0) flags.train.train.epochs = flags.epochs;
    std::error_code ignored;
    if (std::filesystem::is_directory(flags.init, ignored)) flags.init += "/best.safetensors";
    const ModelOptions& model = flags.train.model.options;
    if (device.cuda) return MakeTrainerOnGpu(graph, model, flags.train.train, flags.run, flags.init, gpu);
    return MakeTrainer(graph, model, flags.train.train, flags.run, flags.init);
  }
  if (flags.run.checkpoint.empty()) {
    std::error_code ignored;
    const std::filesystem::path path = flags.resume;
    flags.run.checkpoint = std::filesystem::is_directory(path, ignored) ? path : path.parent_path();
    if (flags.run.checkpoint.empty()) flags.run.checkpoint = ".";
  }
  if (device.cuda)
    return ResumeTrainerOnGpu(graph, flags.resume, flags.run, flags.epochs, GivenLearningRate(flags), gpu);
  return ResumeTrainer(graph, flags.resume, flags.run, flags.epochs, GivenLearningRate(flags));
}

// Prints what the run is about to do: one JSON object, or lines for people and the heading of the table of epochs.
void PrintStart(const TrainCommandFlags& flags, const Graph& graph, const DeviceChoice& device, const GpuRun& gpu,
                Trainer& trainer, RankSession& session) {
  const int64_t edges = device.cuda ? gpu.num_edges : graph.structure().num_edges();
  const ModelOptions& model = trainer.model().options();
  int64_t parameters = 0;
  for (const Parameter<float>* p : trainer.model().parameters()) {
    if (p->trainable()) parameters += static_cast<int64_t>(p->value.size());
  }
  if (flags.json) {
    nlohmann::json json = {{"event", "start"},
                           {"graph", graph.name()},
                           {"nodes", graph.structure().num_nodes},
                           {"edges", edges},
                           {"model", ModelName(model)},
                           {"layers", model.layers},
                           {"hidden", model.spec == nullptr ? nlohmann::json(model.hidden) : nlohmann::json(nullptr)},
                           {"parameters", parameters},
                           {"ranks", session.group().size()},
                           {"hosts", session.hosts()},
                           {"shards", trainer.options().shards},
                           {"epochs", trainer.options().epochs},
                           {"steps_per_epoch", trainer.steps_per_epoch()},
                           {"next_epoch", trainer.next_epoch()},
                           {"next_step", trainer.next_step()}};
    device.AppendTo(json);
    if (device.cuda) json["device_bytes"] = gpu.device_bytes;
    if (gpu.host_bytes > 0) {
      json["host_rows"] = {{"bytes", gpu.host_bytes},
                           {"copies", gpu.host_shared ? 1 : session.group().ranks_on_this_host()}};
    }
    if (device.cuda && (device.features.host || device.features.peers)) json["cache_rows"] = device.features.cache_rows;
    hone::Print("{}\n", DumpJson(json, -1));
    std::fflush(stdout);
    return;
  }
  hone::Print("{}{}\n", device.Line(),
              device.cuda ? fmt::format("; {} MiB of its memory", gpu.device_bytes >> 20) : std::string());
  hone::Print("{}: {} nodes, {} edges, {} training nodes; {} of {} layers, {} parameters\n", graph.name(),
              graph.structure().num_nodes, edges, graph.train_nodes().size(), ModelName(model), model.layers,
              parameters);
  if (const int ranks = session.group().size(); ranks > 1) {
    const TrainOptions& o = trainer.options();
    hone::Print("{} ranks on {} {}: a step is {} shards of {} training nodes, {} a rank{}.\n", ranks, session.hosts(),
                session.hosts() == 1 ? "host" : "hosts", o.shards, o.batch, o.shards / ranks,
                flags.shards_given || !flags.resume.empty() ? "" : " (--shards was not given: one a rank)");
  }
  if (gpu.host_bytes > 0 && session.group().size() > 1) {
    hone::Print("Features: {:.2f} GB in the host's memory, {}.\n", static_cast<double>(gpu.host_bytes) * 1e-9,
                gpu.host_shared ? "one copy for all ranks" : "a copy for each rank");
  }
  if (trainer.next_epoch() >= trainer.options().epochs) {
    hone::Print(
        "Nothing is left to train: {} epoch{} of the run {} done; a larger --epochs N, counted from its start, trains "
        "to epoch N.\n",
        trainer.next_epoch(), trainer.next_epoch() == 1 ? "" : "s", trainer.next_epoch() == 1 ? "is" : "are");
    return;
  }
  if (trainer.next_epoch() > 0 || trainer.next_step() > 0) {
    hone::Print("Going on in epoch {} after step {}.\n", trainer.next_epoch() + 1, trainer.next_step());
  }
  hone::Print("{:>5} {:>9} {:>9} {:>9}  {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}\n", "epoch", "loss", "train",
              "valid", "seconds", "sample", "slice", "transfer", "compute", "exposed", "validate", "lr");
  std::fflush(stdout);
}

// Prints how the run ended and what it kept.
void PrintEnd(const TrainCommandFlags& flags, const TrainResult& result) {
  static constexpr const char* kEndNames[] = {"finished", "early_stop", "stopped"};
  if (flags.json) {
    const nlohmann::json json = {{"event", "end"},
                                 {"end", kEndNames[static_cast<int>(result.end)]},
                                 {"epochs", result.epochs},
                                 {"metric", MetricName(flags.train.train.metric)},
                                 {"best_valid", NumberOrNull(result.best_valid)},
                                 {"best_epoch", result.best_epoch},
                                 {"checkpoint", result.checkpoint}};
    hone::Print("{}\n", DumpJson(json, -1));
    return;
  }
  if (result.end == TrainResult::End::kEarlyStop) {
    hone::Print("Ended early: {} validations in a row were no better.\n", flags.train.train.early_stop);
  }
  if (result.best_epoch >= 0) {
    hone::Print("Best validation {} {} after epoch {}", MetricName(flags.train.train.metric),
                MetricText(flags.train.train.metric, result.best_valid), result.best_epoch + 1);
    hone::Print("{}", flags.run.checkpoint.empty()
                          ? "; its weights were not kept: --checkpoint FOLDER keeps them"
                          : fmt::format("; its weights: {}/best.safetensors", flags.run.checkpoint));
    hone::Print("\n");
  }
  if (result.end != TrainResult::End::kStopped) return;
  if (result.checkpoint.empty()) {
    hone::Print("Stopped. Nothing was kept: without --checkpoint FOLDER there is nothing to go on from.\n");
  } else {
    hone::Print("Stopped. To go on: {}\n", GoOnCommand(*flags.device.command, flags.trajectory, flags.graph,
                                                       flags.run.checkpoint, /*repeat_epochs=*/false,
                                                       /*repeat_checkpoint=*/false));
  }
}

// Refuses a folder that holds a checkpoint: a forgotten --resume must not cost a run of days.
Status CheckFolder(const TrainCommandFlags& flags) {
  if (!flags.resume.empty() || flags.run.checkpoint.empty() || flags.overwrite ||
      !FileExists(flags.run.checkpoint + "/last.safetensors")) {
    return Status::Ok();
  }
  return Status::InvalidArgument(
      fmt::format("'{}' holds the checkpoint of a run already: go on with it by --resume '{}', choose another folder, "
                  "or say --overwrite",
                  flags.run.checkpoint, flags.run.checkpoint));
}

// Locks the checkpoint's folder for this run for as long as the result lives. Two runs that save into one folder would
// leave the last state of one beside the best of the other. The result holds no lock if there is no folder, or if the
// file system has no locks. A folder that cannot be made is reported by the first save.
Result<UniqueFd> ClaimFolder(const std::string& folder) {
  UniqueFd lock;
  if (folder.empty() || !MakeDirectories(folder).ok()) return lock;
  lock.Reset(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.valid() && TryLock(lock.get()) == LockOutcome::kAnothers) {
    return Status::Unavailable(fmt::format(
        "another process saves its checkpoints in '{}': wait for its end, or choose another folder", folder));
  }
  return lock;
}

// Checks the flags as far as that is possible without the graph.
Status CheckFlags(TrainCommandFlags& flags) {
  for (const CLI::Option* option : flags.trajectory) {
    if (option->count() == 0) continue;
    if (option->get_name() == "--shards") flags.shards_given = true;
    // A resumed run may be given another learning rate.
    if (flags.resume.empty() || option->get_name() == "--lr") continue;
    return Status::InvalidArgument(
        fmt::format("{} cannot be given with --resume: the run goes on with the options it began with; leave it out, "
                    "or start a new run (from these weights: --init)",
                    option->get_name()));
  }
  if (flags.resume.empty()) return CompleteTrainFlags(flags.train);
  return flags.init.empty() ? Status::Ok() : Status::InvalidArgument("--init and --resume cannot be given together");
}

// Returns the settings that must be equal on all ranks, besides those that SetUpRun compares.
std::vector<Setting> SettingsOf(const TrainCommandFlags& flags) {
  std::vector<Setting> settings = {{"--resume", flags.resume.empty() ? "not given" : "given"},
                                   {"--init", flags.init.empty() ? "not given" : "given"},
                                   {"--epochs", flags.epochs > 0 ? std::to_string(flags.epochs) : "not given"}};
  if (!flags.resume.empty())
    settings.push_back(
        {"--lr", GivenLearningRate(flags) > 0 ? fmt::format("{}", GivenLearningRate(flags)) : "not given"});
  // A resumed run takes its options from rank 0's checkpoint, so those of the command line are not compared.
  if (flags.resume.empty()) AppendSettings(flags.train, settings);
  return settings;
}

// Runs the command in one process: the only one, one that starts the others, or one rank of several.
Status Run(TrainCommandFlags& flags, RankSession& session, int& exit_status) {
  HONE_RETURN_IF_ERROR(CheckFlags(flags));
  HONE_ASSIGN_OR_RETURN(const RankPlace place, ThisRank(flags.ranks));
  if (place.launcher != "--ranks") HONE_RETURN_IF_ERROR(CheckGpus(flags.ranks));
  if (StartsRanks(flags.ranks, place)) {
    HONE_RETURN_IF_ERROR(CheckFolder(flags));
    HONE_ASSIGN_OR_RETURN(exit_status, StartRanks(flags.ranks));
    return Status::Ok();
  }
  HONE_RETURN_IF_ERROR(session.Join(place, flags.ranks));
  Communicator& ranks = session.group().communicator();
  flags.run.communicator = &ranks;
  flags.run.threads = session.Threads(flags.run.threads);
  flags.quiet = flags.quiet || !session.speaks();
  flags.run.note = [](const std::string& text) { PrintError("hone-gnn: note: {}\n", text); };
  if (ranks.size() > 1 && !flags.shards_given) flags.train.train.shards = ranks.size();
  const Status folder_status = ranks.rank() == 0 ? CheckFolder(flags) : Status::Ok();
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the checkpoint's folder", folder_status));
  HONE_ASSIGN_OR_RETURN(RunSetup setup,
                        SetUpRun({flags.graph, flags.ranks, flags.device, flags.features},
                                 {.place_on_gpu =
                                      [&](const GraphOutline& graph, bool fp32, const FeatureRequest& requested) {
                                        return PlaceTrainingOnGpu(flags, graph, fp32, requested);
                                      },
                                  .rank0_only = !flags.resume.empty(),
                                  .settings = SettingsOf(flags),
                                  .threads = flags.run.threads,
                                  .quiet = flags.quiet,
                                  .load = flags.load,
                                  .split = flags.split},
                                 session));
  const DeviceChoice& device = setup.device;
  const std::shared_ptr<const Graph>& graph = setup.graph;
  GpuRun& gpu = setup.gpu;
  HONE_RETURN_IF_ERROR(ReadTunedKernels(flags, *graph, device, gpu));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer, Prepare(flags, graph, device, gpu));
  flags.train.train = trainer->options();
  const Result<UniqueFd> folder_lock = ranks.rank() == 0 ? ClaimFolder(flags.run.checkpoint) : UniqueFd();
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the checkpoint's folder", folder_lock.status()));
  if (session.speaks()) {
    for (const std::string& warning : TargetWarnings(*graph, trainer->options())) WarnOnStderr(warning);
  }
  StopAtSignals();
  if (session.speaks()) PrintStart(flags, *graph, device, gpu, *trainer, session);

  StepLine line(!flags.quiet, trainer->options().epochs);
  const TrainEvents events{.step = [&](const StepReport& step) { line.Show(step); },
                           .epoch =
                               [&](const EpochReport& epoch) {
                                 if (!session.speaks()) return;
                                 line.Clear();
                                 if (flags.json) {
                                   hone::Print("{}\n", DumpJson(ToJson(epoch, device), -1));
                                   std::fflush(stdout);
                                 } else {
                                   PrintRow(trainer->options(), epoch, device);
                                 }
                               },
                           .stop = [] { return g_stop_requested.load(); }};
  const int first_epoch = trainer->next_epoch();
  const int64_t first_step = trainer->next_step();
  const Result<TrainResult> result = trainer->Run(events);
  line.Clear();
  if (result.status().code() == StatusCode::kIo) {
    // There is a save before the first step. Where it failed, the folder may still hold an older run's state, and a
    // resumed run would continue from where it was resumed.
    const bool advanced = trainer->next_epoch() != first_epoch || trainer->next_step() != first_step;
    const bool resumed = !flags.resume.empty();
    if (advanced || resumed) {
      return Status::Io(fmt::format("{}. Then go on: {}", result.status().message(),
                                    GoOnCommand(*flags.device.command, flags.trajectory, flags.graph,
                                                advanced ? flags.run.checkpoint : flags.resume, resumed, !advanced)));
    }
  }
  HONE_RETURN_IF_ERROR(result.status());
  if (session.speaks()) PrintEnd(flags, *result);
  exit_status = result->end == TrainResult::End::kStopped ? 1 : 0;
  return Status::Ok();
}

}  // namespace

void RegisterTrainCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<TrainCommandFlags>();
  CLI::App* command = app.add_subcommand("train", "train a model on sampled mini-batches");
  command
      ->add_option("graph", flags->graph,
                   "a graph file (container) that convert or generate wrote, or a graph that is made on the spot, such "
                   "as 'synthetic:arxiv?scale=0.1&seed=1'")
      ->required();
  flags->trajectory = AddTrainFlags(*command, flags->train);
  command
      ->add_option("--epochs", flags->epochs,
                   "how many epochs the run has in all; 25 by default, or what the resumed run had")
      ->check(kAboveZero);
  command->add_option("--checkpoint", flags->run.checkpoint,
                      "write last.safetensors (after each epoch) and best.safetensors (after the best validation) to "
                      "this folder; without it, the trained model is not kept");
  command->add_flag("--overwrite", flags->overwrite, "start over in a folder that holds a run's checkpoint");
  command->add_option("--save-every", flags->run.save_every, "also write last.safetensors after so many steps")
      ->check(kZeroOrMore);
  command->add_option("--resume", flags->resume,
                      "continue from a checkpoint file or folder, with the same bits as an uninterrupted run");
  command->add_option("--init", flags->init,
                      "start from the weights of a .safetensors file with PyTorch Geometric's names, or of a "
                      "checkpoint folder's best.safetensors");
  command->add_option("--threads", flags->run.threads, "how many threads compute; by default all the process may use")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option("--workers", flags->run.workers, "how many threads prepare batches; by default as many as --threads")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option("--queue", flags->run.queue,
                   "how many prepared batches may be under way or waiting; by default two more than --workers")
      ->check(kZeroOrMore);
  AddLoadFlag(*command, flags->load);
  AddSplitFlag(*command, flags->split);
  AddDeviceFlags(*command, flags->device);
  AddFeatureFlags(*command, flags->features);
  AddHostMemoryOption(*command, flags->features);
  AddPipelineOption(*command, flags->device);
  command
      ->add_option(
          "--tuned", flags->tuned,
          "a file that tune-model --apply wrote: the kernels that made this model's epochs faster on this kind of "
          "GPU. Results keep their bits")
      ->group(kOfGpu);
  AddRankFlags(*command, flags->ranks);
  command->add_flag("--json", flags->json, "print one JSON object a line: start, each epoch, end");
  command->add_flag("--quiet", flags->quiet, "print no progress line");
  command->callback([flags, &result] {
    int exit_status = 0;
    RankSession session;
    const Status status = Run(*flags, session, exit_status);
    result.exit_status = session.End(status, exit_status);
  });
}

}  // namespace hone::gnn
