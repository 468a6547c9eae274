// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the state of a run: its options, its nodes, what was tried and what it cost.
//
// A RunView is a pure fold over a run's events (src/tuner/run/fold.h): the same events give the same view, on any
// machine. The next action of a run is decided from its view alone (strategy.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/model_provider.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/source_hash.h"

namespace hone {

// Options of a run. The run's first event stores them, so that a resumed run keeps its own.
struct RunOptions {
  std::string strategy = "refine";
  std::string model = "builtin";
  std::string target = "any";     // language of candidates: any | cuda | cute (others are refused)
  std::string device = "auto";    // as given by the user: a resumed run uses the same one
  uint64_t seed = 0;              // seed of the strategy's own draws
  int64_t max_attempts = 32;      // proposals, usable or not
  double max_seconds = 0;         // 0: no limit; counted over all sittings
  int64_t max_tokens = 0;         // 0: no limit; input and output together
  double max_cost_usd = 0;        // 0: no limit
  double keep_above = 0.005;      // least certain speedup, as a fraction, for which a candidate is kept
  double floor_fraction = 0.97;   // at or above this share of the floor in every case, the search stops; 0: never
  int64_t max_sweep_points = 32;  // bindings tried in one sweep; 0: no sweeps
  int correctness_trials = 3;     // input sets per attempt; the final run uses the evaluator's own default
  double request_limit_seconds = 600;
  int64_t request_max_tokens = 32768;
  double temperature = 0.7;
  // Attempts in flight. The knowledge behind a decision depends on this number and not on chance: node k is decided
  // from the nodes below k - parallel + 1 (with `rounds`, from whole rounds of `parallel` attempts).
  int64_t parallel = 1;
  bool rounds = false;       // decide `parallel` attempts at once: for models and devices that answer in batches
  bool libraries = false;    // the final pairing also times the task's libraries (baseline.toml)
  bool calls = true;         // false: proposals whose plans call a library are refused
  bool profile = true;       // profile a version when a turn's prompt shows its profile (Turn::profile)
  bool blind_start = false;  // open the first attempts before the seed is judged: saves a visit to a spooled device
  // Sweep the seed's tunables, if there are any, before the first attempt is opened: attempts then start from its best
  // binding. The first attempts do not wait for this sweep with `blind_start`, nor in `rounds` on a spool, where
  // waiting would cost a visit to the device.
  bool sweep_seed = true;
  // Settings of the strategy, "tree.epsilon" -> 0.3; absent ones have their defaults (strategies/settings.h).
  std::map<std::string, double> settings;
};

// Version of the events' payloads (docs/formats/run-store.md).
inline constexpr int kRunVersion = 7;
// Oldest version that can be continued. Older runs are shown, reported and exported only.
inline constexpr int kOldestContinuedVersion = 2;

enum class NodeState {
  kOpen,      // its requests (or its sweep) are in progress
  kUnusable,  // the replies could not become a candidate: `problem` says why
  kProposed,  // a candidate that waits for its evaluation
  kEvaluated,
};

// One request of an attempt: the role that answers, the template, and the contents of the prompt.
struct Turn {
  std::string role;    // planner | coder | debugger | tester | analyst
  std::string prompt;  // template: "tree_plan" (src/tuner/prompts)
  double temperature = 0.7;
  bool profile = true;         // resources, counters and findings of the parent are in the prompt
  bool ledger = true;          // the ideas tried so far are in the prompt
  std::vector<int64_t> shown;  // nodes in the prompt beside the parent, with their outcomes; sources as space allows
  // The planner's plan marks spans of the parent, and the coder may change nothing else (src/tuner/agents/spans.h).
  bool bound = false;
};

// One candidate, or one failed attempt at one. Node 0 is the seed. The choice to make a node also numbers it, so the
// number does not depend on which of several attempts ended first.
struct RunNode {
  int64_t id = 0;
  int64_t parent = -1;
  std::string origin;     // seed | reply | sweep
  std::string purpose;    // seed | generate | optimise | debug | sweep
  std::string idea;       // one line
  std::string idea_key;   // as in the ledger
  std::string reasoning;  // the rest of the reply's text
  NodeState state = NodeState::kProposed;
  std::string problem;      // kUnusable: no_code, search_not_found, repeated_idea, … (agents/reply.h)
  std::string detail;       // kUnusable: a sentence on how to do better
  std::vector<std::string> widened;  // regions that a bound coder changed beyond its plan's spans
  std::string repaired;     // problem of a first reply that was followed by a repair turn; empty: none was needed
  SourceHash source_hash;   // empty when unusable
  int64_t bindings = 1;     // how many bindings its tunables allow
  int64_t request = -1;     // number of the request that produced it
  int64_t known = 0;        // the decision to open it used the nodes below this number
  std::vector<Turn> turns;  // its requests, in order
  std::optional<Evaluation> evaluation;
  // `evaluation` holds a profile and its findings, unless profiling itself failed.
  bool profiled = false;
  int64_t incumbent = -1;  // the node that it was timed against; set when it is opened
  // Geometric mean of the speedups over the incumbent, over all cases; set when the verdict is ok and times exist.
  std::optional<Interval> gain;
  // Estimated speedup over the seed: the gains along the chain of incumbents, multiplied. Only the final run pairs the
  // best with the seed itself.
  std::optional<double> speedup;
  bool kept = false;       // became the best
  bool rejected = false;   // was the best, and failed the final run
  bool settled = false;    // this node and all before it are done: decisions may use it
  int64_t best_after = 0;  // the best node after this one was settled
  double seconds = 0;      // time into the run at which its evaluation (or refusal) was known

  bool done() const { return state == NodeState::kUnusable || state == NodeState::kEvaluated; }
};

struct LedgerEntry {
  std::string key;  // the idea in a form that ignores case, spaces and punctuation; empty: never compared
  std::string idea;
  int64_t node = -1;
  std::string outcome;  // "1.14x faster, kept", "wrong_output", "search_not_found"
};

struct SweepPoint {
  int64_t node = -1;  // the candidate whose tunables are swept
  Binding binding;
  Evaluation evaluation;
  int64_t incumbent = -1;  // the node it was timed against; -1 in logs of version 1: the best at that time
};

// Lines of a source marked by a plan, counted from 1 in the source as prompts show it (without its licence).
struct PlanSpan {
  std::string region;           // the region in which the lines begin
  int64_t first = 0, last = 0;  // both included
  bool whole = false;           // the lines are the whole region
};

// A result of a reply that is not a candidate: a plan, a diagnosis, findings of the profile analyst, proposed cases, or
// a reply that could not be used.
struct Memo {
  int64_t node = -1;  // the attempt it belongs to; 0: the run's own (cases)
  int turn = 0;
  int64_t request = -1;
  std::string kind;                  // plan | diagnosis | findings | cases | problem
  std::string idea;                  // plan: one line
  std::string text;                  // text for the prompts of later turns
  std::vector<std::string> regions;  // plan: the regions it changes
  std::vector<PlanSpan> spans;       // plan of a bound turn: lines that its coder may change
  std::string problem, detail;       // kind "problem": as in RunNode
  SourceHash reply;                  // hash of the reply's text
};

// A case that the tester proposed, vetted by running the seed on it.
struct ProposedCase {
  Dims dims;
  // Distributions of its inputs, by name, as in task.toml: x -> { distribution = "uniform", low = -80, high = 80 }.
  std::map<std::string, std::string> values;
  std::string reason;
  std::string state = "proposed";  // proposed | accepted | refused
  std::string detail;              // refused: the reason
};

// A reply as the log holds it: its text is in the store.
struct StoredReply {
  int64_t number = 0;  // number of the request it answers
  SourceHash text;
  FinishReason finish = FinishReason::kStop;
  TokenUsage usage;
  double cost_usd = 0;  // meaningful when cost_known
  bool cost_known = true;
  std::string provider, model;
  double seconds = 0;
};

// A message of a request as the log holds it: its text is in the store.
struct StoredMessage {
  std::string role;  // system | user | assistant
  SourceHash text;
};

// Requests of one node that are not finished.
struct Progress {
  int turn = 0;
  bool repair = false;               // the turn's second request is under way
  std::optional<StoredReply> reply;  // a durable reply that is not read yet: it will be parsed, never requested again
};

// A request without a durable reply: on resume it is sent again, and shown as such.
struct PendingRequest {
  int64_t number = 0;
  int64_t parent = -1;
  int64_t attempts = 1;  // how many times it was sent
  int64_t node = -1;
  bool suspended = false;               // its sitting ended normally, and left the request where it was put
  std::vector<StoredMessage> messages;  // it is sent again word for word
};

// A remark for the reader that changes nothing: an attempt at an endpoint that failed before the answer came, say.
struct RunRemark {
  int64_t node = -1;
  int64_t request = -1;  // number of the request that the remark is about
  std::string text;
};

// An idea from an earlier run that was certainly faster than its incumbent (src/tuner/run/memory.h).
struct RememberedIdea {
  std::string run, task, workload, device;
  std::string idea;
  std::string limiter;  // bottleneck of its parent: memory | arithmetic | latency; empty: not known
  double gain = 1, low = 1, high = 1;  // speedup with its 95 % interval
  double bytes = 0;                    // bytes that its largest timed shape must move
  std::string diff;                    // unified diff against its parent, truncated
};

struct FinalResult {
  int64_t node = -1;      // the best node
  Evaluation evaluation;  // against the seed, with fresh hidden cases
};

struct RunView {
  RunInfo info;
  RunOptions options;
  int version = kRunVersion;  // version of the log; a run of version 1 is shown and replayed, not continued
  std::string workload;       // the task's class: "gemm"
  SourceHash task_toml_hash, oracle_hash, seed_hash;  // sources in the store; seed_hash: node 0's
  SourceHash baseline_hash;  // hash of the task's baseline.toml; empty unless the run times libraries
  // The task has no seed: node 0 is the reference made from its oracle (src/tuner/run/oracle_reference.h), which is
  // right and slow. Speedups are relative to node 0, and the first attempts write a kernel from the oracle.
  bool from_oracle = false;
  SourceHash broken_start;                    // source of node 1, which may be broken; empty: none was given
  std::vector<RememberedIdea> memory;         // ideas of earlier runs, as known when this run began
  bool start_uses_cute = false;               // node 0 is written in CuTe
  std::map<std::string, SourceHash> prompts;  // template name -> hash of its text
  std::vector<RunNode> nodes;                 // by id
  int64_t settled = 0;                        // the nodes below this number are done
  int64_t best = 0;                           // best of the settled nodes; the seed when nothing was kept
  bool seed_broken = false;                   // the seed itself was not `ok`
  std::vector<LedgerEntry> ledger;            // one entry per settled node, in order
  std::vector<SweepPoint> sweep;
  std::vector<int64_t> swept;  // nodes that need no sweep: swept (or about to be), or made by a sweep
  std::vector<Memo> memos;     // in order of arrival
  bool cases_asked = false;    // a tester was asked for cases
  bool cases_read = false;     // its answer is in `cases` (which may be empty)
  std::vector<ProposedCase> cases;
  std::map<int64_t, Progress> open;  // nodes whose requests are under way
  std::vector<PendingRequest> pending;
  bool provider_exhausted = false;
  std::string provider_failure;  // Status of the last request, when it failed for good
  int64_t requests = 0;          // requests so far, repair turns included, repetitions not
  int64_t asked_again = 0;
  int64_t attempts = 0;     // attempts opened; the seed and sweeps not counted
  int64_t evaluations = 0;  // sweep points and the final run included
  int64_t profiles = 0;     // nodes profiled for a prompt
  TokenUsage usage;
  double cost_usd = 0;             // total of the replies whose cost is known
  int64_t replies = 0;             // durable replies
  int64_t unpriced_replies = 0;    // replies of unknown cost, missing from `cost_usd`
  std::vector<RunRemark> remarks;  // in order of arrival
  double seconds = 0;              // time in all sittings, up to the last event
  int64_t sittings = 1;
  std::optional<FinalResult> final_result;
  std::string ended;  // reason of the last kEnded; empty while a sitting is open
  int64_t events = 0;

  const RunNode& node(int64_t id) const { return nodes.at(static_cast<size_t>(id)); }
  // Returns the last memo of this kind for a node; nullptr: none.
  const Memo* FindMemo(int64_t node, std::string_view kind) const;
  // Returns whether every case that the tester proposed is accepted or refused.
  bool CasesFrozen() const;
};

// Returns the number of a request: 8 * node + 2 * turn, plus 1 for the repair turn. It is known before the request is
// sent, so a recorded run answers the same requests however its attempts overlapped.
inline constexpr int kMaxTurns = 4;
constexpr int64_t RequestNumber(int64_t node, int turn, bool repair) { return 8 * node + 2 * turn + (repair ? 1 : 0); }

// Loads the whole run from the store.
Result<RunView> LoadRun(RunStore& store, const std::string& run);

// Returns how many nodes the decision about the next node may use: see RunOptions::parallel. Sweeps do not count as
// members of a round.
int64_t KnownFor(const RunView& view);

// Returns the file name of a node's source in evaluations and messages: "seed.cu", "reference.cu", "node-7.cu".
std::string NodeFileName(const RunView& view, int64_t node);

}  // namespace hone
