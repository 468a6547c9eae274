// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists parts of SALIENT's scheme (Kaler et al. 2022) that can be left out when the host's cores make a GPU's batches,
// to measure what each part is worth. Leaving parts out changes no bit of a result.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone::gnn {

// The parts to leave out; true: the part is left out.
struct HostBatchCuts {
  bool sampler = false;  // the fast sampler, which the plain one replaces
  // Whole batches per worker. Workers then only sample. The training thread slices a batch's rows when it takes the
  // batch, on all cores, into pageable memory, and sends the rows from there.
  bool batches = false;
  // Overlapped sending. Without it, a batch is sent only after training on the one before, and training waits for it.
  bool overlap = false;
  std::string Text() const;  // "sampler,batches"; empty: nothing is left out
};

// Reads a list such as "sampler,batches". kInvalidArgument names a word that is none of the three.
Result<HostBatchCuts> ParseHostBatchCuts(std::string_view text);

}  // namespace hone::gnn
