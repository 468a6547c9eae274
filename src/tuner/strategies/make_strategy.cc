// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes strategies by name.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text/toml_document.h"
#include "hone/tuner/strategy.h"
#include "tuner/strategies/agent.h"
#include "tuner/strategies/baselines.h"
#include "tuner/strategies/funnel.h"
#include "tuner/strategies/reckon.h"
#include "tuner/strategies/refine.h"
#include "tuner/strategies/team.h"
#include "tuner/strategies/tree.h"

namespace hone {
namespace {

using Maker = std::unique_ptr<Strategy> (*)();
constexpr std::array<std::pair<std::string_view, Maker>, 9> kStrategies{{{"refine", MakeRefineStrategy},
                                                                         {"team", MakeTeamStrategy},
                                                                         {"tree", MakeTreeStrategy},
                                                                         {"sample", MakeSampleStrategy},
                                                                         {"reflexion", MakeReflexionStrategy},
                                                                         {"single", MakeSingleStrategy},
                                                                         {"agent", MakeAgentStrategy},
                                                                         {"funnel", MakeFunnelStrategy},
                                                                         {"reckon", MakeReckonStrategy}}};

}  // namespace

std::vector<std::string> StrategyNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : kStrategies) names.emplace_back(name);
  return names;
}

Result<std::unique_ptr<Strategy>> MakeStrategy(std::string_view name) {
  for (const auto& [strategy_name, make] : kStrategies) {
    if (strategy_name == name) return make();
  }
  return Status::InvalidArgument(fmt::format("there is no strategy '{}'{}", name, Suggestion(name, StrategyNames())));
}

}  // namespace hone
