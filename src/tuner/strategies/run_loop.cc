// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/run_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/hash.h"
#include "tuner/agents/prompt.h"
#include "tuner/strategies/limits.h"
#include "tuner/strategies/oracle_reference.h"
#include "tuner/store/device_facts.h"
#include "tuner/store/run_options.h"
#include "tuner/strategies/case_vetting.h"
#include "tuner/strategies/read_reply.h"
#include "tuner/strategies/tune.h"

namespace hone {
namespace {

using Json = nlohmann::json;

constexpr int kProfileQuads = 20;  // of the timing beside a profile, which nothing is decided by

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json BindingJson(const Binding& binding) {
  Json json = Json::object();
  for (const auto& [name, value] : binding) json[name] = value;
  return json;
}

Json TurnJson(const Turn& turn) {
  return {{"role", turn.role},       {"prompt", turn.prompt}, {"temperature", turn.temperature},
          {"profile", turn.profile}, {"ledger", turn.ledger}, {"shown", turn.shown}};
}

// What threads have done, handed to the loop's thread as steps to be taken there.
class Arrivals {
 public:
  using Step = std::function<Status()>;
  void Put(Step step) {
    {
      std::lock_guard lock(mutex_);
      steps_.push_back(std::move(step));
    }
    arrived_.notify_one();
  }
  Step Take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !steps_.empty(); });
    Step step = std::move(steps_.front());
    steps_.pop_front();
    return step;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Step> steps_;
};

// One sitting of one run.
class Sitting {
 public:
  Sitting(const RunDependencies& d, RunInfo info)
      : d_(d), id_(info.id), fold_(std::move(info)), forward_stop_(d.stop, [this] { cancel_.request_stop(); }) {}

  Status Load() {
    HONE_ASSIGN_OR_RETURN(std::vector<Event> events, d_.store->Events(id_));
    for (const Event& event : events) HONE_RETURN_IF_ERROR(fold_.Apply(event));
    if (events.empty()) return Status::Internal(fmt::format("run {} has no first event", id_));
    if (view().version < kOldestContinuedVersion) {
      return Status::InvalidArgument(fmt::format(
          "run {} was begun by an older Hone (log version {}): it can be shown, reported and exported, but not "
          "continued; start a new one with --seed-kernel",
          id_, view().version));
    }
    if (d_.prompts != nullptr) {
      prompts_ = *d_.prompts;
    } else {
      HONE_ASSIGN_OR_RETURN(prompts_, PromptLibrary::OfRun(*d_.store, view()));
    }
    frozen_ = *d_.task;
    if (events.size() > 1) {
      Json numbers = Json::array();
      for (const PendingRequest& p : view().pending) numbers.push_back(p.number);
      HONE_RETURN_IF_ERROR(Append({EventKind::kResumed, 0, -1, Dump({{"in_flight", numbers}}), "", {}}));
    }
    return Status::Ok();
  }

  // To the end of the run, or of what can be done now.
  Status Run() {
    Status status = Work();
    if (!status.ok() || d_.stop.stop_requested()) cancel_.request_stop();
    // Threads refer to this sitting: none may outlive it. What they bring is still written down where it can be.
    while (!running_.empty()) {
      const Status late = TakeOne();
      if (status.ok()) status = late;
    }
    HONE_RETURN_IF_ERROR(status);
    if (!view().ended.empty()) return Status::Ok();
    if (d_.stop.stop_requested()) return End("interrupted");
    if (!view().provider_failure.empty()) return End("provider_failed");
    if (!waiting_requests_.empty() || waiting_evaluations_ > 0) {
      HONE_RETURN_IF_ERROR(End("suspended"));
      return Status::Pending(WaitingText());
    }
    return Status::Internal(fmt::format("run {}: nothing is in flight and nothing is to be done", id_));
  }

  const RunView& view() const { return fold_.view(); }

 private:
  Status Work() {
    while (view().ended.empty() && !d_.stop.stop_requested()) {
      HONE_RETURN_IF_ERROR(StartWhatIsDue());
      if (!view().ended.empty()) break;
      bool opened = false;
      if (view().provider_failure.empty()) {
        HONE_ASSIGN_OR_RETURN(opened, Decide());
      }
      if (opened) continue;
      if (running_.empty()) break;
      HONE_RETURN_IF_ERROR(TakeOne());
    }
    return Status::Ok();
  }

  Status Append(EventDraft draft) {
    draft.time = d_.now();
    HONE_ASSIGN_OR_RETURN(int64_t sequence, d_.store->Append(id_, draft));
    Event event{sequence, draft.time, draft.kind, draft.node, draft.payload, draft.evaluation};
    HONE_RETURN_IF_ERROR(fold_.Apply(event));
    if (d_.observer != nullptr) d_.observer->OnEvent(event, view());
    return Status::Ok();
  }

  Status End(const std::string& reason) {
    return Append({EventKind::kEnded, 0, -1, Dump({{"reason", reason}}), "", {}});
  }

  void Activity(const std::string& what) {
    if (d_.observer != nullptr) d_.observer->OnActivity(what);
  }

  Result<std::string> SourceOf(int64_t node) { return d_.store->Source(view().node(node).source_hash); }

  std::string WaitingText() const {
    const auto count = [](size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
    std::string text, told;
    if (!waiting_requests_.empty()) text = count(waiting_requests_.size(), "answer");
    if (waiting_evaluations_ > 0) {
      text += (text.empty() ? "" : " and ") + count(static_cast<size_t>(waiting_evaluations_), "evaluation");
      told = fmt::format(" ({})", waiting_text_);
    }
    if (text.empty()) return text;
    return "the run waits for " + text + told;
  }

  // --- threads ---

  // Runs `work` in a thread; the step it returns is taken in the loop's thread. `key` keeps it from starting twice.
  void Start(const std::string& key, std::function<Arrivals::Step()> work) {
    running_[key] = std::jthread([this, key, work = std::move(work)] {
      Arrivals::Step step = work();
      arrivals_.Put([this, key, step = std::move(step)] {
        running_.erase(key);  // joins: the thread has nothing left to do
        return step();
      });
    });
  }
  bool Running(const std::string& key) const { return running_.contains(key); }
  Status TakeOne() { return arrivals_.Take()(); }

  // --- what is due ---

  Status StartWhatIsDue() {
    // The tester's request hangs on node 0.
    if (view().open.contains(0)) HONE_RETURN_IF_ERROR(Converse(0));
    HONE_RETURN_IF_ERROR(VetCases());
    for (int64_t id = view().settled; id < static_cast<int64_t>(view().nodes.size()); ++id) {
      const RunNode& node = view().node(id);
      if (node.state == NodeState::kOpen && node.origin == "sweep") {
        StartSweep(id);
      } else if (node.state == NodeState::kOpen) {
        HONE_RETURN_IF_ERROR(Converse(id));
      }
      // Reading a reply may have made it a candidate.
      if (view().node(id).state == NodeState::kProposed && CasesAreFrozen()) HONE_RETURN_IF_ERROR(StartEvaluation(id));
    }
    return Status::Ok();
  }

  // The seed's own judging needs no frozen cases.
  bool CasesAreFrozen() const {
    return !view().cases_asked || (view().cases_read && view().CasesFrozen());
  }

  // Reads what has come and asks what is due for one attempt.
  Status Converse(int64_t id) {
    while (true) {
      const auto progress = view().open.find(id);
      if (progress == view().open.end()) return Status::Ok();
      if (!progress->second.reply) return Ask(id, progress->second.turn, progress->second.repair);
      HONE_ASSIGN_OR_RETURN(std::string text, d_.store->Source(progress->second.reply_head.text));
      HONE_ASSIGN_OR_RETURN(std::string parent, SourceOf(std::max<int64_t>(view().node(id).parent, 0)));
      HONE_RETURN_IF_ERROR(Append(ReadReply(view(), *d_.task, id, text, parent)));
    }
  }

  Status Ask(int64_t id, int turn, bool repair) {
    const int64_t number = RequestNumber(id, turn, repair);
    const std::string key = fmt::format("request {}", number);
    if (Running(key) || waiting_requests_.contains(number) || !view().provider_failure.empty()) return Status::Ok();
    const PendingRequest* pending = nullptr;
    for (const PendingRequest& p : view().pending) {
      if (p.number == number) pending = &p;
    }
    // Hard caps: an attempt that is half asked when the budget is spent ends there.
    if (pending == nullptr && id > 0) {
      if (const std::string spent = BudgetSpent(view()); !spent.empty()) {
        return Append({EventKind::kProposal, 0, id,
                       Dump({{"idea", "(not asked)"},
                             {"problem", "not_asked"},
                             {"detail", fmt::format("the budget was spent before this request ({})", spent)}}),
                       "", {}});
      }
    }
    PromptInputs inputs{d_.task, &d_.evaluator->facts(), &view(), &prompts_,
                        [this](int64_t node) { return SourceOf(node); }};
    if (pending == nullptr && view().options.profile) {
      HONE_ASSIGN_OR_RETURN(const int64_t due, ProfileDue(inputs, id, turn));
      if (due >= 0) return StartProfile(due);
    }
    Result<ModelRequest> request = Status::Internal("not made");
    if (repair) {
      // What is repaired is the reply to the turn's first request.
      std::string said;
      for (const Memo& memo : view().memos) {
        if (memo.node == id && memo.turn == turn && memo.kind == "problem") {
          HONE_ASSIGN_OR_RETURN(said, d_.store->Source(memo.reply));
        }
      }
      request = MakeRepairRequest(inputs, id, turn, said);
    } else {
      request = MakeRequest(inputs, id, turn);
    }
    HONE_RETURN_IF_ERROR(request.status());
    if (pending != nullptr) {
      // Word for word what was asked before.
      request->messages = pending->messages;
      for (ModelMessage& message : request->messages) {
        HONE_ASSIGN_OR_RETURN(message.text, d_.store->Source(message.text));
      }
    }
    const Turn& spec = view().node(id).turns[static_cast<size_t>(turn)];
    if (pending == nullptr || !pending->suspended) {
      EventDraft asked{EventKind::kRequest, 0, id, "", "", {}};
      Json messages = Json::array();
      for (const ModelMessage& m : request->messages) {
        messages.push_back({{"role", m.role}, {"text", Sha256Hex(m.text)}});
        asked.sources.push_back(m.text);
      }
      const auto used = view().prompts.find(spec.prompt);
      asked.payload = Dump({{"number", number},
                            {"attempt", pending == nullptr ? 1 : pending->attempts + 1},
                            {"node", id},
                            {"turn", turn},
                            {"repair", repair},
                            {"parent", std::max<int64_t>(view().node(id).parent, 0)},
                            {"role", request->role},
                            {"prompt", spec.prompt},
                            {"prompt_text", used == view().prompts.end() ? "" : used->second},
                            {"temperature", request->temperature},
                            {"max_tokens", request->max_tokens},
                            {"provider", d_.provider->Name()},
                            {"messages", messages}});
      HONE_RETURN_IF_ERROR(Append(std::move(asked)));
    }
    if (d_.suspend) request->limit_seconds = d_.suspend_seconds;
    Activity(fmt::format("asking {} for node {}", d_.provider->Name(), id));
    Start(key, [this, number, request = std::move(*request)]() -> Arrivals::Step {
      Result<ModelReply> reply = d_.provider->Complete(
          request,
          [this](const ModelProgress& p) { Activity(fmt::format("{} ({:.0f} s)", p.message, p.waited_seconds)); },
          cancel_.get_token());
      return [this, number, reply = std::move(reply)] { return Answered(number, reply); };
    });
    return Status::Ok();
  }

  Status Answered(int64_t number, const Result<ModelReply>& reply) {
    if (!reply.ok()) {
      const StatusCode code = reply.status().code();
      // A stop in the middle of a request leaves it open; the log says so by what is missing.
      if (code == StatusCode::kCancelled) return Status::Ok();
      if (code == StatusCode::kPending || (d_.suspend && code == StatusCode::kTimedOut)) {
        waiting_requests_.insert(number);
        return Status::Ok();
      }
      return Append({EventKind::kReply, 0, -1,
                     Dump({{"number", number},
                           {"error", {{"code", StatusCodeName(code)}, {"message", reply.status().message()}}}}),
                     "", {}});
    }
    // What went wrong on the way comes before the answer, as it did.
    for (const std::string& note : reply->notes) {
      HONE_RETURN_IF_ERROR(
          Append({EventKind::kNote, 0, number / (2 * kMaxTurns), Dump({{"number", number}, {"text", note}}), "", {}}));
    }
    EventDraft answered{EventKind::kReply, 0, -1, "", "", {reply->text}};
    answered.payload = Dump({{"number", number},
                             {"text", Sha256Hex(reply->text)},
                             {"finish", FinishReasonName(reply->finish)},
                             {"input_tokens", reply->usage.input},
                             {"output_tokens", reply->usage.output},
                             {"estimated", reply->usage.estimated},
                             {"cost_usd", reply->cost_usd},
                             {"cost_known", reply->cost_known},
                             {"provider", reply->provider},
                             {"model", reply->model},
                             {"seconds", reply->seconds}});
    return Append(std::move(answered));
  }

  // --- evaluations ---

  // The task with the cases that the tester's proposals added, once they are frozen.
  const Task& FrozenTask() {
    if (!extended_ && view().cases_read && view().CasesFrozen()) {
      extended_ = true;
      std::vector<Dims> accepted;
      for (const ProposedCase& c : view().cases) {
        if (c.state == "accepted") accepted.push_back(c.dims);
      }
      // They were parsed when they were vetted.
      if (Result<Task> task = WithCheckCases(*d_.task, accepted); task.ok()) frozen_ = std::move(*task);
    }
    return frozen_;
  }

  // Anything that says that the environment, not the candidate, failed.
  static Result<Evaluation> Sound(Result<Evaluation> evaluation) {
    if (evaluation.ok() && evaluation->verdict == Verdict::kDeviceLost) {
      return Status::Unavailable("the device was lost: " + evaluation->detail);
    }
    if (evaluation.ok() && evaluation->verdict == Verdict::kInvalidTask) {
      return Status::InvalidArgument("the task cannot be judged: " + evaluation->detail);
    }
    return evaluation;
  }

  // Judges in a thread; `done` takes a sound evaluation in the loop's thread. A pending one is waited for.
  void Judge(const std::string& key, EvaluationRequest request, const Task& task,
             std::function<Status(const Evaluation&)> done) {
    if (Running(key) || pending_evaluations_.contains(key)) return;
    Start(key, [this, key, request = std::move(request), task, done = std::move(done)]() -> Arrivals::Step {
      Result<Evaluation> evaluation = Sound(
          d_.evaluator->Evaluate(task, request, [this, &request](const std::string& phase, const std::string& detail) {
            // The phase "check" of a case whose role is "check" is said once.
            Activity(request.name + ": " + (detail.starts_with(phase + " ") ? detail : phase + " " + detail));
          }));
      return [this, key, evaluation = std::move(evaluation), done] {
        if (evaluation.status().code() == StatusCode::kPending) {
          pending_evaluations_.insert(key);
          ++waiting_evaluations_;
          waiting_text_ = evaluation.status().message();
          return Status::Ok();
        }
        HONE_RETURN_IF_ERROR(evaluation.status());
        return done(*evaluation);
      };
    });
  }

  Result<EvaluationRequest> RequestFor(int64_t node, int64_t incumbent, bool final) {
    EvaluationRequest request;
    HONE_ASSIGN_OR_RETURN(request.source, SourceOf(node));
    request.name = NodeFileName(view(), node);
    HONE_ASSIGN_OR_RETURN(request.incumbent_source, SourceOf(std::max<int64_t>(incumbent, 0)));
    request.incumbent_name = NodeFileName(view(), std::max<int64_t>(incumbent, 0));
    if (!final) {
      request.correctness_trials = view().options.correctness_trials;
      request.warm = false;
    }
    return request;
  }

  Status StartEvaluation(int64_t id) {
    const int64_t incumbent = id == 0 ? -1 : view().node(id).incumbent;
    const std::string key = fmt::format("evaluation {}", id);
    if (Running(key) || pending_evaluations_.contains(key)) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(id, incumbent, false));
    // Where each visit to the device is waited for, a profile costs less than the visit that would fetch it later.
    request.profile = view().options.profile && view().options.device.starts_with("spool:");
    Judge(key, std::move(request), id == 0 ? *d_.task : FrozenTask(), [this, id, incumbent](const Evaluation& e) {
      return Append({EventKind::kEvaluation, 0, id, Dump({{"incumbent", incumbent}}), EvaluationToJson(e, -1), {}});
    });
    return Status::Ok();
  }

  // Counts where a version's time goes, for the prompts that show it; asked once, however many attempts wait for it.
  // The version runs against itself: its times are known, and only floors and counts are wanted.
  Status StartProfile(int64_t id) {
    const std::string key = fmt::format("profile {}", id);
    if (Running(key) || pending_evaluations_.contains(key)) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(id, id, false));
    request.profile = true;
    request.check_cases = false;
    request.correctness_trials = 1;
    request.max_quads = kProfileQuads;
    Judge(key, std::move(request), *d_.task, [this, id](const Evaluation& e) {
      return Append({EventKind::kProfile, 0, id, "{}", EvaluationToJson(e, -1), {}});
    });
    return Status::Ok();
  }

  // Each proposed case is run on the seed by itself; what the seed gets right there, every candidate must.
  Status VetCases() {
    if (!view().cases_read || view().CasesFrozen()) return Status::Ok();
    for (size_t i = 0; i < view().cases.size(); ++i) {
      const ProposedCase& proposed = view().cases[i];
      if (proposed.state != "proposed") continue;
      const std::string key = fmt::format("case {}", i);
      if (Running(key) || pending_evaluations_.contains(key)) continue;
      const auto decide = [this, i](bool accepted, const std::string& detail, const std::string& evaluation) {
        return Append({EventKind::kVetting, 0, 0, Dump({{"case", i}, {"accepted", accepted}, {"detail", detail}}),
                       evaluation, {}});
      };
      Result<Task> task = VettingTask(*d_.task, proposed.dims);
      if (!task.ok()) {
        HONE_RETURN_IF_ERROR(decide(false, task.status().message(), ""));
        continue;
      }
      HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(0, -1, false));
      request.time = false;
      request.correctness_trials = 1;
      Judge(key, std::move(request), *task, [this, decide](const Evaluation& e) {
        const bool right = e.verdict == Verdict::kOk;
        return decide(right, right ? "" : fmt::format("{} is not right there: {}",
                                                      view().from_oracle ? "the oracle" : "the seed", VerdictName(e.verdict)),
                      EvaluationToJson(e, -1));
      });
    }
    return Status::Ok();
  }

  Status StartFinal(int64_t id) {
    HONE_ASSIGN_OR_RETURN(EvaluationRequest request, RequestFor(id, 0, true));
    request.libraries = view().options.libraries;
    Judge("final", std::move(request), FrozenTask(), [this, id](const Evaluation& e) {
      return Append({EventKind::kFinal, 0, id, "{}", EvaluationToJson(e, -1), {}});
    });
    return Status::Ok();
  }

  // --- sweeps ---

  void StartSweep(int64_t id) {
    const std::string key = fmt::format("sweep {}", id);
    if (Running(key) || pending_evaluations_.contains(key)) return;
    const int64_t swept = view().node(id).parent, incumbent = view().node(id).incumbent;
    Result<std::string> source = SourceOf(swept), rival = SourceOf(incumbent);
    Result<Candidate> candidate =
        source.ok() ? ParseCandidate(*source, NodeFileName(view(), swept), *d_.task) : Result<Candidate>(source.status());
    if (!candidate.ok() || !rival.ok()) {
      Start(key, [status = candidate.ok() ? rival.status() : candidate.status()]() -> Arrivals::Step {
        return [status] { return status; };
      });
      return;
    }
    TuneOptions options;
    options.incumbent_source = *rival;
    options.incumbent_name = NodeFileName(view(), incumbent);
    options.max_points = view().options.max_sweep_points;
    options.parallel = std::max<int>(d_.parallel_evaluations, d_.suspend ? 1 : 0);
    options.stop = cancel_.get_token();
    // The first choices were judged when the node was, if that was against the same rival.
    if (const RunNode& node = view().node(swept); node.evaluation && node.incumbent == incumbent) {
      options.known[BindingKey(DefaultBinding(candidate->plan))] = *node.evaluation;
    }
    for (const SweepPoint& point : view().sweep) {
      if (point.node == swept && point.incumbent == incumbent) options.known[BindingKey(point.binding)] = point.evaluation;
    }
    const auto task = std::make_shared<const Task>(FrozenTask());
    Start(key, [this, id, key, swept, incumbent, task, candidate = std::move(*candidate), options]() mutable
              -> Arrivals::Step {
      options.on_point = [this, swept, incumbent](const Binding& binding, const Evaluation& evaluation) {
        Activity(fmt::format("sweeping {}", BindingKey(binding)));
        // Written by the loop's thread; durable before the sweep goes on.
        auto written = std::make_shared<std::promise<Status>>();
        arrivals_.Put([this, swept, incumbent, binding, evaluation, written] {
          const Status status =
              Append({EventKind::kSweepPoint, 0, swept,
                      Dump({{"binding", BindingJson(binding)}, {"incumbent", incumbent}}),
                      EvaluationToJson(evaluation, -1), {}});
          written->set_value(status);
          return status;
        });
        return written->get_future().get();
      };
      Result<TuneResult> result = TuneCandidate(*d_.evaluator, *task, candidate, options);
      const auto bindings = AllBindings(candidate.plan).size();
      return [this, id, key, swept, bindings, result = std::move(result)] { return Swept(id, key, swept, bindings, result); };
    });
  }

  Status Swept(int64_t id, const std::string& key, int64_t swept, size_t bindings, const Result<TuneResult>& result) {
    if (result.status().code() == StatusCode::kPending) {
      pending_evaluations_.insert(key);
      ++waiting_evaluations_;
      waiting_text_ = result.status().message();
      return Status::Ok();
    }
    if (cancel_.stop_requested() && (!result.ok() || result->left_out > 0)) return Status::Ok();
    HONE_RETURN_IF_ERROR(result.status());
    Json payload = {{"parent", swept},
                    {"origin", "sweep"},
                    {"idea", fmt::format("sweep of {}'s tunables", NodeFileName(view(), swept))},
                    {"idea_key", fmt::format("sweep-{}", swept)},
                    {"reasoning", result->summary}};
    EventDraft draft{EventKind::kProposal, 0, id, "", "", {}};
    const std::string hash = Sha256Hex(result->source);
    const bool known = std::any_of(view().nodes.begin(), view().nodes.end(),
                                   [&](const RunNode& n) { return n.id < id && n.source_hash == hash; });
    if (result->source.empty() || known) {
      payload["problem"] = "nothing_better";
      payload["detail"] = result->summary;
    } else {
      payload["source"] = hash;
      payload["bindings"] = bindings;
      draft.sources.push_back(result->source);
    }
    draft.payload = Dump(payload);
    return Append(std::move(draft));
  }

  // --- decisions ---

  // Asks the strategy what to open, if what that decision may know is settled. True when something was begun.
  Result<bool> Decide() {
    const auto next = static_cast<int64_t>(view().nodes.size());
    const int64_t known = KnownFor(view());
    if (Running("final") || pending_evaluations_.contains("final")) return false;
    if (next == 1 && view().settled == 0 && known > 0) {
      // While the seed is judged, what needs no knowledge of it may begin: its cases and its sweep.
      decided_with_ = 0;
      std::optional<Action> first = d_.strategy->Next(Knowledge(view(), 0));
      if (!first || !(std::holds_alternative<CasesAction>(*first) || std::holds_alternative<SweepAction>(*first))) {
        return false;
      }
      HONE_RETURN_IF_ERROR(std::visit([this](const auto& a) { return Begin(a); }, *first));
      return true;
    }
    if (view().settled < known) return false;
    decided_with_ = known;
    std::optional<Action> action = d_.strategy->Next(Knowledge(view(), known));
    if (!action && view().settled == next && known < next) {
      decided_with_ = next;
      action = d_.strategy->Next(Knowledge(view(), next));
    }
    if (!action) return false;
    HONE_RETURN_IF_ERROR(std::visit([this](const auto& a) { return Begin(a); }, *action));
    return true;
  }

  Status Begin(const AttemptAction& a) {
    HONE_CHECK(!a.turns.empty() && a.turns.size() <= kMaxTurns, "an attempt has one to four turns");
    const auto id = static_cast<int64_t>(view().nodes.size());
    Json turns = Json::array();
    for (const Turn& turn : a.turns) turns.push_back(TurnJson(turn));
    return Append({EventKind::kChoice, 0, id,
                   Dump({{"action", "attempt"},
                         {"parent", a.parent},
                         {"purpose", a.purpose},
                         {"incumbent", a.incumbent},
                         {"known", decided_with_},
                         {"note", a.note},
                         {"turns", turns}}),
                   "", {}});
  }
  Status Begin(const SweepAction& a) {
    const auto id = static_cast<int64_t>(view().nodes.size());
    return Append({EventKind::kChoice, 0, id,
                   Dump({{"action", "sweep"}, {"parent", a.node}, {"incumbent", a.incumbent}, {"known", decided_with_}}),
                   "", {}});
  }
  Status Begin(const CasesAction& a) {
    return Append({EventKind::kChoice, 0, 0, Dump({{"action", "cases"}, {"turn", TurnJson(a.turn)}}), "", {}});
  }
  Status Begin(const FinalAction& a) {
    HONE_RETURN_IF_ERROR(
        Append({EventKind::kChoice, 0, a.node, Dump({{"action", "final"}}), "", {}}));
    return StartFinal(a.node);
  }
  Status Begin(const FinishAction& a) { return End(a.reason); }

  const RunDependencies& d_;
  const std::string id_;
  RunFold fold_;
  PromptLibrary prompts_;
  Task frozen_;
  bool extended_ = false;
  int64_t decided_with_ = 0;  // what the last decision knew
  std::set<int64_t> waiting_requests_;         // posted, not answered in this sitting
  std::set<std::string> pending_evaluations_;  // spooled, not judged yet
  int waiting_evaluations_ = 0;
  std::string waiting_text_;
  std::stop_source cancel_;  // of requests under way
  std::stop_callback<std::function<void()>> forward_stop_;
  Arrivals arrivals_;
  std::map<std::string, std::jthread> running_;
};

}  // namespace

Result<std::string> StartRun(RunStore& store, const Task& task, const DeviceFacts& facts, const RunOptions& options,
                             const std::string& id, double now, const PromptLibrary* prompts, int version) {
  const bool from_oracle = task.seed_source.empty();
  std::string start = task.seed_source;
  if (from_oracle) {
    HONE_ASSIGN_OR_RETURN(start, ReferenceFromOracle(task));
  }
  HONE_ASSIGN_OR_RETURN(Candidate seed, ParseCandidate(start, from_oracle ? "reference.cu" : "seed.cu", task));
  RunInfo info;
  info.id = id;
  info.task = task.name;
  info.device = facts.id;
  info.modelled = facts.modelled;
  info.strategy = options.strategy;
  info.model = options.model;
  info.started = now;
  HONE_RETURN_IF_ERROR(store.CreateRun(info));
  EventDraft started{EventKind::kStarted, now, 0, "", "", {task.toml, task.oracle_source, start}};
  Json templates = Json::object();
  for (const auto& [name, text] : (prompts == nullptr ? PromptLibrary::Embedded() : *prompts).texts()) {
    templates[name] = Sha256Hex(text);
    started.sources.push_back(text);
  }
  Json payload = {{"version", version},
                  {"options", RunOptionsToJson(options)},
                  {"task", task.name},
                  {"class", WorkloadClassName(task.workload)},
                  {"task_toml", Sha256Hex(task.toml)},
                  {"oracle", Sha256Hex(task.oracle_source)},
                  {"seed", Sha256Hex(start)},
                  {"start", from_oracle ? "oracle" : "seed"},
                  {"device", facts.id},
                  {"device_name", facts.name},
                  {"modelled", facts.modelled},
                  {"bindings", AllBindings(seed.plan).size()},
                  {"prompts", templates},
                  {"facts", DeviceFactsToJson(facts)}};
  if (options.libraries && !task.baseline_toml.empty()) {
    payload["baseline"] = Sha256Hex(task.baseline_toml);
    started.sources.push_back(task.baseline_toml);
  }
  started.payload = Dump(payload);
  HONE_RETURN_IF_ERROR(store.Append(id, started).status());
  return id;
}

Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, dependencies.store->FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunClaim> claim, dependencies.store->Claim(info.id));
  Sitting sitting(dependencies, info);
  HONE_RETURN_IF_ERROR(sitting.Load());
  HONE_RETURN_IF_ERROR(sitting.Run());
  return sitting.view();
}

Result<Task> LoadRunTask(RunStore& store, const RunView& view) {
  if (view.task_toml_hash.empty()) {
    return Status::InvalidArgument(
        fmt::format("run {} failed before anything of it was stored: there is nothing to go on from; start a new one", view.info.id));
  }
  HONE_ASSIGN_OR_RETURN(std::string toml, store.Source(view.task_toml_hash));
  HONE_ASSIGN_OR_RETURN(Task task, ParseTask(toml, "task.toml"));
  HONE_ASSIGN_OR_RETURN(task.oracle_source, store.Source(view.oracle_hash));
  if (!view.from_oracle) {
    HONE_ASSIGN_OR_RETURN(task.seed_source, store.Source(view.seed_hash));
  }
  if (!view.baseline_hash.empty()) {
    HONE_ASSIGN_OR_RETURN(task.baseline_toml, store.Source(view.baseline_hash));
  }
  return task;
}

std::string NodeFileName(const RunView& view, int64_t node) {
  if (node > 0) return fmt::format("node-{}.cu", node);
  return view.from_oracle ? "reference.cu" : "seed.cu";
}

}  // namespace hone
