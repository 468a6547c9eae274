// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/sanitizing/sanitizer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/join_verdicts.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/evaluate/sanitizing/sanitize_cases.h"
#include "tuner/evaluate/sanitizing/sanitizer_features.h"
#include "tuner/evaluate/sanitizing/sanitizer_report.h"

namespace hone {
namespace {

constexpr size_t kMostLogBytes = 1 << 20;           // the rest of a log is not read: its first fault comes first
constexpr int64_t kMostRecordBytes = 16 << 20;
constexpr int64_t kMostOutputBytes = 1 << 16;       // limit on what is kept of each stream that a process prints
constexpr uint64_t kNearBytes = 1 << 20;            // an address that is farther from every tensor belongs to none
constexpr double kHelpSeconds = 10;

// Holds what one tool has found.
struct Looked {
  SanitizerTool tool = SanitizerTool::kMemcheck;
  std::string missed;  // why the tool did not look at all launches; empty: it did
  SanitizerLog log;
  WatchRecord record;
  double started = 0, ready = 0, ended = 0;  // SteadySeconds; `ready`: the command was known
};

std::string LastLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

// Returns how a process of the tool runs: with `scratch` as its folder, for its own files too.
SubprocessOptions RunIn(const std::string& scratch, const SanitizerOptions& options) {
  SubprocessOptions run;
  run.environment = options.environment;
  std::erase_if(run.environment, [](const std::string& entry) { return entry.starts_with("TMPDIR="); });
  run.environment.push_back("TMPDIR=" + scratch);
  run.working_directory = scratch;
  run.limit_seconds = options.limit_seconds;
  run.stop = options.stop;
  run.max_stdout_bytes = run.max_stderr_bytes = kMostOutputBytes;
  return run;
}

// Returns the text of `compute-sanitizer --help`; nullopt if it did not end well.
std::optional<std::string> HelpText(const std::string& program, const TemporaryDirectory& directory, const SanitizerOptions& options) {
  SubprocessOptions help = RunIn(directory.path(), options);
  help.argv = {program, "--help"};
  help.limit_seconds = kHelpSeconds;
  const Result<SubprocessResult> helped = RunSubprocess(help);
  return helped.ok() && helped->exit.success() ? std::optional(helped->out) : std::nullopt;
}

// Runs the launches under one tool.
Looked Look(const SanitizerOptions& options, const std::string& program, SanitizerTool tool, const std::string& job_file,
            const TemporaryDirectory& directory) {
  Looked looked;
  looked.tool = tool;
  looked.started = SteadySeconds();
  // Only one tool's command depends on the version, and the others need not wait for the answer.
  SanitizerFeatures features;
  if (DependsOnFeatures(tool)) features = FeaturesOf(program, options.cache_directory, [&] { return HelpText(program, directory, options); });
  looked.ready = SteadySeconds();
  const std::string name(SanitizerToolName(tool));
  const std::string log_file = directory / (name + ".log"), out_file = directory / (name + ".json");
  SubprocessOptions run = RunIn(directory.path(), options);
  run.argv = SanitizerCommand(program, tool, features, log_file);
  run.argv.insert(run.argv.end(), options.argv.begin(), options.argv.end());
  run.argv.insert(run.argv.end(), {"--job", job_file, "--out", out_file});
  const Result<SubprocessResult> ran = RunSubprocess(run);
  looked.ended = SteadySeconds();
  if (!ran.ok()) {
    looked.missed = ran.status().message();
    return looked;
  }
  const Result<std::string> log_text = ReadHead(log_file, kMostLogBytes);
  looked.log = ReadSanitizerLog(log_text.ok() ? *log_text : "");
  const Result<std::string> text = ReadFile(out_file, kMostRecordBytes);
  Result<WatchRecord> record = text.ok() ? DecodeWatchRecord(*text) : text.status();
  if (record.ok()) looked.record = *std::move(record);
  if (!looked.log.faults.empty()) return looked;
  if (ran->stopped) {
    looked.missed = "it was stopped";
  } else if (ran->timed_out) {
    looked.missed = fmt::format("it took more than {:.0f} s", options.limit_seconds);
  } else if (!looked.log.trouble.empty()) {
    looked.missed = looked.log.trouble;
  } else if (looked.log.errors > 0) {
    looked.missed = fmt::format("it counted {} faults of a kind that is not known here", looked.log.errors);
  } else if (!looked.record.end.complete) {
    looked.missed = !looked.record.end.ended.empty() ? looked.record.end.ended
                    : !ran->err.empty()          ? LastLine(ran->err)
                                                 : "its process ended with " + ran->exit.Describe();
  } else if (!looked.log.finished) {
    looked.missed = "it wrote no report";
  }
  return looked;
}

// The place of an address: the launch whose block is nearest, and the block.
struct Place {
  const WatchedLaunch* launch = nullptr;
  const WatchedBlock* block = nullptr;
  uint64_t distance = kNearBytes;  // bytes from the nearer end of the block; 0 within it
};

Place PlaceOf(const WatchRecord& record, uint64_t address) {
  Place place;
  for (const WatchedLaunch& launch : record.launches) {
    for (const WatchedBlock& block : launch.blocks) {
      const uint64_t end = block.address + static_cast<uint64_t>(block.bytes);
      const uint64_t distance = address < block.address ? block.address - address : address >= end ? address - end + 1 : 0;
      if (distance < place.distance) place = {&launch, &block, distance};
    }
  }
  return place;
}

std::string BytesText(uint64_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

// Returns what a fault in global memory did: "reads 4 bytes right past the end of 'x', which has 4012 bytes".
std::string GlobalText(const SanitizerFault& fault, const Place& place) {
  const std::string does = fmt::format("{} {}", fault.writes ? "writes" : "reads", BytesText(static_cast<uint64_t>(fault.bytes)));
  if (place.block == nullptr) return does + (fault.address ? " at an address in no tensor" : "");
  const WatchedBlock& block = *place.block;
  const uint64_t offset = *fault.address - block.address;
  if (fault.kind == "uninitialised_read") return fmt::format("{} of '{}' + {}, which nobody has written", does, block.name, BytesText(offset));
  if (fault.kind == "misaligned") return fmt::format("{} of '{}' + {}, which is not a multiple of {}", does, block.name, BytesText(offset), fault.bytes);
  if (place.distance == 0) return fmt::format("{} of '{}' + {}, past its end: it has {}", does, block.name, BytesText(offset), BytesText(static_cast<uint64_t>(block.bytes)));
  if (*fault.address < block.address) return fmt::format("{} that begin {} before '{}'", does, BytesText(place.distance), block.name);
  return fmt::format("{} that begin {} past the end of '{}', which has {}", does, BytesText(place.distance - 1), block.name,
                     BytesText(static_cast<uint64_t>(block.bytes)));
}

Finding FindingOf(const SanitizerFault& fault, const WatchRecord& record, SanitizerTool tool) {
  const Place place = !fault.shared && fault.address ? PlaceOf(record, *fault.address) : Place();
  std::string what;
  if (fault.kind == "shared_race") {
    what = "uses shared memory in threads of a block with no barrier between";
  } else if (!fault.shared) {
    what = GlobalText(fault, place);
  } else {
    what = fmt::format("{} {} of shared memory{}{}", fault.writes ? "writes" : "reads", BytesText(static_cast<uint64_t>(fault.bytes)),
                       fault.address ? " + " + BytesText(*fault.address) : "",
                       fault.kind == "uninitialised_read" ? ", which nobody in its block has written"
                       : fault.kind == "misaligned"       ? ", misaligned"
                                                          : ", past its end");
  }
  Finding finding;
  finding.kind = fault.kind;
  finding.message = fmt::format("{}{} {} ({}: {})", fault.kernel.empty() ? "the kernel" : fault.kernel,
                                fault.thread.empty() ? "" : ", " + fault.thread + ",", what, SanitizerToolName(tool), fault.words);
  if (place.launch != nullptr) {
    finding.dims = place.launch->dims;
    finding.shapes = 1;
  }
  return finding;
}

// Returns the verdict that a fault means; ok where it is a finding and no more. A race refuses nothing: racecheck of CUDA
// 13.0 does not follow all barriers, and reports cuBLASLt's kernels wrongly. Nor does a read past the end of shared memory:
// nvcc itself reads the one to three words left of a loop with one 16-byte load, and does not use the rest.
Verdict VerdictOf(const SanitizerFault& fault) {
  if (!fault.certain || fault.kind == "shared_race") return Verdict::kOk;
  if (fault.kind == "out_of_bounds" && fault.shared && !fault.writes) return Verdict::kOk;
  return fault.kind == "out_of_bounds" || fault.kind == "misaligned" ? Verdict::kCrashed : Verdict::kRuleViolation;
}

// Adds the seconds of a tool's run, and of its parts as far as the watched process has come.
void AddTimes(const Looked& looked, std::map<std::string, double>& metrics) {
  const std::string name = fmt::format("sanitize_seconds.{}", SanitizerToolName(looked.tool));
  metrics[name] = looked.ended - looked.started;
  const WatchTimes& times = looked.record.end.times;
  double before = looked.started;
  const std::pair<const char*, double> parts[] = {
      {"help", looked.ready},         // finding out what the tool can do
      {"start", times.began},         // the tool's own start, and that of the process under it
      {"session", times.connected},   // driver and context
      {"load", times.loaded},         // the job, the sandbox and the candidate's modules
      {"launches", times.launched},
      {"release", times.released},    // tensors and modules
      {"end", looked.ended},          // the ends of the process and of the tool
  };
  for (const auto& [part, until] : parts) {
    if (until == 0) return;
    metrics[fmt::format("{}.{}", name, part)] = until - before;
    before = until;
  }
  metrics["sanitize_launches"] = static_cast<double>(looked.record.launches.size());
}

Evaluation Join(const std::vector<Looked>& tool_results) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::kOk;
  evaluation.labels = {kSanitizedLabel};
  std::set<std::tuple<std::string, std::string, std::string>> known_faults;  // kind, kernel, tensor
  for (const Looked& looked : tool_results) {
    AddTimes(looked, evaluation.metrics);
    for (const SanitizerFault& fault : looked.log.faults) {
      Finding finding = FindingOf(fault, looked.record, looked.tool);
      const Place place = fault.address && !fault.shared ? PlaceOf(looked.record, *fault.address) : Place();
      if (!known_faults.emplace(fault.kind, fault.kernel, place.block == nullptr ? "" : place.block->name).second)
        continue;
      const Verdict verdict = VerdictOf(fault);
      if (verdict != Verdict::kOk && evaluation.verdict == Verdict::kOk) {
        evaluation.verdict = verdict;
        evaluation.detail = finding.message;
        if (place.launch != nullptr) {
          evaluation.detail += fmt::format(", for {} ({} inputs)", DimsText(place.launch->dims), place.launch->inputs);
        }
      }
      evaluation.findings.push_back(std::move(finding));
    }
  }
  for (const Looked& looked : tool_results) {
    if (looked.missed.empty()) continue;
    evaluation.findings.push_back({.kind = "not_sanitized",
                                   .message = fmt::format("compute-sanitizer did not look for {} ({}): {}", SanitizerToolSubject(looked.tool),
                                                          SanitizerToolName(looked.tool), looked.missed),
                                   .location = ""});
  }
  return evaluation;
}

}  // namespace

Result<Evaluation> SanitizeInProcess(const JudgeJob& job, const SanitizerOptions& options) {
  const double started = SteadySeconds();
  const Result<std::string> program = FindExecutable("compute-sanitizer", options.directories);
  if (!program.ok()) {
    return Status::Unavailable("there is no compute-sanitizer to look for them: install the CUDA toolkit's package cuda-sanitizer, or "
                               "put its folder on the PATH");
  }
  if (SmallCases(job.task).cases.empty()) return Status::Unavailable("no check case is small enough to run under compute-sanitizer");
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory directory, MakeTemporaryDirectory({}, "hone-sanitize-"));
  const std::string job_file = directory / "job";
  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(job_file, EncodeJob(job)));
  std::vector<Looked> tool_results(std::size(kSanitizerTools));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < tool_results.size(); ++i) {
    threads.emplace_back(
        [&, i] { tool_results[i] = Look(options, *program, kSanitizerTools[i], job_file, directory); });
  }
  for (std::thread& thread : threads) thread.join();
  const bool none = std::all_of(tool_results.begin(), tool_results.end(),
                                [](const Looked& looked) { return !looked.missed.empty(); });
  if (none) return Status::Unavailable("compute-sanitizer did not run: " + tool_results.front().missed);
  Evaluation evaluation = Join(tool_results);
  evaluation.stages.push_back({"sanitize", SteadySeconds() - started, true});
  return evaluation;
}

int SanitizeMain(const std::string& job_file, const std::string& out_file,
                 const std::function<Result<std::unique_ptr<DeviceSession>>()>& make_session,
                 const std::optional<SandboxPolicy>& confined) {
  const double began = SteadySeconds();
  // The session is made outside of `run`, so that its destructor is skipped too.
  Result<std::unique_ptr<DeviceSession>> session = make_session();
  const double connected = SteadySeconds();
  const auto run = [&]() -> Status {
    HONE_RETURN_IF_ERROR(session.status());
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(job_file));
    HONE_ASSIGN_OR_RETURN(JudgeJob job, DecodeJob(bytes));
    job.task = SmallCases(job.task);
    const UniqueFd out(open(out_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!out.valid()) return Status::Io(ErrnoMessage("open", out_file, errno));
    if (confined) {
      HONE_ASSIGN_OR_RETURN(const Sandbox sandbox, Sandbox::Prepare(*confined));
      const Sandbox::Failure failure = sandbox.Enter();
      if (failure.step != nullptr) return Status::Unavailable(ErrnoMessage(failure.step, "the watched process", failure.error));
    }
    const JudgeRequest request{.task = &job.task, .candidate = &job.candidate, .options = job.options,
                               .launch_limit_seconds = job.launch_limit_seconds};
    WatchEnd last;
    const WatchKeeper keeper{.launch = [&](const WatchedLaunch& launch) { return WriteAll(out.get(), EncodeWatchLine(launch), out_file); },
                             .end = [&](const WatchEnd& end) {
                               last = end;
                               last.times.began = began;
                               last.times.connected = connected;
                               return WriteAll(out.get(), EncodeWatchLine(last), out_file);
                             }};
    HONE_RETURN_IF_ERROR(LaunchWatched(**session, request, keeper));
    last.times.released = SteadySeconds();
    return WriteAll(out.get(), EncodeWatchLine(last), out_file);
  };
  const Status status = run();
  if (!status.ok()) {
    const std::string line = "hone: " + status.message() + "\n";
    (void)!write(STDERR_FILENO, line.data(), line.size());
  }
  // _Exit skips all destructors: a context that the watcher has destroyed may hang in them.
  _Exit(status.ok() ? 0 : 3);
}

}  // namespace hone
