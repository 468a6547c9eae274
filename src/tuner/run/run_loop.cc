// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/run_loop.h"

#include "tuner/run/sitting.h"

namespace hone {

Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, dependencies.store->FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunClaim> claim, dependencies.store->Claim(info.id));
  Sitting sitting(dependencies, info);
  HONE_RETURN_IF_ERROR(sitting.Load());
  HONE_RETURN_IF_ERROR(sitting.Run());
  return sitting.view();
}

}  // namespace hone
