// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/profiling/profile_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "tuner/core/evaluation/profile_metrics.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/evaluate/profiling/ncu_report.h"
#include "tuner/evaluate/profiling/profile_cases.h"

namespace hone {
namespace {

constexpr int kNcuAttempts = 3;  // each attempt leaves out the metrics that ncu did not know in the previous one

std::string LastLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

// Runs the process once and returns its profile. If the run fails, the profile's note says so.
Result<Profile> RunOnce(const ProfileProcessOptions& options, std::vector<std::string> argv, const std::string& job_file,
                        const std::string& out_file) {
  SubprocessOptions run;
  run.argv = std::move(argv);
  run.argv.insert(run.argv.end(), {"--job", job_file, "--out", out_file});
  run.environment = options.environment;
  run.limit_seconds = options.limit_seconds;
  unlink(out_file.c_str());
  HONE_ASSIGN_OR_RETURN(const SubprocessResult ran, RunSubprocess(run));
  Profile profile;
  const Result<std::string> text = ReadFile(out_file);
  if (!ran.exit.success() || !text.ok()) {
    profile.note = ran.timed_out ? fmt::format("profiling took more than {:.0f} s and was ended", options.limit_seconds)
                                 : fmt::format("the profiling process ended with {}{}", ran.exit.Describe(),
                                               ran.err.empty() ? "" : ": " + LastLine(ran.err));
    return profile;
  }
  HONE_ASSIGN_OR_RETURN(const Evaluation answer, EvaluationFromJson(*text));
  return answer.profile.value_or(profile);
}

// Runs the process under `ncu`, and fills its profile with the metrics that ncu counted.
Result<Profile> RunUnderNcu(const std::string& ncu, const ProfileProcessOptions& options, const std::string& job_file,
                            const TemporaryDirectory& directory) {
  std::vector<std::string> metrics = ProfileMetrics();
  const std::string log_file = directory / "ncu.csv";
  Profile profile;
  for (int attempt = 0;; ++attempt) {
    std::vector<std::string> argv = NcuCommand(ncu, metrics, log_file);
    argv.insert(argv.end(), options.argv.begin(), options.argv.end());
    argv.push_back("--by-ncu");
    unlink(log_file.c_str());
    HONE_ASSIGN_OR_RETURN(profile, RunOnce(options, std::move(argv), job_file, directory / "ncu-out"));
    const Result<std::string> log = ReadFile(log_file);
    const std::string text = log.ok() ? *log : "";
    const std::vector<std::string> unknown = UnknownMetrics(text + "\n" + profile.note);
    const size_t before = metrics.size();
    std::erase_if(metrics, [&](const std::string& m) { return std::find(unknown.begin(), unknown.end(), m) != unknown.end(); });
    if (metrics.size() < before && attempt + 1 < kNcuAttempts) continue;

    const Result<std::vector<std::map<std::string, double>>> counted = ParseNcuCsv(text);
    std::vector<KernelProfile*> kernels;
    for (CaseProfile& c : profile.cases) {
      for (KernelProfile& kernel : c.kernels) kernels.push_back(&kernel);
    }
    if (!counted.ok() || counted->size() != kernels.size()) {
      const std::string why = !counted.ok() ? counted.status().message()
                                            : fmt::format("ncu counted {} kernels where {} were launched", counted->size(), kernels.size());
      // The process's own note (a launch that failed) is preferred to ncu's message, unless ncu may not read counters.
      Profile nothing;
      nothing.note = profile.note.empty() || counted.status().code() == StatusCode::kUnavailable ? why : profile.note;
      return nothing;
    }
    for (size_t i = 0; i < kernels.size(); ++i) FillFromMetrics((*counted)[i], kernels[i]);
    return profile;
  }
}

}  // namespace

Result<Profile> ProfileInProcess(const JudgeJob& job, const ProfileProcessOptions& options) {
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory directory, MakeTemporaryDirectory({}, "hone-profile-"));
  const std::string job_file = directory / "job";
  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(job_file, EncodeJob(job)));
  HONE_ASSIGN_OR_RETURN(Profile profile, RunOnce(options, options.argv, job_file, directory / "out"));
  if (!profile.cases.empty()) return profile;
  const std::string cupti = profile.note.empty() ? "CUPTI counted nothing" : profile.note;
  const Result<std::string> ncu = FindExecutable("ncu", options.ncu_directories);
  if (!ncu.ok()) {
    profile.note = fmt::format("no hardware counters: {} (and there is no `ncu` on the PATH)", cupti);
    return profile;
  }
  HONE_ASSIGN_OR_RETURN(profile, RunUnderNcu(*ncu, options, job_file, directory));
  if (profile.cases.empty()) {
    profile.note = profile.note == cupti ? "no hardware counters: " + cupti
                                         : fmt::format("no hardware counters: CUPTI: {}; ncu: {}", cupti, profile.note);
  }
  return profile;
}

int ProfileMain(const std::string& job_file, const std::string& out_file, Result<std::unique_ptr<DeviceSession>> session) {
  const auto run = [&]() -> Status {
    HONE_RETURN_IF_ERROR(session.status());
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(job_file));
    HONE_ASSIGN_OR_RETURN(const JudgeJob job, DecodeJob(bytes));
    const JudgeRequest request{.task = &job.task, .candidate = &job.candidate, .oracle = &job.oracle, .reference = job.reference.get(), .options = job.options,
                               .launch_limit_seconds = job.launch_limit_seconds};
    Evaluation answer;
    answer.verdict = Verdict::kOk;
    HONE_ASSIGN_OR_RETURN(answer.profile, ProfileCandidate(**session, request, {}));
    return WriteFileAtomicallyUnflushed(out_file, EvaluationToJson(answer, -1));
  };
  const Status status = run();
  if (!status.ok()) {
    const std::string line = "hone: " + status.message() + "\n";
    (void)!write(STDERR_FILENO, line.data(), line.size());
  }
  // _Exit skips all destructors: a context that a candidate has broken, or that a profiler holds, may hang in them.
  _Exit(status.ok() ? 0 : 3);
}

}  // namespace hone
