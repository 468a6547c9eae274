// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/agent/agent_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/stoppable_sleep.h"
#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "tuner/model/wire_json.h"

namespace hone {
namespace {

using Json = nlohmann::json;

constexpr int64_t kShownLogBytes = 2000;  // the end of the agent's log that an error quotes
constexpr size_t kMostSourceBytes = 1 << 20;  // the same limit as for candidates of other models
constexpr double kAgentPollSeconds = 0.05;

// Returns an attachment of the request; empty: there is none.
std::string AttachedText(const ModelRequest& request, const char* name) {
  const auto found = request.attachments.find(name);
  return found == request.attachments.end() ? std::string() : found->second;
}

int64_t AttachedNumber(const std::string& text) { return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 10); }

// Returns the idea on one line, with blanks in place of control characters.
std::string IdeaLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

}  // namespace

AgentSession::AgentSession(AgentOptions options)
    : options_(std::move(options)), redactor_(SecretsOf(options_.environment)), rng_(options_.seed) {}

AgentSession::~AgentSession() = default;

// Returns the agent's command, shortened and redacted, for messages.
std::string AgentSession::AgentForMessages() const {
  const bool is_long = options_.command.size() > 80;
  return fmt::format("the agent '{}{}'", redactor_.Message(RepairUtf8(options_.command.substr(0, 80))),
                     is_long ? "…" : "");
}

// Returns the end of the agent's output since its start.
std::string AgentSession::LogTail() const {
  Result<std::string> log = ReadFile(options_.folder + "/agent.log", int64_t{1} << 30);
  if (!log.ok()) return "";
  std::string text = log->substr(std::min(log->size(), static_cast<size_t>(log_begins_)));
  if (text.size() > kShownLogBytes) text = text.substr(text.size() - kShownLogBytes);
  text = redactor_.Message(RepairUtf8(text));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? fmt::format("; it wrote nothing ({}/agent.log)", options_.folder)
                      : fmt::format("; the end of {}/agent.log: {}", options_.folder, text);
}

// Writes the agent's files to its folder, each atomically. A folder that is only half written is thus completed before
// the agent starts. Files of other names, which are the agent's own, stay.
Status AgentSession::Prepare(const ModelRequest& request) {
  HONE_RETURN_IF_ERROR(MakeDirectories(options_.folder + "/versions"));
  HONE_RETURN_IF_ERROR(MakeDirectories(options_.folder + "/verdicts"));
  if (!channel_) {
    HONE_ASSIGN_OR_RETURN(channel_, AgentChannel::Open([this](const Json& question) { return Handle(question); }));
  }
  const Json config = {
      {"mcpServers", {{"hone", {{"command", options_.program}, {"args", {"mcp", "--agent", channel_->path()}}}}}}};
  const std::pair<const char*, std::string> files[] = {{"README.md", request.messages.front().text},
                                                       {"task.toml", AttachedText(request, "task")},
                                                       {"reference.cc", AttachedText(request, "oracle")},
                                                       {"seed.cu", AttachedText(request, "seed")},
                                                       {"mcp.json", DumpJson(config, 2) + "\n"}};
  for (const auto& [name, text] : files) {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(fmt::format("{}/{}", options_.folder, name), text));
  }
  return Status::Ok();
}

// Starts the agent's command, with README.md as its standard input and agent.log for its output.
Status AgentSession::StartAgent() {
  UniqueFd in(open((options_.folder + "/README.md").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string log_path = options_.folder + "/agent.log";
  UniqueFd log(open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!in.valid() || !log.valid())
    return Status::Io(ErrnoMessage("open", in.valid() ? log_path : options_.folder + "/README.md", errno));
  struct stat facts {};
  log_begins_ = fstat(log.get(), &facts) == 0 ? facts.st_size : 0;
  ChildOptions child;
  child.argv = {"/bin/sh", "-c", options_.command};
  child.environment = options_.environment;
  child.environment.push_back("HONE_AGENT_SOCKET=" + channel_->path());
  child.environment.push_back("HONE_AGENT_FOLDER=" + options_.folder);
  child.environment.push_back("HONE_MCP_CONFIG=" + options_.folder + "/mcp.json");
  child.working_directory = options_.folder;
  child.descriptors = {{in.get(), 0}, {log.get(), 1}, {log.get(), 2}};
  HONE_ASSIGN_OR_RETURN(ChildProcess started, ChildProcess::Start(child));
  child_.emplace(std::move(started));
  return Status::Ok();
}

Result<ModelReply> AgentSession::Await(const ModelRequest& request, const ModelProgressSink& progress,
                                       std::stop_token stop) {
  const Stopwatch watch;
  const std::string message_text = request.messages.back().text;
  {
    // All state is set from the request, since a resumed run repeats its last request in a new session.
    std::lock_guard lock(mutex_);
    introduction_ = request.messages.front().text;
    told_ = message_text;
    attempt_ = AttachedNumber(AttachedText(request, "attempt"));
    attempts_ = AttachedNumber(AttachedText(request, "attempts"));
    repair_ = request.repair_of >= 0;
    over_ = false;
    version_.reset();
  }
  HONE_RETURN_IF_ERROR(Prepare(request).WithContext("the agent's folder"));
  HONE_RETURN_IF_ERROR(
      WriteFileAtomically(fmt::format("{}/verdicts/{:04}.md", options_.folder, request.number), message_text));
  {
    std::lock_guard lock(mutex_);
    asked_ = true;
  }
  Attempts starts(options_.max_retries, request.limit_seconds);
  std::optional<Version> version;
  double shown = 0;
  while (true) {
    if (!child_) HONE_RETURN_IF_ERROR(StartAgent());
    // The process's end is checked before the version: an agent may hand in a version and end at once.
    const std::optional<ExitState> end = child_->Wait(kAgentPollSeconds);
    {
      std::lock_guard lock(mutex_);
      if (version_) {
        version = std::move(version_);
        version_.reset();
        break;
      }
      if (end && end->success()) asked_ = false;
    }
    if (stop.stop_requested()) return Status::Cancelled("stopped while waiting for " + AgentForMessages());
    if (end) {
      child_.reset();
      if (end->success()) {
        ModelReply none;
        none.provider = "agent";
        none.finish = FinishReason::kExhausted;
        none.cost_known = false;
        none.seconds = watch.Seconds();
        none.text = AgentForMessages() + " ended by itself" + LogTail();
        none.usage.estimated = true;
        none.notes = starts.notes();
        return none;
      }
      const Status failure =
          Status::Unavailable(fmt::format("{} ended with {}{}", AgentForMessages(), end->Describe(), LogTail()));
      // 126 and 127 are the shell's codes for "not executable" and "not found": a restart would end the same way.
      if (end->signal == 0 && (end->exit_status == 126 || end->exit_status == 127)) return failure;
      HONE_ASSIGN_OR_RETURN(const double wait, starts.Failed(failure, watch.Seconds(), [&](int failures) {
        return BackoffSeconds(failures, options_.backoff, rng_);
      }));
      if (progress) progress({watch.Seconds(), 0, starts.NextText(wait)});
      if (!StoppableSleep(wait, stop)) return Status::Cancelled("stopped while waiting for " + AgentForMessages());
      continue;
    }
    if (watch.Seconds() >= request.limit_seconds) {
      child_.reset();
      std::lock_guard lock(mutex_);
      asked_ = false;
      return Status::TimedOut(fmt::format("{} handed no version in within {:.4g} s and was killed{}",
                                          AgentForMessages(), request.limit_seconds, LogTail()));
    }
    if (progress && watch.Seconds() > shown + 0.2) {
      shown = watch.Seconds();
      progress({shown, 0, fmt::format("{} works in {}", AgentForMessages(), options_.folder)});
    }
  }
  version->source = redactor_.Text(std::move(version->source));
  // The version is kept beside the verdicts, for a restarted agent and for people.
  HONE_RETURN_IF_ERROR(
      WriteFileAtomically(fmt::format("{}/versions/{:04}.cu", options_.folder, request.number), version->source));
  ModelReply reply;
  reply.provider = "agent";
  reply.text = fmt::format("IDEA: {}\n\n{}", IdeaLine(redactor_.Text(std::move(version->idea))), version->source);
  reply.cost_known = false;
  reply.seconds = watch.Seconds();
  reply.usage = {EstimateTokens(message_text), EstimateTokens(reply.text), true};
  reply.notes = starts.notes();
  return reply;
}

void AgentSession::Leave(const std::string& last_word) {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
    asked_ = false;
    attempts_ = std::max(attempts_, attempt_);
    told_ = last_word.empty() ? "The run was stopped. End now: you will be started again when it goes on." : last_word;
  }
  if (child_ && !last_word.empty()) child_->Wait(options_.grace_seconds);
  child_.reset();
}

Json AgentSession::StateJson() const {
  const int64_t attempts_left = over_ ? 0 : attempts_ - attempt_ + (asked_ ? 1 : 0);
  const char* state = over_ ? "over" : !asked_ ? "judging" : repair_ ? "unusable" : handed_in_ > 0 ? "judged" : "open";
  return {{"state", state},
          {"left", std::max<int64_t>(attempts_left, 0)},
          {"budget", attempts_},
          {"text", asked_ || over_ ? told_ : ""}};
}

// Answers a question that the agent's tools send through the socket.
Json AgentSession::Handle(const Json& question) {
  const auto refused = [](std::string why) { return Json{{"error", std::move(why)}}; };
  const std::string op = TextOf(question, "op");
  std::lock_guard lock(mutex_);
  if (op == "verdict") return StateJson();
  if (op == "task") {
    Json answer = StateJson();
    answer["introduction"] = introduction_;
    return answer;
  }
  if (op != "eval")
    return refused(fmt::format("there is no question '{}': expected task, eval or verdict", op.substr(0, 40)));
  if (over_)
    return refused(fmt::format("The budget of {} verdicts is spent, or the run has ended: nothing more is judged. {}",
                               attempts_, told_));
  if (!asked_ && attempt_ >= attempts_) {
    return refused(
        fmt::format("The budget of {} verdicts is spent with the version that is being judged: nothing more is judged.",
                    attempts_));
  }
  if (!asked_)
    return refused("The version before is still being judged: call verdict, and hand in the next one after it.");
  Version version{TextOf(question, "idea"), TextOf(question, "source")};
  if (version.source.empty()) return refused("'source' is empty: expected a whole .cu file, launch plan included");
  if (version.source.size() > kMostSourceBytes) {
    return refused(
        fmt::format("'source' has {} bytes, and a candidate may have {}", version.source.size(), kMostSourceBytes));
  }
  if (version.idea.empty())
    return refused("'idea' is empty: expected one line that says what this version changes and why");
  version_ = std::move(version);
  asked_ = false;
  ++handed_in_;
  return StateJson();
}

}  // namespace hone
