// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who was asked, what it cost: requests and replies of a run by role, out of its events.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_store.h"
#include "tuner/report/charts.h"

namespace hone {

// A request with its answer. The texts lie in the store.
struct Exchange {
  int64_t number = 0, node = -1, attempts = 1;
  std::string role, provider, model;
  double temperature = 0;
  std::vector<StoredMessage> messages;
  SourceHash reply;  // empty: none came
  std::string finish, error;
  int64_t input_tokens = 0, output_tokens = 0;
  bool estimated = false;
  double cost_usd = 0, seconds = 0;
  bool cost_known = true;
  std::vector<std::string> notes;  // what went wrong before the answer came
};

// In the order in which they were first asked.
std::vector<Exchange> ReadExchanges(const std::vector<Event>& events);
// One share a role, the dearest first (by tokens where nothing costs anything).
std::vector<CostShare> SharesByRole(const std::vector<Exchange>& exchanges);

}  // namespace hone
