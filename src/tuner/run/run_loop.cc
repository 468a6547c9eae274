// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/run_loop.h"

#include <fmt/format.h>

#include "tuner/run/log/run_standing.h"
#include "tuner/run/sitting.h"

namespace hone {
namespace {

// Returns the last message to a model when its run has ended: the outcome of its last reply, and of the run. Empty: the
// run can be continued.
std::string LastWord(const RunView& view) {
  if (!IsOver(view)) return "";
  std::string text = fmt::format("The run is over ({}). ", view.ended);
  for (auto entry = view.ledger.rbegin(); entry != view.ledger.rend(); ++entry) {
    if (view.node(entry->node).origin != "reply") continue;
    text += fmt::format("The last version, node {} ({}): {}. ", entry->node, entry->idea, entry->outcome);
    break;
  }
  const RunNode& best = view.node(view.best);
  text += view.best == 0 ? fmt::format("No version was surely faster than {}.", StartName(view))
                         : fmt::format("The best version is node {} ({}), {:.3f}x as fast as what the run began with{}.", best.id, best.idea,
                                       best.speedup.value_or(1), view.info.modelled ? " (modelled)" : "");
  return text + " You can end now.";
}

}  // namespace

Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, dependencies.store->FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunClaim> claim, dependencies.store->Claim(info.id));
  Sitting sitting(dependencies, info);
  HONE_RETURN_IF_ERROR(sitting.Load());
  const Status ran = sitting.Run();
  dependencies.provider->Leave(info.id, ran.ok() ? LastWord(sitting.view()) : "");
  HONE_RETURN_IF_ERROR(ran);
  return sitting.view();
}

}  // namespace hone
