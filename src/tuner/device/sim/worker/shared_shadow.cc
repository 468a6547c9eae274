// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the rarely used part of SharedShadow.
#include "tuner/device/sim/worker/shared_shadow.h"

namespace hone::sim {

void SharedShadow::Restart() {
  // Every cell becomes "written long ago, in order". Split words become whole again: their parts are now equal.
  for (Cell& cell : words_) cell = {HappensBefore::kRestartStamp << 12, 0, 0, 0, 0};
  for (Cell& cell : split_) cell = {HappensBefore::kRestartStamp << 12, 0, 0, 0, 0};
}

}  // namespace hone::sim
