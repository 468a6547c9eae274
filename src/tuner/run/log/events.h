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
  int version = kRunVersion;  // version of the log
  RunOptions options;
  std::string task, workload = "other";  // the task's name and its class
  SourceHash task_toml, oracle, seed;    // hashes of the texts
  SourceHash baseline;       // hash of the task's baseline.toml; empty unless the run times libraries
  bool from_oracle = false;  // the task has no seed: `seed` is a kernel made from its oracle, or the module that is its oracle
  bool from_module = false;  // with from_oracle: `seed` is the task's PyTorch module itself, in eager mode
  bool start_uses_cute = false;  // the seed includes CuTe's headers
  std::string device, device_name;            // "cuda:0", as the evaluator names it; "NVIDIA H200", the product
  bool modelled = false;                      // the device's times are modelled
  int64_t bindings = 1;                       // number of bindings of the seed's tunables
  std::map<std::string, SourceHash> prompts;  // template name -> hash of its text
  std::optional<DeviceFacts> facts;           // of the device; absent in the oldest logs
  SourceHash broken_start;                    // the run's first version, if given; empty: none
  std::vector<RememberedIdea> memory;         // proven ideas of earlier runs, if the strategy uses them
};

// EventKind::kChoice: the strategy's decision, one of the five structs that follow. An attempt or a sweep opens `node`.
struct AttemptOpened {
  int64_t node = 0, parent = -1, incumbent = 0;  // incumbent: the node that it will be timed against
  int64_t known = 0;                             // the decision was based on the nodes below this number
  std::string purpose = "optimise", note;        // purpose: optimise | generate | debug; note: the reason, for people
  std::vector<Turn> turns;                       // the requests that the attempt makes in turn
};
struct SweepOpened {
  int64_t node = 0;
  int64_t parent = 0;  // the version that is swept
  int64_t incumbent = 0, known = 0;
};
struct CasesAsked {
  Turn turn;  // the request to the tester
};
struct FinalBegun {
  int64_t node = 0;  // the best node, which is timed against the seed once more
};
// Any choice in a log of version 1. It has no effect, because in such a log proposals open the nodes.
struct OtherChoice {};

// EventKind::kRequest: a question, recorded before it is sent.
struct RequestAsked {
  int64_t number = 0;
  int64_t attempt = 1;  // above 1: the request is sent again
  int64_t node = -1;
  int turn = 0;              // index into the turns of the attempt
  bool repair = false;       // it asks to repair an unusable reply
  int64_t parent = 0;        // the version that the prompt shows
  std::string role, prompt;  // prompt: name of the template
  SourceHash prompt_text;  // text of the template; empty when the run stored none
  double temperature = 0;
  int64_t max_tokens = 0;
  std::string provider;
  std::vector<StoredMessage> messages;
  std::optional<GivenHint> hint;  // the hint that the prompt gives; absent: it gives none
};

// EventKind::kReply: a reply, or (RequestFailed) the reason why there is none.
struct ReplyArrived {
  StoredReply reply;
};
struct RequestFailed {
  int64_t number = 0;
  std::string code, message;  // StatusCodeName, and the Status's message
};

// EventKind::kMemo: what was read from a reply that is no candidate. `cases` is filled for memos of kind "cases".
struct MemoMade {
  Memo memo;
  std::vector<ProposedCase> cases;
};

// EventKind::kProposal: how the attempt or the sweep `node` ended: with a source, with a problem, or because the
// provider is exhausted.
struct NodeProposed {
  int64_t node = 0;
  int64_t request = -1;          // the request whose reply this is; -1: none (a sweep, or an attempt without a request)
  int64_t parent = -1;           // set for sweeps, and for all proposals in logs of version 1
  std::string origin = "reply";  // set when `parent` is
  std::optional<std::string> idea;  // absent: the idea with which the node was opened
  std::string idea_key, reasoning;  // idea_key: the idea in normal form, to find repetitions; reasoning: the reply
                                    // besides idea and code
  std::string form;  // how the reply gave its code: file | regions | edits; empty: unknown
  SourceHash source;
  int64_t bindings = 1;
  std::vector<std::string> widened;  // regions beyond its plan that the coder asked for
  std::vector<double> predicted_us;  // the time that the coder expects for each timed case; empty: it said none
  std::string problem, detail;       // why there is no source; `problem` empty: there is one
  bool exhausted = false;            // the provider has no more replies
};

// EventKind::kVetting: the result of running the seed on a proposed case.
struct CaseVetted {
  size_t index = 0;  // the case's index in RunView::cases
  bool accepted = false;
  std::string detail;                    // why the case is refused
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
  int64_t no_cute_from = -1;       // the nodes from this number on are asked for without CuTe; -1: nothing changes
};
struct NoteTaken {  // EventKind::kNote
  RunRemark remark;
};
struct SittingEnded {  // EventKind::kEnded
  std::string reason = "ended";  // suspended, interrupted, provider_failed, or why the run is finished
};

using RunEvent = std::variant<RunStarted, AttemptOpened, SweepOpened, CasesAsked, FinalBegun, OtherChoice, RequestAsked,
                              ReplyArrived, RequestFailed, MemoMade, NodeProposed, CaseVetted, SweepPointJudged,
                              NodeJudged, NodeProfiled, FinalJudged, RunResumed, NoteTaken, SittingEnded>;

// Converts the event to its stored form. The caller adds the time, and the texts whose hashes the event has.
EventDraft EncodeEvent(const RunEvent& event);

// Decodes a stored event. `version`: that of the log, since choices of version 1 had other fields. kInternal for a
// damaged or unknown payload, kInvalidArgument for a log of a newer Hone.
Result<RunEvent> DecodeEvent(const Event& event, int version = kRunVersion);

// Decodes an event of one kind; nullopt when `event` is of another kind, or damaged. It serves readers that need a few
// kinds only and leave error reporting to RunFold.
template <typename Kind>
std::optional<Kind> DecodeAs(const Event& event) {
  Result<RunEvent> decoded = DecodeEvent(event);
  if (!decoded.ok() || !std::holds_alternative<Kind>(*decoded)) return std::nullopt;
  return std::get<Kind>(std::move(*decoded));
}

}  // namespace hone
