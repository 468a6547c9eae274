// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/batch/host_batch_cuts.h"

#include <fmt/format.h>

namespace hone::gnn {

std::string HostBatchCuts::Text() const {
  std::string text;
  for (const auto& [cut, word] :
       {std::pair(sampler, "sampler"), std::pair(batches, "batches"), std::pair(overlap, "overlap")}) {
    if (!cut) continue;
    if (!text.empty()) text += ',';
    text += word;
  }
  return text;
}

Result<HostBatchCuts> ParseHostBatchCuts(std::string_view text) {
  HostBatchCuts cuts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (word == "sampler") {
      cuts.sampler = true;
    } else if (word == "batches") {
      cuts.batches = true;
    } else if (word == "overlap") {
      cuts.overlap = true;
    } else {
      return Status::InvalidArgument(
          fmt::format("--pipeline-without has '{}': use sampler, batches and overlap, with commas between them", word));
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return cuts;
}

}  // namespace hone::gnn
