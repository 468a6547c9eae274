// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes an invented run of any size to a store, event by event as the loop does, for tests of reports and their speed.
// The run is a tree with failures, plans, costs, a device and a final evaluation.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/numbers/hash.h"
#include "base/numbers/random.h"
#include "base/text/json_text.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/run/log/run_options.h"

namespace hone {

struct SyntheticRun {
  std::string id = "20260921-101500-0abc";
  int64_t nodes = 24;  // number of nodes without the seed
  std::string strategy = "tree", model = "openai:gpt-5";
  bool modelled = false;  // its times are modelled
  bool end = true;  // the run has a final evaluation and has ended
  uint64_t seed = 7;   // of the random tree
  double step = 0.03;  // approximate gain of a kept node
  std::string task = "rmsnorm";
};

// Returns a correct evaluation whose kernel is `over` times as fast as its incumbent. `spread`: relative half width of
// the times' intervals, if they are not modelled.
inline Evaluation SyntheticEvaluation(double over, bool modelled, double spread) {
  Evaluation e;
  e.verdict = Verdict::kOk;
  e.device = modelled ? "sim:h200 simulated GPU" : "cuda:0 NVIDIA H200";
  e.modelled = modelled;
  const std::pair<Dims, double> shapes[] = {{{{"batch", 1024}, {"features", 4096}, {"inner", 1}}, 14.0},
                                            {{{"batch", 4096}, {"features", 5120}, {"inner", 1}}, 61.5},
                                            {{{"batch", 16}, {"features", 64}, {"inner", 65536}}, 240.0},
                                            {{{"batch", 112}, {"features", 64}, {"inner", 262144}}, 4210.0}};
  int i = 0;
  for (const auto& [dims, base] : shapes) {
    CaseResult c;
    c.dims = dims;
    const double ratio = over * (1.08 - 0.06 * i++), us = base / ratio;
    const double half_width = modelled ? 0 : spread * us;
    c.time_us = Interval{us, us - half_width, us + half_width};
    c.baseline_us = base;
    c.speedup = Interval{ratio, ratio * (1 - (modelled ? 0 : spread)), ratio * (1 + (modelled ? 0 : spread))};
    c.floor_us = base * 0.62;
    c.floor_fraction = base * 0.62 / us;
    c.timing.status = modelled ? "modelled" : "stable";
    c.timing.decision = ratio > 1 ? "faster" : "same";
    e.cases.push_back(c);
  }
  e.geomean_speedup = GeomeanSpeedup(e.cases);
  KernelResources r;
  r.kernel = "rmsnorm_rows<4>";
  r.registers = 32;
  r.occupancy = 0.75;
  e.resources.push_back(r);
  return e;
}

// Writes the run. `task_toml` and `seed`: those of the task rmsnorm, or any texts.
inline Status WriteSyntheticRun(RunStore& store, const SyntheticRun& run, const std::string& task_toml,
                                const std::string& seed) {
  using Json = nlohmann::json;
  double clock = 1'790'000'000;
  uint64_t state = run.seed;
  const auto draw = [&] {  // splitmix64, mapped to [0, 1)
    state += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  };
  RunInfo info;
  info.id = run.id;
  info.task = run.task;
  info.device = run.modelled ? "sim:h200" : "cuda:0";
  info.modelled = run.modelled;
  info.strategy = run.strategy;
  info.model = run.model;
  info.started = clock;
  HONE_RETURN_IF_ERROR(store.CreateRun(info));
  const auto append = [&](EventKind kind, int64_t node, const Json& payload, const std::string& evaluation = "",
                          std::vector<std::string> sources = {}) {
    EventDraft e;
    e.kind = kind;
    e.time = clock += 0.7;
    e.node = node;
    e.payload = DumpJson(payload);
    e.evaluation = evaluation;
    e.sources = std::move(sources);
    return store.Append(run.id, e).status();
  };
  RunOptions options;
  options.strategy = run.strategy;
  options.model = run.model;
  options.max_attempts = run.nodes;
  const std::string oracle = "// an oracle\n";
  HONE_RETURN_IF_ERROR(append(EventKind::kStarted, -1,
                              {{"version", kRunVersion},
                               {"options", RunOptionsToJson(options)},
                               {"task", run.task},
                               {"task_toml", Sha256Hex(task_toml)},
                               {"oracle", Sha256Hex(oracle)},
                               {"seed", Sha256Hex(seed)},
                               {"device", info.device},
                               {"device_name", "NVIDIA H200"},
                               {"modelled", run.modelled},
                               {"facts",
                                {{"id", info.device},
                                 {"name", "NVIDIA H200"},
                                 {"cc_major", 9},
                                 {"sm_count", 132},
                                 {"memory_bandwidth", 4.8e12},
                                 {"fp32_flops", 66.9e12},
                                 {"tensor_bf16_flops", 989e12}}},
                               {"bindings", 1}},
                              "", {task_toml, oracle, seed}));
  HONE_RETURN_IF_ERROR(append(EventKind::kEvaluation, 0, {{"incumbent", -1}},
                              EvaluationToJson(SyntheticEvaluation(1.0, run.modelled, 0.004), -1)));
  static const char* kIdeas[] = {
      "four floats a load",   "one pass with values in registers", "warp shuffles instead of shared memory",
      "two rows a block",     "launch bounds for full occupancy",  "streaming stores for results",
      "fast reciprocal root", "cluster of two for long rows"};
  std::vector<std::string> sources{seed};
  std::vector<double> speed{1.0};
  std::vector<int64_t> right_nodes{0};
  int64_t best = 0;
  for (int64_t id = 1; id <= run.nodes; ++id) {
    const int64_t parent =
        draw() < 0.55 ? best : right_nodes[static_cast<size_t>(draw() * static_cast<double>(right_nodes.size()))];
    const std::string idea = fmt::format("{} ({})", kIdeas[static_cast<size_t>(draw() * 8)], id);
    HONE_RETURN_IF_ERROR(append(EventKind::kChoice, id,
                                {{"action", "attempt"},
                                 {"parent", parent},
                                 {"purpose", "optimise"},
                                 {"incumbent", best},
                                 {"known", id},
                                 {"turns",
                                  {{{"role", "planner"}, {"prompt", "tree_plan"}, {"temperature", 0.8}},
                                   {{"role", "coder"}, {"prompt", "tree_code"}, {"temperature", 0.1}}}}}));
    for (int turn = 0; turn < 2; ++turn) {
      const int64_t number = RequestNumber(id, turn, /*repair=*/false);
      const std::string role = turn == 0 ? "planner" : "coder";
      const std::string prompt = fmt::format("You are the {} of attempt {}.\n{}", role, id, seed),
                        reply = fmt::format("IDEA: {}\nBecause of <memory> & latency.", idea);
      HONE_RETURN_IF_ERROR(append(EventKind::kRequest, id,
                                  {{"number", number},
                                   {"attempt", 1},
                                   {"parent", parent},
                                   {"node", id},
                                   {"role", role},
                                   {"temperature", 0.8},
                                   {"max_tokens", 4096},
                                   {"provider", run.model},
                                   {"messages", {{{"role", "user"}, {"text", Sha256Hex(prompt)}}}}},
                                  "", {prompt}));
      HONE_RETURN_IF_ERROR(append(EventKind::kReply, id,
                                  {{"number", number},
                                   {"text", Sha256Hex(reply)},
                                   {"finish", "stop"},
                                   {"input_tokens", 5200 + turn * 900},
                                   {"output_tokens", 700 + turn * 1100},
                                   {"cost_usd", 0.011 + 0.008 * turn},
                                   {"provider", run.model},
                                   {"model", "gpt-5"},
                                   {"seconds", 21.5}},
                                  "", {reply}));
      if (turn == 0)
        HONE_RETURN_IF_ERROR(append(EventKind::kMemo, id,
                                    {{"request", number},
                                     {"turn", 0},
                                     {"kind", "plan"},
                                     {"idea", idea},
                                     {"text", "Change the loads first; leave the reduction."},
                                     {"regions", {"rmsnorm_rows"}}}));
    }
    const int64_t request = RequestNumber(id, 1, /*repair=*/false);
    const double luck = draw();
    if (luck < 0.12) {
      HONE_RETURN_IF_ERROR(append(EventKind::kProposal, id,
                                  {{"parent", parent},
                                   {"origin", "reply"},
                                   {"idea", idea},
                                   {"idea_key", idea},
                                   {"request", request},
                                   {"problem", "search_not_found"},
                                   {"detail", "block 1: the text to be replaced does not stand in the source"}}));
      sources.emplace_back();
      speed.push_back(0);
      continue;
    }
    // Each version is its parent's source with two more lines at the same place.
    std::string source = sources[static_cast<size_t>(parent)];
    const size_t at = source.rfind('}');
    source.insert(
        at == std::string::npos ? 0 : at,
        fmt::format("  // attempt {}: {}\n  const float scale_{} = __fdividef(1.0f, {}.0f);\n", id, idea, id, id));
    if (const size_t line = source.find("// attempt"); source.size() > 24'000 && line != std::string::npos)
      source.erase(line - 2, source.find('\n', source.find('\n', line) + 1) - line + 3);
    sources.push_back(source);
    HONE_RETURN_IF_ERROR(append(EventKind::kProposal, id,
                                {{"parent", parent},
                                 {"origin", "reply"},
                                 {"idea", idea},
                                 {"idea_key", idea},
                                 {"reasoning", "Loads are the limit: <4 bytes a thread>."},
                                 {"request", request},
                                 {"source", Sha256Hex(source)},
                                 {"bindings", 1}},
                                "", {source}));
    Evaluation e;
    if (luck < 0.3) {
      e.verdict = luck < 0.2 ? Verdict::kCompileError : Verdict::kWrongOutput;
      e.modelled = run.modelled;
      e.detail = luck < 0.2 ? "node.cu:41: error: identifier \"lanes\" is undefined"
                            : "out is wrong for batch=11 features=1021 inner=1 (normal inputs)";
      if (e.verdict == Verdict::kWrongOutput) {
        Mismatch m;
        m.tensor = "out";
        m.dims = {{"batch", 11}, {"features", 1021}, {"inner", 1}};
        m.distribution = "normal";
        m.index = {3, 1020, 0};
        m.expected = 0.731;
        m.actual = 0;
        m.wrong_elements = 11;
        m.total_elements = 11231;
        m.seed = 0x1234;
        e.mismatch = m;
      }
      speed.push_back(0);
    } else {
      const double gain = std::exp(run.step * (draw() * 2.2 - 1.1) / (1 + static_cast<double>(id) / 150));
      const double own = speed[static_cast<size_t>(parent)] * gain;
      e = SyntheticEvaluation(own / speed[static_cast<size_t>(best)] / 0.99, run.modelled, 0.002);
      speed.push_back(own);
      right_nodes.push_back(id);
    }
    HONE_RETURN_IF_ERROR(append(EventKind::kEvaluation, id, {{"incumbent", best}}, EvaluationToJson(e, -1)));
    HONE_ASSIGN_OR_RETURN(const RunView view_now, [&]() -> Result<RunView> {
      // This estimates which nodes RunFold will keep, since folding the events after every node would be slow for a
      // thousand nodes.
      RunView view;
      const bool becomes_best =
          e.verdict == Verdict::kOk && e.geomean_speedup.value_or(0) > 1.0 + options.keep_above + 0.002;
      view.best = becomes_best ? id : best;
      return view;
    }());
    best = view_now.best;
  }
  if (!run.end) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const RunView view, LoadRun(store, run.id));
  HONE_RETURN_IF_ERROR(append(
      EventKind::kFinal, view.best, Json::object(),
      EvaluationToJson(
          SyntheticEvaluation(std::max(1.01, view.node(view.best).speedup.value_or(1)), run.modelled, 0.004), -1)));
  return append(EventKind::kEnded, -1, {{"reason", "attempts_spent"}});
}

}  // namespace hone
