// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/run_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hone {
namespace {

// Calls `visit` with the name of each field and the field, for reading and for writing.
template <typename Options, typename Visitor>
void VisitFields(Options& o, Visitor&& visit) {
  visit("strategy", o.strategy);
  visit("model", o.model);
  visit("target", o.target);
  visit("device", o.device);
  visit("seed", o.seed);
  visit("max_attempts", o.max_attempts);
  visit("max_seconds", o.max_seconds);
  visit("max_tokens", o.max_tokens);
  visit("max_cost_usd", o.max_cost_usd);
  visit("keep_above", o.keep_above);
  visit("floor_fraction", o.floor_fraction);
  visit("max_sweep_points", o.max_sweep_points);
  visit("correctness_trials", o.correctness_trials);
  visit("request_limit_seconds", o.request_limit_seconds);
  visit("request_max_tokens", o.request_max_tokens);
  visit("temperature", o.temperature);
  visit("parallel", o.parallel);
  visit("rounds", o.rounds);
  visit("blind_start", o.blind_start);
  visit("calls", o.calls);
  visit("profile", o.profile);
  visit("sweep_seed", o.sweep_seed);
  visit("libraries", o.libraries);
  visit("settings", o.settings);
}

}  // namespace

nlohmann::json RunOptionsToJson(const RunOptions& options) {
  nlohmann::json json = nlohmann::json::object();
  VisitFields(options, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

Result<RunOptions> RunOptionsFromJson(const nlohmann::json& json) {
  RunOptions options;
  // Runs whose log lacks these options profiled nothing and did not sweep the seed first.
  options.profile = false;
  options.sweep_seed = false;
  if (!json.is_object()) return Status::Internal("a run's options are not a JSON object");
  std::string fault;
  VisitFields(options, [&](const char* name, auto& value) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    try {
      found->get_to(value);
    } catch (const nlohmann::json::exception& error) {
      fault = fmt::format("a run's option '{}' cannot be read: {}", name, error.what());
    }
  });
  if (!fault.empty()) return Status::Internal(fault);
  return options;
}

}  // namespace hone
