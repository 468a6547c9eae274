// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/evaluation/finding_text.h"

#include <fmt/format.h>

#include "tuner/core/plan/dims_text.h"

namespace hone {

std::string FindingShapes(const Finding& finding) {
  if (finding.dims.empty()) return "";
  const int64_t others = finding.shapes - 1;
  return fmt::format(" (at the {} shape {}{})", finding.timed ? "timed" : "check", DimsText(finding.dims),
                     others > 1    ? fmt::format(", and at {} others", others)
                     : others == 1 ? ", and at 1 other"
                                   : "");
}

bool IsAdvice(std::string_view kind) { return kind == "uncoalesced" || kind == "bank_conflict"; }

}  // namespace hone
