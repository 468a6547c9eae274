// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines Loss, what training minimizes, and says which losses are for which targets of a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// What training minimizes. kAuto becomes the graph's own: kCrossEntropy for classes, kBinaryCrossEntropy for several
// labels a node (with logits, the mean over the known labels), kSquared for values. kAbsolute is the mean absolute
// error, and kHuber Huber's loss with delta 1; both are for values.
enum class Loss : uint8_t { kAuto, kCrossEntropy, kBinaryCrossEntropy, kSquared, kAbsolute, kHuber };
std::string_view LossName(Loss loss);           // "auto", "cross-entropy", "bce", "mse", "l1", "huber"
Result<Loss> ParseLoss(std::string_view name);  // kInvalidArgument lists the known names, by targets

// Returns the losses for this kind of targets; kAuto becomes the first.
std::span<const Loss> LossesFor(TargetKind kind);
// Returns the kind of targets that a loss is for; nothing for kAuto.
std::optional<TargetKind> TargetsOfLoss(Loss loss);

}  // namespace hone::gnn
