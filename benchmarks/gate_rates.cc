// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how often a gate fails a change that changes nothing, and how often it finds a slower one, with the noise of
// a real device.
//
// The program reads what benchmarks/gate_campaign recorded: gates of a change that changes nothing, with intervals of
// each case's speedup. A resampled gate draws each round of each case from the recorded intervals of that case, with
// replacement, and decides by the rule of `hone gate`. For power, one kernel, drawn anew each time, is made slower by a
// share: the intervals of its cases are divided by 1 + share. This shifts real noise, but is not a kernel that is
// really slower; such kernels are in the recorded gates themselves. Prints JSON.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/numbers/random.h"
#include "base/text/json_text.h"
#include "benchmarks/arguments.h"
#include "tuner/gate/decision.h"

namespace hone {
namespace {

using nlohmann::json;

struct RecordedCase {
  std::string kernel;
  std::vector<Interval> rounds;
};

// Returns the cases of the gates of kind "same".
Result<std::vector<RecordedCase>> ReadCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::NotFound(fmt::format("{}: cannot be read; benchmarks/gate_campaign writes it", path));
  std::stringstream text;
  text << file.rdbuf();
  HONE_ASSIGN_OR_RETURN(const json recorded, ParseJson(text.str(), path));
  std::map<std::string, RecordedCase> cases;
  try {
    for (const json& gate : recorded.at("gates")) {
      if (gate.at("kind") != "same") continue;
      for (const json& kernel : gate.at("kernels")) {
        for (const json& c : kernel.at("cases")) {
          RecordedCase& one = cases[kernel.at("task").get<std::string>() + " " + c.at("dims").dump()];
          one.kernel = kernel.at("task");
          const json& speedup = c.at("speedup");
          one.rounds.push_back({speedup.at("median"), speedup.at("ci95").at(0), speedup.at("ci95").at(1)});
        }
      }
    }
  } catch (const json::exception& error) {
    return Status::InvalidArgument(fmt::format("{}: {}", path, error.what()));
  }
  std::vector<RecordedCase> all;
  for (auto& [name, one] : cases) all.push_back(std::move(one));
  if (all.empty()) return Status::InvalidArgument(fmt::format("{}: it holds no gate of an equal change", path));
  return all;
}

// Returns whether the gate calls the case slower. Adds the number of evaluations to `rounds`.
bool CalledSlower(const RecordedCase& recorded, const GateRule& rule, double slower_by, Rng& rng, int64_t& rounds) {
  CaseDecision decision(rule);
  while (decision.decision() == GateDecision::kMore) {
    const Interval& drawn = recorded.rounds[rng.Below(recorded.rounds.size())];
    const double factor = 1 / (1 + slower_by);
    decision.Add({drawn.median * factor, drawn.low * factor, drawn.high * factor});
    ++rounds;
  }
  return decision.decision() == GateDecision::kSlower;
}

struct Rates {
  int gates = 0, failed = 0, found = 0;  // found: gates with a slower kernel that called one of its cases slower
  int64_t rounds = 0;
};

Rates Resample(const std::vector<RecordedCase>& cases, const GateRule& rule, int gates, double slower_by, Rng& rng) {
  const std::set<std::string> names = [&] {
    std::set<std::string> all;
    for (const RecordedCase& c : cases) all.insert(c.kernel);
    return all;
  }();
  const std::vector<std::string> kernels(names.begin(), names.end());
  Rates rates{.gates = gates};
  for (int i = 0; i < gates; ++i) {
    const std::string& slow = kernels[rng.Below(kernels.size())];
    bool failed = false, found = false;
    for (const RecordedCase& c : cases) {
      const bool is_slow = slower_by > 0 && c.kernel == slow;
      const bool called = CalledSlower(c, rule, is_slow ? slower_by : 0, rng, rates.rounds);
      failed |= called && !is_slow;
      found |= called && is_slow;
    }
    rates.failed += failed;
    rates.found += found;
  }
  return rates;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  using namespace hone;
  std::string recorded;
  int gates = 1000;
  double slower = 0.02, rate = 0.01;
  std::vector<double> shares = {0.03, 0.05};
  uint64_t seed = 1;
  Arguments app("Resamples gates from recorded ones, and counts false alarms and slow kernels found.");
  app.Add("recorded", recorded, "the JSON that benchmarks/gate_campaign wrote", {.required = true});
  app.Add("--gates", gates, "gates of each kind", {.least = 1});
  app.Add("--slower", slower, "the gate's limit, a share", {.least = 0});
  app.Add("--rate", rate, "the gate's rate of false alarms", {.least = kSmallestRate, .most = 0.5});
  app.Add("--shares", shares, "how much slower a kernel is made, shares", {.delimiter = ','});
  app.Add("--seed", seed);
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;

  const Result<std::vector<RecordedCase>> cases = ReadCases(recorded);
  if (!cases.ok()) {
    fmt::print(stderr, "gate_rates: {}\n", cases.status().message());
    return 2;
  }
  const GateRule rule = MakeGateRule(slower, rate, static_cast<int>(cases->size()));
  size_t least = SIZE_MAX;
  for (const RecordedCase& c : *cases) least = std::min(least, c.rounds.size());
  Rng rng(seed);
  json report = {{"cases", cases->size()},
                 {"least_recorded_rounds", least},
                 {"rule", {{"slower", slower}, {"rate", rate}, {"hits", rule.hits}, {"rounds", rule.rounds}}}};
  const Rates same = Resample(*cases, rule, gates, 0, rng);
  report["equal"] = {{"gates", same.gates}, {"failed", same.failed}, {"rounds_per_case", static_cast<double>(same.rounds) / gates / static_cast<double>(cases->size())}};
  for (const double share : shares) {
    const Rates slow = Resample(*cases, rule, gates, share, rng);
    report["one_kernel_slower"].push_back({{"share", share}, {"gates", slow.gates}, {"found", slow.found}, {"others_failed", slow.failed}});
  }
  fmt::print("{}\n", DumpJson(report, 2));
  return 0;
}
