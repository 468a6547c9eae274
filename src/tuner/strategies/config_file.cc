// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/config_file.h"

#include <fmt/format.h>

#include <set>

#include "base/text/toml_document.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

// Reads the settings in a strategy's table. `prefix`: "tree."
void ReadSettings(const TomlNode& table, const std::string& prefix, RunOptions& options, TomlErrors& errors) {
  for (const auto& [key, node] : table.entries) {
    const std::string name = prefix + "." + key;
    if (node.kind == TomlNode::Kind::kTable) {
      ReadSettings(node, name, options, errors);
      continue;
    }
    double value = node.number;
    if (node.kind == TomlNode::Kind::kBoolean) {
      value = node.boolean ? 1 : 0;
    } else if (node.kind != TomlNode::Kind::kInteger && node.kind != TomlNode::Kind::kFloat) {
      errors.Add(node.line, "[" + prefix + "]", key, fmt::format("is {}; write a number", TomlKindName(node.kind)));
      continue;
    }
    if (Status status = PutSetting(options, name, value); !status.ok()) {
      errors.Add(node.line, "[" + prefix + "]", key, status.message());
    }
  }
}

}  // namespace

Result<RunConfig> ParseRunConfig(std::string_view toml, std::string_view file) {
  HONE_ASSIGN_OR_RETURN(TomlNode root, ParseToml(toml, file));
  TomlErrors errors(file);
  TableReader reader(root, "", errors);
  RunConfig config;
  RunOptions& o = config.options;
  if (const auto strategy = reader.Word("strategy", StrategyNames())) o.strategy = *strategy;
  if (const auto target = reader.Word("target", {"any", "cuda", "cute"})) o.target = *target;
  if (reader.Has("model")) {
    if (const auto models = reader.Strings("model")) config.models = *models;
  }
  if (const auto text = reader.String("prompts")) config.prompts = *text;
  // Read an integer, or a number, of at least `low` into `target`, if the file has the key.
  const auto read_integer = [&](const char* key, int64_t low, auto& target) {
    const std::optional<int64_t> value = reader.Integer(key);
    if (!value) return;
    if (*value < low) {
      reader.Error(key, fmt::format("is {}; at least {} is needed", *value, low));
    } else {
      target = static_cast<std::decay_t<decltype(target)>>(*value);
    }
  };
  const auto number = [&](const char* key, double low, double& target) {
    const std::optional<double> value = reader.Number(key);
    if (!value) return;
    if (!(*value >= low)) {  // also for NaN
      reader.Error(key, fmt::format("is {:g}; at least {:g} is needed", *value, low));
    } else {
      target = *value;
    }
  };
  double minutes = o.max_seconds / 60;
  read_integer("attempts", 1, o.max_attempts);
  number("minutes", 0, minutes);
  o.max_seconds = 60 * minutes;
  read_integer("max_tokens", 0, o.max_tokens);
  number("max_cost", 0, o.max_cost_usd);
  read_integer("parallel", 1, o.parallel);
  read_integer("run_seed", 0, o.seed);
  number("keep_above", 0, o.keep_above);
  number("floor_fraction", 0, o.floor_fraction);
  read_integer("sweep_points", 0, o.max_sweep_points);
  read_integer("trials", 1, o.correctness_trials);
  number("request_limit", 0, o.request_limit_seconds);
  read_integer("request_tokens", 1, o.request_max_tokens);
  number("temperature", 0, o.temperature);
  if (const auto value = reader.Boolean("rounds")) o.rounds = *value;
  if (const auto value = reader.Boolean("blind_start")) o.blind_start = *value;
  if (const auto value = reader.Boolean("profile")) o.profile = *value;
  if (const auto value = reader.Boolean("seed_sweep")) o.sweep_seed = *value;
  if (const auto value = reader.Boolean("libraries")) o.libraries = *value;
  if (const auto value = reader.Boolean("calls")) o.calls = *value;
  if (const auto value = reader.Boolean("suspend")) config.suspend = *value;
  std::set<std::string> tables;
  for (const Setting& setting : AllSettings()) tables.emplace(setting.name.substr(0, setting.name.find('.')));
  for (const std::string& table : tables) {
    if (const TomlNode* node = reader.Table(table)) ReadSettings(*node, table, o, errors);
  }
  reader.Finish();
  if (!errors.ok()) return errors.status();
  return config;
}

}  // namespace hone
