// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements hone/gnn/loss.h.
#include "hone/gnn/loss.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/alternatives.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {

std::string_view LossName(Loss loss) {
  switch (loss) {
    case Loss::kAuto:
      return "auto";
    case Loss::kCrossEntropy:
      return "cross-entropy";
    case Loss::kBinaryCrossEntropy:
      return "bce";
    case Loss::kSquared:
      return "mse";
    case Loss::kAbsolute:
      return "l1";
    case Loss::kHuber:
      return "huber";
  }
  return "";
}

std::span<const Loss> LossesFor(TargetKind kind) {
  static constexpr Loss kOfClasses[] = {Loss::kCrossEntropy}, kOfLabels[] = {Loss::kBinaryCrossEntropy},
                        kOfValues[] = {Loss::kSquared, Loss::kAbsolute, Loss::kHuber};
  switch (kind) {
    case TargetKind::kClasses:
      return kOfClasses;
    case TargetKind::kMultiLabel:
      return kOfLabels;
    case TargetKind::kValues:
      return kOfValues;
  }
  return {};
}

std::optional<TargetKind> TargetsOfLoss(Loss loss) {
  for (const TargetKind kind : kTargetKinds) {
    const std::span<const Loss> losses = LossesFor(kind);
    if (std::find(losses.begin(), losses.end(), loss) != losses.end()) return kind;
  }
  return std::nullopt;
}

Result<Loss> ParseLoss(std::string_view name) {
  if (name == LossName(Loss::kAuto)) return Loss::kAuto;
  std::string loss_names;
  for (const TargetKind kind : kTargetKinds) {
    for (const Loss loss : LossesFor(kind)) {
      if (name == LossName(loss)) return loss;
    }
    loss_names += fmt::format("; for {}: {}", TargetsInWords(kind), Alternatives(LossesFor(kind), LossName));
  }
  return Status::InvalidArgument(fmt::format("the loss is '{}'; use auto{}", name, loss_names));
}

}  // namespace hone::gnn
