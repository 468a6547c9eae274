// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads requests, replies and costs from a run's events, and adds the costs up by role.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_store.h"
#include "tuner/report/charts.h"

namespace hone {

// A request and its reply. The texts are in the store.
struct Exchange {
  int64_t number = 0, node = -1, attempts = 1;  // attempts: how often the request was sent
  std::string role, provider, model;
  double temperature = 0;
  std::vector<StoredMessage> messages;  // hashes of their texts
  SourceHash reply;  // empty: no reply came
  std::string finish, error;  // why the reply's text ended; why there is no reply
  int64_t input_tokens = 0, output_tokens = 0;
  bool estimated = false;  // the numbers of tokens are estimates
  double cost_usd = 0, seconds = 0;
  bool cost_known = true;
  std::vector<std::string> notes;  // failed attempts before the reply came
};

// Returns the exchanges in the order of their first request.
std::vector<Exchange> ReadExchanges(const std::vector<Event>& events);
// Returns one share per role, the most expensive first (by tokens if nothing has a cost).
std::vector<CostShare> SharesByRole(const std::vector<Exchange>& exchanges);

}  // namespace hone
