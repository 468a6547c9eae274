// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text/toml_document.h"

namespace hone {

const std::vector<Setting>& AllSettings() {
  constexpr double kMany = 1e6;  // upper bound of settings without a natural one
  // The fields of each: name, default, lowest and highest value, whether it is an integer, meaning, source of the default.
  static const std::vector<Setting> settings{
      {"refine.depth", 10, 0, kMany, true, "optimization steps, per attempt in flight; 0: as many as the budget allows",
       "CuTeGen, paper and released configuration: 10"},
      {"refine.fixes", 5, 0, 100, true, "repairs of one failed step before it is generated anew",
       "CuTeGen, paper and released configuration: 5"},
      {"refine.regenerations", 3, 1, 100, true, "generations of one step before it is given up",
       "CuTeGen, released configuration: 3"},
      {"refine.from_best", 1, 0, 1, true,
       "1: each step starts from the best version; 0: from the newest that is right, as published",
       "CuTeGen's released default is 0, and loses much of what it finds: 45 to 48 % of its steps come after the best"},
      {"refine.generate", 0, 0, 1, true,
       "1: write the first version from the reference instead of starting from the seed",
       "CuTeGen and STARK start so; Astra starts from a kernel"},
      {"refine.profile_start.gemm", 6, 0, kMany, true, "first steps without the profile, for matrix products",
       "CuTeGen, released script by class: 6"},
      {"refine.profile_start.attention", 6, 0, kMany, true, "first steps without the profile, for attention",
       "CuTeGen, released script by class: 6"},
      {"refine.profile_start.convolution", 6, 0, kMany, true, "first steps without the profile, for convolution",
       "CuTeGen, released script by class: 6"},
      {"refine.profile_start.reduction", 5, 0, kMany, true, "first steps without the profile, for reductions",
       "CuTeGen, released script by class: 5"},
      {"refine.profile_start.elementwise", 2, 0, kMany, true, "first steps without the profile, for elementwise work",
       "CuTeGen, released script by class (activations): 2"},
      {"refine.profile_start.gather", 2, 0, kMany, true, "first steps without the profile, for gathers",
       "not published: as elementwise"},
      {"refine.profile_start.graph", 5, 0, kMany, true, "first steps without the profile, for fused tasks",
       "not published: as reductions"},
      {"refine.profile_start.other", 1, 0, kMany, true, "first steps without the profile, for all other tasks",
       "CuTeGen's released default: 1"},
      {"refine.profile_from_start", 1, 0, 1, true,
       "1: show the profile at every step; 0: withhold it up to profile_start, as published",
       "CuTeGen's ablation: 1.34 from the start against 1.35 delayed, no difference"},
      {"team.rounds", 5, 0, kMany, true, "rounds of analysis, plan and code; 0: as many as the budget allows",
       "Astra, evaluation: R = 5"},
      {"team.cases", 10, 0, 64, true, "cases the tester may add; 0: no tester", "Astra, released tester: 8 to 10"},
      {"team.fixes", 2, 0, 100, true, "repairs of a version that does not compile or is wrong",
       "Astra's coder repeats until it compiles; no bound is given"},
      {"team.analyst", 1, 0, 1, true, "1: a profile analyst reads the figures for the planner",
       "Astra, the profiling agent"},
      {"tree.epsilon", 0.35, 0, 1, false,
       "probability that an attempt starts from a random leaf instead of the fastest node",
       "STARK, search policy: 0.3 to 0.4"},
      {"tree.root_children", 5, 1, kMany, true, "children after which the root is not expanded again",
       "STARK, root throttling: names n_root and leaves it open"},
      {"tree.dead_children", 3, 1, kMany, true,
       "failed children, without one that is right, after which a node is given up",
       "STARK, dead-branch pruning: names n_child and leaves it open"},
      {"tree.leaders", 5, 0, 64, true, "nodes of the leaderboard that the planner is shown",
       "STARK, context window of the planner: names r and leaves it open"},
      {"tree.bind", 1, 0, 1, true,
       "1: the coder may change only what the plan marks; 0: the coder sees the marks and may change anything",
       "STARK, grounded instruction"},
      {"tree.roles", 1, 0, 1, true,
       "1: planner, coder and debugger; 0: one coder plans, codes and mends: search without roles",
       "STARK's ablation, search only"},
      {"tree.search", 1, 0, 1, true,
       "1: choose a node of the tree; 0: go on from the newest version: roles without search",
       "STARK's ablation, agents only"},
      {"tree.width", 2, 1, 64, true, "attempts in flight from one node before another is preferred",
       "not published: only with more than one attempt in flight"},
      {"tree.plan_temperature", 0.8, 0, 2, false, "temperature of the planner", "STARK, set-up: 0.8"},
      {"tree.code_temperature", 0.1, 0, 2, false, "temperature of the coder", "STARK, set-up: 0.1"},
      {"tree.debug_temperature", 0.1, 0, 2, false, "temperature of the debugger", "STARK, set-up: 0.1"},
      {"reckon.fixes", 1, 0, 100, true, "repairs of a version that does not compile or is wrong", "not published"},
      {"reckon.patience", 4, 0, kMany, true, "attempts without a gain after which the kernel is designed anew; 0: never",
       "not published: as funnel"},
      {"funnel.wide", 6, 1, kMany, true, "number of first attempts, each in a direction of its own",
       "not published: recorded runs had 63 to 100 % of their gain after eight attempts"},
      {"funnel.lines", 2, 1, 64, true, "number of lines that are worked on in turn", "not published"},
      {"funnel.reach", 0.9, 0, 1, false, "share of the best's speed below which a line is left alone", "not published"},
      {"funnel.cross", 4, 0, kMany, true, "every so many steps, one carries another line's gain over; 0: none",
       "not published"},
      {"funnel.patience", 4, 0, kMany, true,
       "attempts without a gain after which one more direction is tried; 0: never", "not published"},
      {"funnel.fixes", 1, 0, 100, true, "repairs of a version that does not compile or is wrong", "not published"},
      {"funnel.sweep", 1, 0, 1, true, "1: sweep the open choices of every right version; 0: as the other strategies do",
       "not published"},
      {"funnel.memory", 1, 0, 1, true,
       "1: prompts show what paid in earlier runs on other tasks of the class; 0: they do not", "not published"},
      {"prompt.window_tokens", 8000, 0, kMany, true,
       "tokens of other versions' code in one prompt, four bytes counted as one; whose code is left out is said there",
       "not published"},
      {"sample.temperature", 0.8, 0, 2, false, "temperature of every sample",
       "STARK's sampling baseline; figure not published"},
      {"single.rounds", 5, 0, kMany, true, "rounds; 0: as many as the budget allows",
       "Astra's single-agent baseline: R = 5"},
  };
  return settings;
}

double SettingOf(const RunOptions& options, std::string_view name) {
  const auto own = options.settings.find(std::string(name));
  if (own != options.settings.end()) return own->second;
  for (const Setting& setting : AllSettings()) {
    if (setting.name == name) return setting.value;
  }
  HONE_CHECK(false, fmt::format("no setting is called {}", name));
  return 0;
}

int64_t WholeSettingOf(const RunOptions& options, std::string_view name) {
  return static_cast<int64_t>(SettingOf(options, name));
}

Status PutSetting(RunOptions& options, std::string_view name, double value) {
  std::vector<std::string> names;
  for (const Setting& setting : AllSettings()) {
    if (setting.name == name) {
      if (!(value >= setting.low && value <= setting.high) || (setting.whole && value != std::floor(value))) {
        return Status::InvalidArgument(fmt::format("{} = {} is out of range: {} from {:g} to {:g}", name, value,
                                                   setting.whole ? "a whole number" : "a number", setting.low,
                                                   setting.high));
      }
      options.settings[std::string(name)] = value;
      return Status::Ok();
    }
    names.emplace_back(setting.name);
  }
  return Status::InvalidArgument(
      fmt::format("there is no setting '{}'{}; `hone optimize --settings` lists them", name, Suggestion(name, names)));
}

Status PutSettingText(RunOptions& options, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Status::InvalidArgument(fmt::format("--set {}: write NAME=NUMBER, such as tree.epsilon=0.3", text));
  }
  const std::string value(text.substr(equals + 1));
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !std::isfinite(number)) {
    return Status::InvalidArgument(fmt::format("--set {}: '{}' is no number", text, value));
  }
  return PutSetting(options, text.substr(0, equals), number).WithContext("--set");
}

}  // namespace hone
