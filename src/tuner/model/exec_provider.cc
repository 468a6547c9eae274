// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a command for each attempt. Its three standard streams are files in memory and not pipes: a command that reads
// nothing, or writes before it reads, cannot deadlock, and the output file's size shows its progress.
#include "tuner/model/exec_provider.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/random.h"
#include "base/process/stoppable_sleep.h"
#include "base/process/subprocess.h"
#include "base/text/utf8.h"
#include "tuner/model/redact.h"
#include "tuner/model/request_json.h"
#include "tuner/model/wire_json.h"

namespace hone {
namespace {

constexpr int64_t kMaxOutputBytes = int64_t{64} << 20;  // limit on a command's answer
constexpr int64_t kShownErrorBytes = 2000;  // the end of the command's error output that a message quotes
constexpr double kPollSeconds = 0.05;  // delay with which a stop is noticed; the command's end is noticed at once

Result<UniqueFd> MemoryFile(const char* name) {
  UniqueFd file(memfd_create(name, MFD_CLOEXEC));
  if (!file.valid()) return Status::Io(ErrnoMessage("make a file in memory for", name, errno));
  return file;
}

int64_t SizeOf(const UniqueFd& file) {
  struct stat facts {};
  return fstat(file.get(), &facts) == 0 ? facts.st_size : 0;
}

// Returns the file's last `max_bytes`.
std::string TailOf(const UniqueFd& file, int64_t max_bytes) {
  const int64_t size = SizeOf(file);
  std::string text(static_cast<size_t>(std::min(size, max_bytes)), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = pread(file.get(), text.data() + done, text.size() - done,
                            size - static_cast<int64_t>(text.size()) + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  return text;
}

class ExecProvider : public ModelProvider {
 public:
  ExecProvider(std::string command, std::vector<std::string> environment, ExecOptions options)
      : command_(std::move(command)),
        environment_(std::move(environment)),
        redactor_(SecretsOf(environment_)),
        options_(std::move(options)),
        rng_(options_.seed) {}

  std::string Name() const override { return "exec"; }
  std::string CostCaveat() const override {
    return "a command's replies cost what they say in \"cost_usd\", if they do";
  }

  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink& progress,
                              std::stop_token stop) override {
    const Stopwatch watch;
    const double limit = options_.request_seconds > 0 ? std::min(options_.request_seconds, request.limit_seconds)
                                                      : request.limit_seconds;
    Attempts attempts(options_.max_retries, limit);
    while (true) {
      Result<Outcome> outcome = RunOnce(request, progress, stop, watch, limit);
      if (!outcome.ok()) {
        // An attempt that runs out of time reports the earlier failures.
        if (outcome.status().code() != StatusCode::kTimedOut || attempts.notes().empty()) return outcome.status();
        return Status::TimedOut(fmt::format("{}; {} attempt{} before it failed: {}", outcome.status().message(),
                                            attempts.notes().size(), attempts.notes().size() == 1 ? "" : "s",
                                            attempts.notes().back()));
      }
      if (outcome->failure.ok()) {
        ModelReply reply = ReplyOf(std::move(outcome->text), request, watch.Seconds());
        reply.notes = attempts.notes();
        return reply;
      }
      if (!outcome->retry) return outcome->failure;
      HONE_ASSIGN_OR_RETURN(const double wait, attempts.Failed(outcome->failure, watch.Seconds(),
                                                               [&](int failures) { return Backoff(failures); }));
      if (progress) progress({watch.Seconds(), 0, attempts.NextText(wait)});
      if (!options_.sleep(wait, stop)) return Status::Cancelled("stopped while waiting for " + CommandForMessages());
    }
  }

 private:
  // The result of one run of the command: a text, or a failure.
  struct Outcome {
    std::string text;
    Status failure;
    bool retry = true;
  };

  // Runs the command once. Error: it was stopped, took too long, wrote too much, or could not be started.
  Result<Outcome> RunOnce(const ModelRequest& request, const ModelProgressSink& progress, std::stop_token stop,
                          const Stopwatch& watch, double limit) {
    HONE_ASSIGN_OR_RETURN(UniqueFd in, MemoryFile("exec-request"));
    HONE_ASSIGN_OR_RETURN(UniqueFd out, MemoryFile("exec-reply"));
    HONE_ASSIGN_OR_RETURN(UniqueFd err, MemoryFile("exec-errors"));
    const std::string json = RequestJson(request);
    for (size_t done = 0; done < json.size();) {
      const ssize_t n = write(in.get(), json.data() + done, json.size() - done);
      if (n < 0 && errno != EINTR) return Status::Io(ErrnoMessage("write", "exec-request", errno));
      if (n > 0) done += static_cast<size_t>(n);
    }
    lseek(in.get(), 0, SEEK_SET);

    ChildOptions options;
    options.argv = {"/bin/sh", "-c", command_};
    options.environment = environment_;
    options.descriptors = {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}};
    HONE_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(options));
    std::optional<ExitState> exit;
    double shown = 0;
    while (!(exit = child.Wait(std::min(kPollSeconds, std::max(0.001, limit - watch.Seconds()))))) {
      // Leaving this function ends the command and all it has started.
      if (stop.stop_requested()) return Status::Cancelled("stopped while waiting for " + CommandForMessages());
      if (watch.Seconds() >= limit) {
        return Status::TimedOut(fmt::format("{} did not end within {:.4g} s and was killed{}", CommandForMessages(),
                                            limit, ErrorText(err)));
      }
      if (SizeOf(out) > kMaxOutputBytes) {
        return Status::Unavailable(
            fmt::format("{} wrote more than {} MiB and was killed", CommandForMessages(), kMaxOutputBytes >> 20));
      }
      if (progress && watch.Seconds() > shown + 0.2) {
        shown = watch.Seconds();
        progress({shown, (SizeOf(out) + 3) / 4, "waiting for " + CommandForMessages()});
      }
    }
    if (!exit->success()) {
      Outcome failed;
      failed.failure = Status::Unavailable(
          fmt::format("{} ended with {}{}", CommandForMessages(), exit->Describe(), ErrorText(err)));
      // 126 and 127 are the shell's codes for "not executable" and "not found": a retry would end the same way.
      failed.retry = !(exit->signal == 0 && (exit->exit_status == 126 || exit->exit_status == 127));
      return failed;
    }
    return Outcome{redactor_.Text(TailOf(out, kMaxOutputBytes)), Status::Ok()};
  }

  double Backoff(int failures) {
    std::lock_guard lock(mutex_);
    return BackoffSeconds(failures, options_.backoff, rng_);
  }

  std::string CommandForMessages() const {
    const bool is_long = command_.size() > 80;
    return fmt::format("the command '{}{}'", redactor_.Message(RepairUtf8(command_.substr(0, 80))), is_long ? "…" : "");
  }

  // Returns the end of the command's standard error, for messages.
  std::string ErrorText(const UniqueFd& err) const {
    std::string text = redactor_.Message(RepairUtf8(TailOf(err, kShownErrorBytes)));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.empty()) return "; it wrote nothing on standard error";
    return fmt::format("; standard error{}: {}", SizeOf(err) > kShownErrorBytes ? " (its end)" : "", text);
  }

  // Returns the reply in the command's output: a JSON object with "text", or the text itself.
  static ModelReply ReplyOf(std::string out, const ModelRequest& request, double seconds) {
    ModelReply reply;
    reply.provider = "exec";
    reply.seconds = seconds;
    reply.cost_known = false;
    const bool maybe_json =
        out.find_first_not_of(" \t\r\n") != std::string::npos && out[out.find_first_not_of(" \t\r\n")] == '{';
    const nlohmann::json json = maybe_json ? ParseWireJson(out) : nlohmann::json();
    const bool structured = MemberOrNull(json, "text").is_string();
    reply.text = structured ? TextOf(json, "text") : RepairUtf8(out);
    if (structured) {
      reply.finish = FinishReasonFromName(TextOf(json, "finish")).value_or(FinishReason::kStop);
      reply.model = TextOf(json, "model");
      if (const nlohmann::json& cost = MemberOrNull(json, "cost_usd"); cost.is_number() && cost.get<double>() >= 0) {
        reply.cost_usd = cost.get<double>();
        reply.cost_known = true;
      }
    }
    int64_t request_number = 0;
    for (const ModelMessage& m : request.messages) request_number += EstimateTokens(m.text);
    const std::optional<int64_t> input = CountOf(json, "input_tokens"), output = CountOf(json, "output_tokens");
    reply.usage = {input.value_or(request_number), output.value_or(EstimateTokens(reply.text)), !input || !output};
    return reply;
  }

  const std::string command_;
  const std::vector<std::string> environment_;
  const Redactor redactor_;
  const ExecOptions options_;
  std::mutex mutex_;
  Rng rng_;
};

}  // namespace

ExecOptions SystemExecOptions(const ProviderOptions& options) {
  ExecOptions exec;
  exec.max_retries = options.max_retries;
  exec.request_seconds = options.request_seconds;
  exec.seed = SystemSeed();
  exec.sleep = StoppableSleep;
  return exec;
}

std::unique_ptr<ModelProvider> MakeExecProvider(const std::string& command, std::vector<std::string> environment,
                                                ExecOptions options) {
  return std::make_unique<ExecProvider>(command, std::move(environment), std::move(options));
}

}  // namespace hone
