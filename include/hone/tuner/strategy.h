// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run knows (RunView), and who decides what it does next (Strategy).
//
// A RunView is a pure fold over a run's events: the same events give the same view, on any machine. A Strategy
// is a pure function of a view. Together they make a run that can be killed at any instant, continued, replayed
// and tested without a GPU, a network or a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/model_provider.h"
#include "hone/tuner/run_store.h"

namespace hone {

// Written into the run's first event, so that a resumed run keeps its own options.
struct RunOptions {
  std::string strategy = "refine";
  std::string model = "builtin";
  std::string device = "auto";    // as given: a resumed run asks for the same one
  uint64_t seed = 0;              // of the strategy's own draws
  int64_t max_attempts = 32;      // proposals, usable or not
  double max_seconds = 0;         // 0: no limit; counted over all sittings
  int64_t max_tokens = 0;         // 0: no limit; input and output together
  double max_cost_usd = 0;        // 0: no limit
  double keep_above = 0.005;      // a candidate is kept when it is at least this much faster, surely
  double floor_fraction = 0.97;   // at or above this share of the floor in every case, the search stops
  int64_t max_sweep_points = 32;  // bindings tried in one sweep
  int correctness_trials = 3;     // of an attempt; the final run uses the evaluator's own default
  double request_limit_seconds = 600;
  int64_t request_max_tokens = 32768;
  double temperature = 0.7;
};

enum class NodeState {
  kUnusable,  // the reply could not become a candidate: `problem` says why
  kProposed,  // a candidate that waits for its evaluation
  kEvaluated,
};

// One candidate, or one failed attempt at one. Node 0 is the seed.
struct RunNode {
  int64_t id = 0;
  int64_t parent = -1;
  std::string origin;     // seed | reply | sweep
  std::string idea;       // one line
  std::string reasoning;  // what else the reply said
  NodeState state = NodeState::kProposed;
  std::string problem;      // kUnusable: no_code, search_not_found, repeated, … (agents/reply.h)
  std::string detail;       // kUnusable: a sentence that says what to do better
  std::string source_hash;  // empty when unusable
  int64_t bindings = 1;     // how many bindings its tunables allow
  int64_t request = -1;     // number of the request that led here
  std::optional<Evaluation> evaluation;
  int64_t incumbent = -1;  // the node it was timed against
  // Geometric mean over the cases, against the incumbent; set when the verdict is ok and times exist.
  std::optional<Interval> gain;
  // Over the seed: the gains along the chain of incumbents, multiplied. An estimate; only the final run pairs
  // the best with the seed itself.
  std::optional<double> speedup;
  bool kept = false;   // became the best
  double seconds = 0;  // into the run, when its evaluation (or refusal) was known
};

struct LedgerEntry {
  std::string key;  // the idea in a form that ignores case, spaces and punctuation
  std::string idea;
  int64_t node = -1;
  std::string outcome;  // "1.14x faster, kept", "wrong_output", "search_not_found"
};

struct SweepPoint {
  int64_t node = -1;  // the candidate whose tunables are swept
  Binding binding;
  Evaluation evaluation;
};

// A request without a durable reply: on resume it is asked again, and shown as such.
struct PendingRequest {
  int64_t number = 0;
  int64_t parent = -1;
  int64_t attempts = 1;  // how often it was sent
};

struct FinalResult {
  int64_t node = -1;      // the best
  Evaluation evaluation;  // against the seed, with fresh hidden cases
};

struct RunView {
  RunInfo info;
  RunOptions options;
  std::string task_toml_hash, oracle_hash, seed_hash;  // sources in the store
  std::vector<RunNode> nodes;                          // by id
  int64_t best = 0;                                    // node; the seed when nothing was kept
  bool seed_broken = false;                            // the seed itself was not `ok`
  std::vector<LedgerEntry> ledger;                     // in order of proposal
  std::vector<SweepPoint> sweep;
  std::vector<int64_t> swept;  // nodes that need no sweep: swept already, or a sweep's product
  std::vector<PendingRequest> pending;
  // A durable reply whose proposal is not yet written: it is parsed, never asked for again.
  std::optional<int64_t> unparsed_reply;  // request number
  int64_t unparsed_parent = -1;
  ModelReply unparsed_text;
  bool provider_exhausted = false;
  std::string provider_failure;  // last request's Status, when it failed for good
  int64_t requests = 0;          // numbers given so far
  int64_t asked_again = 0;
  int64_t attempts = 0;     // proposals, the seed and sweeps not counted
  int64_t evaluations = 0;  // sweep points and the final run included
  TokenUsage usage;
  double cost_usd = 0;
  double seconds = 0;  // spent in all sittings, up to the last event
  int64_t sittings = 1;
  std::optional<FinalResult> final_result;
  std::string ended;  // reason of the last kEnded; empty while a sitting is open
  int64_t events = 0;

  const RunNode& node(int64_t id) const { return nodes.at(static_cast<size_t>(id)); }
};

// Applies events one by one. Not thread-safe.
class RunFold {
 public:
  explicit RunFold(RunInfo info) { view_.info = std::move(info); }
  // kInternal when an event does not fit what came before: a damaged or foreign log.
  Status Apply(const Event& event);
  const RunView& view() const { return view_; }

 private:
  RunView view_;
  double sitting_start_ = 0;
  double seconds_before_ = 0;
};

// The whole run, from the store.
Result<RunView> LoadRun(RunStore& store, const std::string& run);

// --- what to do next ---

// Ask the model for one step from `parent`.
struct AskAction {
  int64_t parent = 0;
  std::string role = "coder";
  double temperature = 0.7;
};
// Judge a node; `incumbent` is what it is timed against (-1: nothing yet, the seed's own first judging).
struct EvaluateAction {
  int64_t node = 0;
  int64_t incumbent = 0;
};
// Try the bindings of a node's tunables, and propose the winners as a new node.
struct SweepAction {
  int64_t node = 0;
};
// Pair the best with the seed once more, on fresh hidden cases.
struct FinalAction {
  int64_t node = 0;
};
struct FinishAction {
  std::string reason;  // floor_reached, attempts_spent, time_spent, no_more_ideas, …
};
using Action = std::variant<AskAction, EvaluateAction, SweepAction, FinalAction, FinishAction>;

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view Name() const = 0;
  // Actions that may run side by side, at most `slots`; empty only while earlier ones are still in flight.
  // Pure: no clock, no random source but options.seed, no memory of earlier calls.
  virtual std::vector<Action> Next(const RunView& view, int slots) const = 0;
};

// refine (more to come). kInvalidArgument lists the names.
Result<std::unique_ptr<Strategy>> MakeStrategy(std::string_view name);

}  // namespace hone
