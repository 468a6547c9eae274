// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run knows: its options, its nodes, what was tried and what it cost.
//
// A RunView is a pure fold over a run's events (src/tuner/run/fold.h): the same events give the same view, on any
// machine. What a run does next is decided from its view alone (strategy.h).
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

// Written into the run's first event, so that a resumed run keeps its own options.
struct RunOptions {
  std::string strategy = "refine";
  std::string model = "builtin";
  std::string target = "any";     // what candidates are written in: any | cuda | cute (others are refused)
  std::string device = "auto";    // as given: a resumed run asks for the same one
  uint64_t seed = 0;              // of the strategy's own draws
  int64_t max_attempts = 32;      // proposals, usable or not
  double max_seconds = 0;         // 0: no limit; counted over all sittings
  int64_t max_tokens = 0;         // 0: no limit; input and output together
  double max_cost_usd = 0;        // 0: no limit
  double keep_above = 0.005;      // a candidate is kept when it is at least this much faster, surely
  double floor_fraction = 0.97;   // at or above this share of the floor in every case, the search stops; 0: never
  int64_t max_sweep_points = 32;  // bindings tried in one sweep; 0: no sweeps
  int correctness_trials = 3;     // of an attempt; the final run uses the evaluator's own default
  double request_limit_seconds = 600;
  int64_t request_max_tokens = 32768;
  double temperature = 0.7;
  // Attempts in flight. What a decision may know depends on this number and on nothing that happens by chance:
  // node k is decided from the nodes below k - parallel + 1 (with `rounds`, from whole rounds of `parallel` attempts).
  int64_t parallel = 1;
  bool rounds = false;       // decide `parallel` attempts at once: for models and devices that answer in batches
  bool libraries = false;    // the final pairing times the task's libraries (baseline.toml) too
  bool calls = true;         // false: proposals whose plans call a library are refused
  bool profile = true;       // profile a version when a turn is to be shown how it stands (Turn::profile)
  bool blind_start = false;  // open the first attempts before the seed is judged: saves a visit to a spooled device
  // Sweep the seed's tunables, where it has any, before the first attempt is opened: attempts then start from its best
  // binding. The first attempts do not wait for it with `blind_start`, nor in `rounds` on a spool, where that would
  // cost a visit to the device.
  bool sweep_seed = true;
  // The strategy's own figures, "tree.epsilon" -> 0.3; absent ones have their defaults (strategies/settings.h).
  std::map<std::string, double> settings;
};

// Version of the events' payloads (docs/formats/run-store.md).
inline constexpr int kRunVersion = 6;
// Older runs are shown, reported and exported, but not continued.
inline constexpr int kOldestContinuedVersion = 2;

enum class NodeState {
  kOpen,      // in the making: its requests are under way (or its sweep)
  kUnusable,  // the replies could not become a candidate: `problem` says why
  kProposed,  // a candidate that waits for its evaluation
  kEvaluated,
};

// One request of an attempt: who is asked, with which template, and what is shown.
struct Turn {
  std::string role;    // planner | coder | debugger | tester | analyst
  std::string prompt;  // template: "tree_plan" (src/tuner/prompts)
  double temperature = 0.7;
  bool profile = true;         // resources, counters and findings of the parent are shown
  bool ledger = true;          // so are the ideas tried so far
  std::vector<int64_t> shown;  // nodes shown beside the parent, with their outcomes; sources as room allows
  // A planner's plan marks spans of the parent, and its coder may change nothing else (src/tuner/agents/spans.h).
  bool bound = false;
};

// One candidate, or one failed attempt at one. Node 0 is the seed. A node is opened by the choice that decided on
// it, so its number does not depend on which of several attempts ended first.
struct RunNode {
  int64_t id = 0;
  int64_t parent = -1;
  std::string origin;     // seed | reply | sweep
  std::string purpose;    // seed | generate | optimise | debug | sweep
  std::string idea;       // one line
  std::string idea_key;   // as in the ledger
  std::string reasoning;  // what else the reply said
  NodeState state = NodeState::kProposed;
  std::string problem;      // kUnusable: no_code, search_not_found, repeated_idea, … (agents/reply.h)
  std::string detail;       // kUnusable: a sentence that says what to do better
  std::vector<std::string> widened;  // regions that a bound coder took in beside its plan's spans
  std::string repaired;     // problem of a first reply that a repair turn followed; empty: none was needed
  SourceHash source_hash;   // empty when unusable
  int64_t bindings = 1;     // how many bindings its tunables allow
  int64_t request = -1;     // number of the request that led here
  int64_t known = 0;        // the decision to open it knew the nodes below this number
  std::vector<Turn> turns;  // its requests, in order
  std::optional<Evaluation> evaluation;
  // It was profiled: `evaluation` holds the profile and its findings, unless the profiling itself went wrong.
  bool profiled = false;
  int64_t incumbent = -1;  // the node it was timed against; set when it is opened
  // Geometric mean over the cases, against the incumbent; set when the verdict is ok and times exist.
  std::optional<Interval> gain;
  // Over the seed: the gains along the chain of incumbents, multiplied. An estimate; only the final run pairs
  // the best with the seed itself.
  std::optional<double> speedup;
  bool kept = false;       // became the best
  bool rejected = false;   // was the best, and failed the final run
  bool settled = false;    // it and all nodes before it are done: decisions may rest on it
  int64_t best_after = 0;  // the best once it was settled
  double seconds = 0;      // into the run, when its evaluation (or refusal) was known

  bool done() const { return state == NodeState::kUnusable || state == NodeState::kEvaluated; }
};

struct LedgerEntry {
  std::string key;  // the idea in a form that ignores case, spaces and punctuation; empty: not to be compared
  std::string idea;
  int64_t node = -1;
  std::string outcome;  // "1.14x faster, kept", "wrong_output", "search_not_found"
};

struct SweepPoint {
  int64_t node = -1;  // the candidate whose tunables are swept
  Binding binding;
  Evaluation evaluation;
  int64_t incumbent = -1;  // what it was timed against; -1 in logs of version 1: the best at that time
};

// Lines of a source that a plan marks, counted from 1 in the source as prompts show it (without its licence).
struct PlanSpan {
  std::string region;           // in which they begin
  int64_t first = 0, last = 0;  // both included
  bool whole = false;           // they are the region, from its first line to its last
};

// What a reply became that is no candidate: a plan, a diagnosis, findings of the profile analyst, proposed cases,
// or a reply that nothing could be made of.
struct Memo {
  int64_t node = -1;  // the attempt it belongs to; 0: the run's own (cases)
  int turn = 0;
  int64_t request = -1;
  std::string kind;                  // plan | diagnosis | findings | cases | problem
  std::string idea;                  // plan: one line
  std::string text;                  // what later turns are shown
  std::vector<std::string> regions;  // plan: the regions it changes
  std::vector<PlanSpan> spans;       // plan of a bound turn: what its coder may change
  std::string problem, detail;       // kind "problem": as of a node
  SourceHash reply;                  // its text
};

// A case that the tester proposed, vetted by running the seed on it.
struct ProposedCase {
  Dims dims;
  // How inputs are drawn in it, by name, as task.toml says it: x -> { distribution = "uniform", low = -80, high = 80 }.
  std::map<std::string, std::string> values;
  std::string reason;
  std::string state = "proposed";  // proposed | accepted | refused
  std::string detail;              // refused: why
};

// A reply as the log holds it: its text lies in the store.
struct StoredReply {
  int64_t number = 0;  // of the request it answers
  SourceHash text;
  FinishReason finish = FinishReason::kStop;
  TokenUsage usage;
  double cost_usd = 0;  // meaningful when cost_known
  bool cost_known = true;
  std::string provider, model;
  double seconds = 0;
};

// A message of a request as the log holds it: its text lies in the store.
struct StoredMessage {
  std::string role;  // system | user | assistant
  SourceHash text;
};

// Requests of one node that are not over.
struct Progress {
  int turn = 0;
  bool repair = false;               // the turn's second request is under way
  std::optional<StoredReply> reply;  // a durable reply that is not read yet: it is parsed, never asked for again
};

// A request without a durable reply: on resume it is asked again, and shown as such.
struct PendingRequest {
  int64_t number = 0;
  int64_t parent = -1;
  int64_t attempts = 1;  // how often it was sent
  int64_t node = -1;
  bool suspended = false;               // its sitting ended in order, with the request left where it was put
  std::vector<StoredMessage> messages;  // it is asked again word for word
};

// Something a reader should know that changes nothing: an attempt at an endpoint that failed before the answer came.
struct RunRemark {
  int64_t node = -1;
  int64_t request = -1;  // number of the request it is about
  std::string text;
};

// What an earlier run proved: an idea that was surely faster than what it was timed against (src/tuner/run/memory.h).
struct RememberedIdea {
  std::string run, task, workload, device;
  std::string idea;
  std::string limiter;  // what held its parent back: memory | arithmetic | latency; empty: not known
  double gain = 1, low = 1, high = 1;  // speedup with its 95 % interval
  double bytes = 0;                    // that its largest timed shape must move
  std::string diff;                    // unified, against its parent; cut
};

struct FinalResult {
  int64_t node = -1;      // the best
  Evaluation evaluation;  // against the seed, with fresh hidden cases
};

struct RunView {
  RunInfo info;
  RunOptions options;
  int version = kRunVersion;  // of the log; a run begun under version 1 is shown and replayed, not continued
  std::string workload;       // the task's class: "gemm"
  SourceHash task_toml_hash, oracle_hash, seed_hash;  // sources in the store; the seed: what node 0 is
  SourceHash baseline_hash;  // of the task's baseline.toml; empty unless the run times libraries
  // The task has no seed: node 0 is the reference made of its oracle (src/tuner/run/oracle_reference.h). It is right
  // and slow, speedups are over it, and the first attempts write a kernel from the oracle.
  bool from_oracle = false;
  SourceHash broken_start;                    // node 1 is this version, whatever is wrong with it; empty: none was given
  std::vector<RememberedIdea> memory;         // of earlier runs, as the run began
  bool start_uses_cute = false;               // node 0 is written in CuTe
  std::map<std::string, SourceHash> prompts;  // template -> its text
  std::vector<RunNode> nodes;                 // by id
  int64_t settled = 0;                        // the nodes below are done
  int64_t best = 0;                           // among the settled; the seed when nothing was kept
  bool seed_broken = false;                   // the seed itself was not `ok`
  std::vector<LedgerEntry> ledger;            // of the settled nodes, in their order
  std::vector<SweepPoint> sweep;
  std::vector<int64_t> swept;  // nodes that need no sweep: swept (or about to be), or a sweep's product
  std::vector<Memo> memos;     // in order of arrival
  bool cases_asked = false;    // a tester was asked for cases
  bool cases_read = false;     // its answer is in `cases` (perhaps none)
  std::vector<ProposedCase> cases;
  std::map<int64_t, Progress> open;  // nodes whose requests are under way
  std::vector<PendingRequest> pending;
  bool provider_exhausted = false;
  std::string provider_failure;  // last request's Status, when it failed for good
  int64_t requests = 0;          // asked so far, repair turns included, repetitions not
  int64_t asked_again = 0;
  int64_t attempts = 0;     // attempts opened; the seed and sweeps not counted
  int64_t evaluations = 0;  // sweep points and the final run included
  int64_t profiles = 0;     // nodes profiled for a prompt
  TokenUsage usage;
  double cost_usd = 0;             // of the replies whose cost is known
  int64_t replies = 0;             // durable ones
  int64_t unpriced_replies = 0;    // those whose cost nobody knows: `cost_usd` is too little by theirs
  std::vector<RunRemark> remarks;  // in order of arrival
  double seconds = 0;              // spent in all sittings, up to the last event
  int64_t sittings = 1;
  std::optional<FinalResult> final_result;
  std::string ended;  // reason of the last kEnded; empty while a sitting is open
  int64_t events = 0;

  const RunNode& node(int64_t id) const { return nodes.at(static_cast<size_t>(id)); }
  // The last memo of this kind for a node; nullptr: none.
  const Memo* FindMemo(int64_t node, std::string_view kind) const;
  // Every case the tester proposed is accepted or refused.
  bool CasesFrozen() const;
};

// Number of a request: 8 * node + 2 * turn, plus 1 for the repair turn. Known before anything is asked, so a
// recorded run answers the same questions however its attempts overlapped.
inline constexpr int kMaxTurns = 4;
constexpr int64_t RequestNumber(int64_t node, int turn, bool repair) { return 8 * node + 2 * turn + (repair ? 1 : 0); }

// The whole run, from the store.
Result<RunView> LoadRun(RunStore& store, const std::string& run);

// How many nodes the decision about the next node knows: see RunOptions::parallel. Sweeps take no place in a round.
int64_t KnownFor(const RunView& view);

// What a node's source is called in evaluations and messages: "seed.cu", "reference.cu", "node-7.cu".
std::string NodeFileName(const RunView& view, int64_t node);

}  // namespace hone
