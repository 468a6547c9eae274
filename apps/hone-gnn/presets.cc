// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the settings of SALIENT's experiments (Kaler et al. 2022): the breakdown of an epoch on one GPU, for arxiv and
// products, and the training runs of papers100M.
#include "hone-gnn/presets.h"

#include <algorithm>
#include <array>

namespace hone::gnn {
namespace {

struct Preset {
  const char* name;
  const char* model;
  int64_t hidden;
  const char* fanout;
  int64_t batch;
  double learning_rate;
  int epochs;
  bool plateau;  // true: the learning rate is multiplied by 0.8 after 125 steps without a lower loss
};

constexpr std::array<Preset, 6> kPresets = {{
    {"salient-sage-arxiv", "sage", 256, "15,10,5", 1024, 0.003, 5, false},
    {"salient-sage-products", "sage", 256, "15,10,5", 1024, 0.003, 5, false},
    {"salient-sage-papers100M", "sage", 256, "15,10,5", 1024, 0.01, 25, true},
    {"salient-gat-papers100M", "gat", 256, "15,10,5", 1024, 0.01, 25, true},
    {"salient-gin-papers100M", "gin", 256, "20,20,20", 512, 0.01, 25, true},
    {"salient-sage-ri-papers100M", "sage-ri", 1024, "12,12,12", 1024, 0.002, 25, true},
}};

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

void ApplyPreset(TrainFlags& flags) {
  const auto found =
      std::find_if(kPresets.begin(), kPresets.end(), [&](const Preset& preset) { return flags.preset == preset.name; });
  if (found == kPresets.end()) return;
  const auto option_was_given = [&](const char* option) {
    const CLI::Option* const named = flags.command->get_option_no_throw(option);
    return named != nullptr && named->count() > 0;
  };
  const auto set_unless_given = [&](const char* option, auto& target, const auto& value) {
    if (!option_was_given(option)) target = value;
  };
  TrainOptions& train = flags.train;
  // A model file gives all options of the model, so the preset sets only those of training.
  const bool own = flags.model.options.kind.ends_with(".toml");
  set_unless_given("--model", flags.model.options.kind, found->model);
  if (!own) set_unless_given("--hidden", flags.model.options.hidden, found->hidden);
  if (flags.model.layers == 0) set_unless_given("--fanout", flags.fanout, found->fanout);
  set_unless_given("--batch", train.batch, found->batch);
  set_unless_given("--lr", train.learning_rate, found->learning_rate);
  set_unless_given("--epochs", train.epochs, found->epochs);
  set_unless_given("--eval-batch", train.eval_batch, int64_t{512});
  set_unless_given("--plateau", train.plateau, found->plateau);
  set_unless_given("--plateau-factor", train.plateau_factor, 0.8);
  set_unless_given("--plateau-patience", train.plateau_patience, 125);
}

}  // namespace hone::gnn
