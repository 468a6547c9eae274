// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/chains.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tuner/strategies/limits.h"

namespace hone {

std::vector<Chain> Chains(const Knowledge& run) {
  std::vector<Chain> chains;
  std::map<int64_t, size_t> chain_of;  // node -> index of its chain
  for (int64_t id = 1; id < run.opened(); ++id) {
    const RunNode& node = run.node(id);
    if (node.origin != "reply") continue;
    size_t index = chains.size();
    if (const auto parent = chain_of.find(node.parent); node.purpose == "debug" && parent != chain_of.end()) {
      index = parent->second;
      ++chains[index].fixes;
    } else {
      chains.push_back({id, /*source=*/-1, /*fixes=*/0, /*in_flight=*/false, /*right=*/false});
    }
    chain_of[id] = index;
    Chain& chain = chains[index];
    chain.in_flight = !run.IsKnown(id);
    if (chain.in_flight) continue;
    if (Right(node)) chain.right = true;
    if (IsIncorrect(node)) chain.source = id;
  }
  return chains;
}

std::optional<AttemptAction> DueRepair(const Knowledge& run, const std::vector<Chain>& chains, int64_t most_fixes, std::vector<Turn> turns) {
  for (const Chain& chain : chains) {
    if (!chain.CanRepair(most_fixes)) continue;
    AttemptAction attempt;
    attempt.parent = chain.source;
    attempt.purpose = "debug";
    attempt.turns = std::move(turns);
    attempt.incumbent = run.best();
    attempt.note = fmt::format("repair {} of {} of node {}", chain.fixes + 1, most_fixes, chain.first);
    return attempt;
  }
  return std::nullopt;
}

int64_t StepsDone(const std::vector<Chain>& chains, int64_t fixes, int64_t generations) {
  int64_t done = 0, failed = 0;  // failed: chains in succession that were given up
  for (const Chain& chain : chains) {
    if (chain.right) {
      ++done;
      failed = 0;
    } else if (chain.IsGivenUp(fixes) && ++failed == generations) {
      ++done;
      failed = 0;
    }
  }
  return done;
}

}  // namespace hone
