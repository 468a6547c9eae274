// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// --preset NAME: the settings of published experiments, by one option.
#pragma once

#include <string>
#include <vector>

#include "hone-gnn/train_flags.h"

namespace hone::gnn {

// Returns the values that --preset may have.
std::vector<std::string> PresetNames();
// Sets the options that the preset `flags.preset` decides, except those that the command line gave. An empty name
// changes nothing.
void ApplyPreset(TrainFlags& flags);

}  // namespace hone::gnn
