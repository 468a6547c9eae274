// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// --preset NAME: the settings of published experiments, by one option.
#pragma once

#include <string>
#include <vector>

#include "hone-gnn/train_flags.h"

namespace hone::gnn {

std::vector<std::string> PresetNames();
// Puts a preset's settings where the command line gave none. `flags.preset` is one of the names, or empty: then nothing
// changes.
void ApplyPreset(TrainFlags& flags);

}  // namespace hone::gnn
