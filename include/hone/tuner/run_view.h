// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the state of a run: its options, its nodes, what was tried and what it cost.
//
// A RunView is a pure fold over a run's events (src/tuner/run/log/fold.h): the same events give the same view, on any
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
  std::string target = "any";     // language of candidates: any | cuda | cute (candidates in the other are refused)
  std::string device = "auto";    // as given by the user: a resumed run uses the same one
  uint64_t seed = 0;              // seed of the strategy's own draws
  int64_t max_attempts = 32;      // proposals, usable or not
  double max_seconds = 0;         // 0: no limit; time before a resume counts too
  int64_t max_tokens = 0;         // 0: no limit; input and output together
  double max_cost_usd = 0;        // 0: no limit
  double keep_above = 0.005;  // a candidate is kept only if its speedup certainly exceeds 1 by at least this fraction
  // The search stops when floor time / best time is at least this in every case; 0: never.
  double floor_fraction = 0.97;
  int64_t max_sweep_points = 32;  // bindings tried in one sweep; 0: no sweeps
  int correctness_trials = 3;     // input sets per attempt; the final run uses the evaluator's own default
  double request_limit_seconds = 600;
  int64_t request_max_tokens = 32768;
  double temperature = 0.7;
  // Number of attempts in flight. What a decision may use depends on this number and not on chance: node k is decided
  // from the nodes below k - parallel + 1 (with `rounds`, from whole rounds of `parallel` attempts).
  int64_t parallel = 1;
  bool rounds = false;       // decide `parallel` attempts at once: for models and devices that answer in batches
  bool libraries = false;    // the final pairing also times the task's libraries (baseline.toml)
  bool calls = true;         // false: proposals whose plans call a library are refused
  // If false, no node is profiled. If true, a node is profiled when a prompt is to show its profile (Turn::profile).
  bool profile = true;
  // If true, the first attempts are opened before the seed is judged, which saves a visit to a spooled device.
  bool blind_start = false;
  // If true, the seed's tunables, if there are any, are swept before the first attempt is opened, so that attempts
  // start from the best binding. The first attempts do not wait for this sweep with `blind_start`, nor with `rounds` on
  // a spooled device, where waiting would cost a visit to it.
  bool sweep_seed = true;
  // Settings of the strategy, "tree.epsilon" -> 0.3; absent ones have their defaults (strategies/settings.h).
  std::map<std::string, double> settings;
};

// Version of the events' payloads (docs/formats/run-store.md).
inline constexpr int kRunVersion = 8;
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
  bool profile = true;  // resources, counters and findings of the parent are part of the prompt
  bool ledger = true;   // the ideas tried so far are part of the prompt
  // Nodes that the prompt shows besides the parent, with their outcomes, and their sources as far as space allows.
  std::vector<int64_t> shown;
  // If true, the planner's plan marks spans of the parent, and the coder may change nothing else
  // (src/tuner/agents/spans.h).
  bool bound = false;
};

// The hint that a prompt gave to one attempt, so that attempts that start together try different things.
struct GivenHint {
  std::string hint;              // the menu's entry, or the finding's kind where no entry answers it
  std::string finding;           // kind of the finding (profile.h) that it answers; empty: none
  std::string kernel, location;  // the finding's place
  double gain = 0;               // the finding's estimate of the share of a launch's time that could be saved, 0 to 1
};

// One candidate, or one attempt that gave none. Node 0 is the seed. Nodes are numbered when the strategy decides to
// make them, so the numbers do not depend on which attempt ends first.
struct RunNode {
  int64_t id = 0;
  int64_t parent = -1;
  std::string origin;     // seed | reply | sweep
  std::string purpose;    // seed | generate | optimise | debug | sweep
  std::string idea;       // one line
  std::string idea_key;   // the idea's key in the ledger (LedgerEntry::key)
  std::string reasoning;  // text of the reply besides idea and code
  NodeState state = NodeState::kProposed;
  std::string problem;      // kUnusable: no_code, search_not_found, repeated_idea, … (agents/reply.h)
  std::string detail;       // kUnusable: a sentence on how to do better
  std::vector<std::string> widened;  // regions that a bound coder changed beyond its plan's spans
  std::vector<double> predicted_us;  // the time in microseconds that the coder expected for each timed case; empty: it said none
  std::string repaired;     // problem of the first reply, if a repair turn followed it; empty: no repair was needed
  SourceHash source_hash;   // empty when unusable
  int64_t bindings = 1;     // how many bindings its tunables allow
  int64_t request = -1;     // number of the request that produced it
  int64_t known = 0;        // the decision to open this node could use the nodes below this number
  std::vector<Turn> turns;  // its requests, in order
  std::optional<GivenHint> hint;  // nullopt: its prompts gave none
  std::optional<Evaluation> evaluation;
  // If true, `evaluation` holds a profile and its findings, or profiling was tried and failed.
  bool profiled = false;
  int64_t incumbent = -1;  // the node that this one is timed against; set when this one is opened
  // Geometric mean of the speedups over the incumbent, over all cases; set when the verdict is ok and times exist.
  std::optional<Interval> gain;
  // Estimated speedup over the seed: the product of the gains along the chain of incumbents. Only the final run times
  // the best node against the seed itself.
  std::optional<double> speedup;
  bool kept = false;       // true: became the best node when it was settled
  bool rejected = false;   // true: was the best node, and failed the final run
  bool settled = false;    // this node and all before it are done: decisions may use it
  int64_t best_after = 0;  // the best node after this one was settled
  double seconds = 0;      // time into the run at which its evaluation (or refusal) was known

  // Returns whether no request and no evaluation of this node is outstanding.
  bool done() const { return state == NodeState::kUnusable || state == NodeState::kEvaluated; }
};

// One line of the ledger, the list of ideas tried so far that prompts show.
struct LedgerEntry {
  std::string key;  // the idea without differences of case, spaces and punctuation; empty: the idea is never compared
  std::string idea;
  int64_t node = -1;
  std::string outcome;  // "1.14x faster, kept", "wrong_output", "search_not_found"
};

// The verdict on one binding of a sweep.
struct SweepPoint {
  int64_t node = -1;  // the candidate whose tunables are swept
  Binding binding;
  Evaluation evaluation;
  // The node that the binding was timed against; -1 in logs of version 1: the best at that time.
  int64_t incumbent = -1;
};

// Lines of a source that a plan marks, counted from 1 in the source as prompts show it (without its licence).
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
  bool repair = false;  // the turn's second request, a repair, is in progress
  // A durable reply that was not parsed yet. A resumed run parses it and does not send the request again.
  std::optional<StoredReply> reply;
};

// A request without a durable reply. A resumed run sends it again, and says so.
struct PendingRequest {
  int64_t number = 0;    // RequestNumber
  int64_t parent = -1;   // parent of `node`
  int64_t attempts = 1;  // how many times it was sent
  int64_t node = -1;     // the attempt that makes the request
  bool suspended = false;  // true: the run was suspended, and left the request where the provider had put it
  std::vector<StoredMessage> messages;  // the request's messages, to send it again word for word
};

// A remark for the reader that changes nothing, such as: a provider's first attempt failed before the answer came.
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
  double gain = 1, low = 1, high = 1;  // speedup over its incumbent, with the ends of its 95 % interval
  double bytes = 0;                    // bytes that its largest timed shape must move
  std::string diff;                    // unified diff against its parent, truncated
};

// The run's last measurement: the best node against the seed.
struct FinalResult {
  int64_t node = -1;      // the best node
  Evaluation evaluation;  // against the seed, with fresh hidden cases
};

// The whole state of a run after the events so far.
struct RunView {
  RunInfo info;
  RunOptions options;
  // Version of the log. A log older than kOldestContinuedVersion is shown and replayed, not continued.
  int version = kRunVersion;
  std::string workload;       // the task's class: "gemm"
  SourceHash task_toml_hash, oracle_hash, seed_hash;  // sources in the store; seed_hash: node 0's
  SourceHash baseline_hash;  // hash of the task's baseline.toml; empty unless the run times libraries
  // The task has no seed: node 0 is the reference made from its oracle (src/tuner/run/oracle_reference.h), which is
  // right and slow, or the PyTorch module that is its oracle. Speedups are relative to node 0, and the first attempts write
  // a kernel from the oracle.
  bool from_oracle = false;
  bool from_module = false;  // with from_oracle: node 0 is the task's PyTorch module in eager mode, and its source is reference.py
  SourceHash broken_start;                    // source given by --broken-start (node 1), right or not; empty: none
  std::vector<RememberedIdea> memory;         // ideas of earlier runs, as they were known when this run began
  bool start_uses_cute = false;               // node 0 is written in CuTe
  // With target `any`: the nodes from this number on are asked for without CuTe, because the judges had stated before
  // the run went on that they have no CuTe; -1: no node is.
  int64_t no_cute_from = -1;
  std::map<std::string, SourceHash> prompts;  // template name -> hash of its text
  std::vector<RunNode> nodes;                 // indexed by id
  int64_t settled = 0;                        // the nodes below this number are done
  int64_t best = 0;                           // best of the settled nodes; the seed when none is surely faster
  bool seed_broken = false;                   // true: the seed's own verdict was not `ok`
  std::vector<LedgerEntry> ledger;            // one entry per settled node, in order
  std::vector<SweepPoint> sweep;
  std::vector<int64_t> swept;  // nodes that need no sweep: swept (or about to be), or made by a sweep
  std::vector<Memo> memos;     // in order of arrival
  bool cases_asked = false;    // a tester was asked for cases
  bool cases_read = false;     // the tester's answer was parsed into `cases` (which may be empty)
  std::vector<ProposedCase> cases;
  std::map<int64_t, Progress> open;  // nodes whose requests are in progress
  std::vector<PendingRequest> pending;
  bool provider_exhausted = false;
  std::string provider_failure;  // Status of the last request, when it failed for good
  int64_t requests = 0;          // requests sent, with repair turns but without repetitions
  int64_t asked_again = 0;       // repetitions: requests sent again after a resume
  int64_t attempts = 0;          // attempts opened, without the seed and sweeps
  int64_t evaluations = 0;       // evaluations made, with sweep points and the final run
  int64_t profiles = 0;     // nodes profiled for a prompt
  TokenUsage usage;
  double cost_usd = 0;             // total of the replies whose cost is known
  int64_t replies = 0;             // durable replies
  int64_t unpriced_replies = 0;    // replies of unknown cost, missing from `cost_usd`
  std::vector<RunRemark> remarks;  // in order of arrival
  double seconds = 0;              // time in which the run was active, up to the last event, resumes included
  int64_t sittings = 1;            // number of times that the run was started or resumed
  std::optional<FinalResult> final_result;
  std::string ended;  // reason of the last kEnded; empty while the run is active
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

// Returns how many nodes the decision about the next node may use (RunOptions::parallel). Nodes made by sweeps do not
// belong to rounds.
int64_t KnownFor(const RunView& view);

// Returns the language that candidates of a node may be in: any | cuda | cute.
std::string TargetOf(const RunView& view, int64_t node);

// Returns the file name of a node's source in evaluations and messages: "seed.cu", "reference.cu", "node-7.cu".
std::string NodeFileName(const RunView& view, int64_t node);
// Returns the name of node 0: "the seed", or for a task without one "the module in PyTorch (eager)" or "the oracle's kernel".
std::string StartName(const RunView& view);

// Returns which nodes the run has, for messages: "run r1 has nodes 0 to 3", "run r1 has node 0 alone" or "run r1 has no
// nodes".
std::string NodesText(const RunView& view);

}  // namespace hone
