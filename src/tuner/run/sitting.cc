// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/sitting.h"

#include <fmt/format.h>

namespace hone {

Sitting::Sitting(const RunDependencies& dependencies, RunInfo info)
    : d_(dependencies),
      id_(info.id),
      fold_(std::move(info)),
      forward_stop_(dependencies.stop, [this] { cancel_.request_stop(); }) {}

Status Sitting::Load() {
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
    RunResumed resumed;
    for (const PendingRequest& p : view().pending) resumed.in_flight.push_back(p.number);
    // A judge on another machine may have stated since the run began that it has no CuTe. From the next node on, models
    // are then asked for plain CUDA.
    const Status cute = view().options.target == "any" ? d_.evaluator->CanInclude("cute") : Status::Ok();
    const bool without_cute = !cute.ok() && view().no_cute_from < 0;
    if (without_cute) resumed.no_cute_from = static_cast<int64_t>(view().nodes.size());
    HONE_RETURN_IF_ERROR(Append(resumed));
    if (without_cute) {
      HONE_RETURN_IF_ERROR(Append(NoteTaken{{-1, -1,
                                             fmt::format("from node {} on, models are asked for CUDA without CuTe: {}",
                                                         resumed.no_cute_from, cute.message())}}));
    }
  }
  return Status::Ok();
}

Status Sitting::Run() {
  Status status = Work();
  if (!status.ok() || d_.stop.stop_requested()) cancel_.request_stop();
  // The work's threads refer to this sitting, so that it waits for them. Their results are still recorded if possible.
  while (!work_.none()) {
    const Status later = work_.TakeOne();
    if (status.ok()) status = later;  // the first error is the one to report
  }
  HONE_RETURN_IF_ERROR(status);
  if (!view().ended.empty()) return Status::Ok();
  if (d_.stop.stop_requested()) return End("interrupted");
  if (!view().provider_failure.empty()) return End("provider_failed");
  if (!waiting_requests_.empty() || waiting_evaluations_ > 0) {
    HONE_RETURN_IF_ERROR(End("suspended"));
    if (d_.waits != nullptr) {
      *d_.waits = {waiting_requests_.size(), static_cast<size_t>(waiting_evaluations_), waiting_text_};
    }
    return Status::Pending(WaitingText());
  }
  return Status::Internal(fmt::format("run {}: nothing is in flight and nothing is to be done", id_));
}

Status Sitting::Work() {
  while (view().ended.empty() && !d_.stop.stop_requested()) {
    HONE_RETURN_IF_ERROR(StartWhatIsDue());
    if (!view().ended.empty()) break;
    bool opened = false;
    if (view().provider_failure.empty()) {
      HONE_ASSIGN_OR_RETURN(opened, Decide());
    }
    if (opened) continue;
    if (work_.none()) break;
    HONE_RETURN_IF_ERROR(work_.TakeOne());
  }
  return Status::Ok();
}

Status Sitting::Append(const RunEvent& what, std::vector<std::string> sources) {
  EventDraft draft = EncodeEvent(what);
  draft.time = d_.now();
  draft.sources = std::move(sources);
  HONE_ASSIGN_OR_RETURN(int64_t sequence, d_.store->Append(id_, draft));
  Event event{sequence, draft.time, draft.kind, draft.node, draft.payload, draft.evaluation};
  HONE_RETURN_IF_ERROR(fold_.Apply(event));
  if (d_.observer != nullptr) d_.observer->OnEvent(event, view());
  return Status::Ok();
}

Status Sitting::End(const std::string& reason) { return Append(SittingEnded{reason}); }

void Sitting::ReportActivity(const std::string& what) {
  if (d_.observer != nullptr) d_.observer->OnActivity(what);
}

Result<std::string> Sitting::SourceOf(int64_t node) { return d_.store->Source(view().node(node).source_hash); }

std::string Sitting::WaitingText() const {
  const auto counted = [](size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  std::string text, evaluator_message;
  if (!waiting_requests_.empty()) text = counted(waiting_requests_.size(), "answer");
  if (waiting_evaluations_ > 0) {
    text += (text.empty() ? "" : " and ") + counted(static_cast<size_t>(waiting_evaluations_), "evaluation");
    evaluator_message = fmt::format(" ({})", waiting_text_);
  }
  if (text.empty()) return text;
  return "the run waits for " + text + evaluator_message;
}

Status Sitting::StartWhatIsDue() {
  // The tester's request belongs to node 0.
  if (view().open.contains(0)) HONE_RETURN_IF_ERROR(Converse(0));
  HONE_RETURN_IF_ERROR(VetCases());
  for (int64_t id = view().settled; id < static_cast<int64_t>(view().nodes.size()); ++id) {
    const RunNode& node = view().node(id);
    if (node.state == NodeState::kOpen && node.origin == "sweep") {
      StartSweep(id);
    } else if (node.state == NodeState::kOpen) {
      HONE_RETURN_IF_ERROR(Converse(id));
    }
    // Converse may have read a reply that is a candidate.
    if (view().node(id).state == NodeState::kProposed && CasesAreFrozen()) HONE_RETURN_IF_ERROR(StartEvaluation(id));
  }
  return Status::Ok();
}

// Returns whether the tester's cases are vetted, or none were asked for. Only the seed is judged before.
bool Sitting::CasesAreFrozen() const { return !view().cases_asked || (view().cases_read && view().CasesFrozen()); }

// Asks the strategy for the next action, if all nodes that the decision may know are settled. Returns whether an action
// began.
Result<bool> Sitting::Decide() {
  const auto next_node = static_cast<int64_t>(view().nodes.size());
  const int64_t known_nodes = KnownFor(view());
  if (work_.IsRunning("final") || pending_evaluations_.contains("final")) return false;
  if (next_node == 1 && !view().broken_start.empty() && !view().seed_broken) {
    // The user's own first version becomes node 1 before the strategy is asked, so that strategies see it as any other
    // version.
    if (view().settled == 0) return false;
    HONE_RETURN_IF_ERROR(Append(AttemptOpened{1, 0, 0, 1, "generate", "as given", {}}));
    return true;
  }
  if (next_node == 1 && known_nodes > 0 && (view().settled == 0 || view().options.rounds)) {
    // While the seed is judged, the tester may be asked for cases and the seed's sweep may begin, because neither needs
    // the verdict. In rounds the sweep is decided without knowing the verdict even if the tester's answer comes after
    // it: which comes first is random, and a recorded run must not depend on it.
    decided_with_ = 0;
    std::optional<Action> early = d_.strategy->Next(Knowledge(view(), 0));
    if (early && (std::holds_alternative<CasesAction>(*early) || std::holds_alternative<SweepAction>(*early))) {
      HONE_RETURN_IF_ERROR(std::visit([this](const auto& a) { return Begin(a); }, *early));
      return true;
    }
    if (view().settled == 0) return false;
  }
  if (view().settled < known_nodes) return false;
  decided_with_ = known_nodes;
  std::optional<Action> action = d_.strategy->Next(Knowledge(view(), known_nodes));
  // The strategy wants to know more. If no node is in flight, it is asked again and may use all of them.
  if (!action && view().settled == next_node && known_nodes < next_node) {
    decided_with_ = next_node;
    action = d_.strategy->Next(Knowledge(view(), next_node));
  }
  if (!action) return false;
  HONE_RETURN_IF_ERROR(std::visit([this](const auto& a) { return Begin(a); }, *action));
  return true;
}

Status Sitting::Begin(const AttemptAction& a) {
  HONE_CHECK(!a.turns.empty() && a.turns.size() <= kMaxTurns, "an attempt has one to four turns");
  const auto id = static_cast<int64_t>(view().nodes.size());
  return Append(AttemptOpened{id, a.parent, a.incumbent, decided_with_, a.purpose, a.note, a.turns});
}
Status Sitting::Begin(const SweepAction& a) {
  const auto id = static_cast<int64_t>(view().nodes.size());
  return Append(SweepOpened{id, a.node, a.incumbent, decided_with_});
}
Status Sitting::Begin(const CasesAction& a) { return Append(CasesAsked{a.turn}); }
Status Sitting::Begin(const FinalAction& a) {
  HONE_RETURN_IF_ERROR(Append(FinalBegun{a.node}));
  return StartFinal(a.node);
}
Status Sitting::Begin(const FinishAction& a) { return End(a.reason); }

}  // namespace hone
