// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says of a command with several runs which of them wait, for what, and how to go on.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/model_options.h"
#include "tuner/run/run_loop.h"

namespace hone {

struct WaitingRun {
  std::string run;
  RunWaits waits;
};

// Returns one line for each mailbox that gets questions, with "hone: " at its head and a newline at its end.
std::string WhereQuestionsLie(const ModelFlags& models);

// Returns kPending with a message that names every waiting run with what it waits for, and then what to do: where
// questions lie, which command judges, and that the same command goes on. Ok if no run waits. `runs`: how many runs the
// command has.
Status WaitingStatus(const std::vector<WaitingRun>& waiting, size_t runs, const ModelFlags& models);

}  // namespace hone
