// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the events of a run, one struct per kind, and their JSON form: the scheduler writes its log with EncodeEvent,
// and every reader of a log (the fold, a replay, a report) uses DecodeEvent. docs/formats/run-store.md describes the
// payloads for other programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"

namespace hone {

// The first event: the run's task, options and inputs. EventKind::kStarted.
struct RunStarted {
  int version = kRunVersion;
  RunOptions options;
  std::string task, workload = "other";
  SourceHash task_toml, oracle, seed;
  SourceHash baseline;       // hash of the task's baseline.toml; empty unless the run times libraries
  bool from_oracle = false;  // the task has no seed: `seed` is a kernel made from its oracle
  bool start_uses_cute = false;
  std::string device, device_name;
  bool modelled = false;
  int64_t bindings = 1;                       // number of the seed's bindings
  std::map<std::string, SourceHash> prompts;  // template name -> hash of its text
  std::optional<DeviceFacts> facts;           // absent in the oldest logs
  SourceHash broken_start;                    // the run's first version, if given; empty: none
  std::vector<RememberedIdea> memory;         // proven ideas of earlier runs, if the strategy uses them
};

// EventKind::kChoice: the strategy's decision. An attempt and a sweep open `node`.
struct AttemptOpened {
  int64_t node = 0, parent = -1, incumbent = 0;
  int64_t known = 0;  // the decision knew the nodes below this number
  std::string purpose = "optimise", note;
  std::vector<Turn> turns;
};
struct SweepOpened {
  int64_t node = 0;
  int64_t parent = 0;  // the version that is swept
  int64_t incumbent = 0, known = 0;
};
struct CasesAsked {
  Turn turn;  // turn of the tester
};
struct FinalBegun {
  int64_t node = 0;
};
// A choice without effect: from a log of version 1, where proposals made the nodes.
struct OtherChoice {};

// EventKind::kRequest: a question, recorded before it is sent.
struct RequestAsked {
  int64_t number = 0;
  int64_t attempt = 1;  // above 1: a retry
  int64_t node = -1;
  int turn = 0;
  bool repair = false;
  int64_t parent = 0;
  std::string role, prompt;
  SourceHash prompt_text;  // text of the template; empty when the run stored none
  double temperature = 0;
  int64_t max_tokens = 0;
  std::string provider;
  std::vector<StoredMessage> messages;
};

// EventKind::kReply: the answer, or the reason for its absence.
struct ReplyArrived {
  StoredReply reply;
};
struct RequestFailed {
  int64_t number = 0;
  std::string code, message;  // StatusCodeName, and the Status's message
};

// EventKind::kMemo: the result of a reply that is not a candidate. `cases` is used by memos of kind "cases".
struct MemoMade {
  Memo memo;
  std::vector<ProposedCase> cases;
};

// EventKind::kProposal: the result of the attempt or the sweep `node`: a source, or a problem, or the provider is
// exhausted.
struct NodeProposed {
  int64_t node = 0;
  int64_t request = -1;             // the request that led here; -1: none (a sweep, or an attempt without a request)
  int64_t parent = -1;              // written by sweeps, and by all in logs of version 1
  std::string origin = "reply";     // written as `parent` is
  std::optional<std::string> idea;  // absent: as opened
  std::string idea_key, reasoning;
  std::string form;  // file | regions | edits; empty: unknown
  SourceHash source;
  int64_t bindings = 1;
  std::vector<std::string> widened;
  std::string problem, detail;
  bool exhausted = false;
};

// EventKind::kVetting: the result of running a proposed case on the seed.
struct CaseVetted {
  size_t index = 0;
  bool accepted = false;
  std::string detail;
  std::optional<Evaluation> evaluation;  // absent: refused before running
};

struct SweepPointJudged {  // EventKind::kSweepPoint
  SweepPoint point;
};
struct NodeJudged {  // EventKind::kEvaluation
  int64_t node = 0;
  int64_t incumbent = -1;  // the version it was timed against; -1: the seed, against itself
  Evaluation evaluation;
};
struct NodeProfiled {  // EventKind::kProfile
  int64_t node = 0;
  Evaluation evaluation;  // the evaluation of the node against itself
};
struct FinalJudged {  // EventKind::kFinal
  int64_t node = 0;
  Evaluation evaluation;  // against the seed, on fresh hidden cases
};

struct RunResumed {                // EventKind::kResumed
  std::vector<int64_t> in_flight;  // numbers of the open requests
};
struct NoteTaken {  // EventKind::kNote
  RunRemark remark;
};
struct SittingEnded {  // EventKind::kEnded
  std::string reason = "ended";
};

using RunEvent = std::variant<RunStarted, AttemptOpened, SweepOpened, CasesAsked, FinalBegun, OtherChoice, RequestAsked,
                              ReplyArrived, RequestFailed, MemoMade, NodeProposed, CaseVetted, SweepPointJudged,
                              NodeJudged, NodeProfiled, FinalJudged, RunResumed, NoteTaken, SittingEnded>;

// Converts the event to its stored form, without its time and the texts that it names: the caller adds both.
EventDraft EncodeEvent(const RunEvent& event);

// `version` is the log's: choices of version 1 had other fields. kInternal for a damaged or foreign payload,
// kInvalidArgument for a log of a newer Hone.
Result<RunEvent> DecodeEvent(const Event& event, int version = kRunVersion);

// Decodes one kind of event; nullopt when `event` is of another kind, or damaged. For readers that use a few kinds and
// leave error reporting to the fold.
template <typename Kind>
std::optional<Kind> DecodeAs(const Event& event) {
  Result<RunEvent> decoded = DecodeEvent(event);
  if (!decoded.ok() || !std::holds_alternative<Kind>(*decoded)) return std::nullopt;
  return std::get<Kind>(std::move(*decoded));
}

}  // namespace hone
