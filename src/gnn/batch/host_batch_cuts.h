// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of the parts of SALIENT's scheme (Kaler et al. 2022) are left out when the host's cores make a GPU's batches,
// to measure what each is worth. No bit of a result depends on them.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone::gnn {

struct HostBatchCuts {
  bool sampler = false;  // the plain sampler instead of the fast one
  // Workers only sample. The thread that trains slices each batch's rows when it takes it, on all cores, into pageable
  // memory, from where it is sent.
  bool batches = false;
  bool overlap = false;      // a batch is sent once the one before it was trained on, and training waits for it
  std::string Text() const;  // "sampler,batches"; empty: nothing is left out
};

// Reads such a list. kInvalidArgument names a word that is none of the three.
Result<HostBatchCuts> ParseHostBatchCuts(std::string_view text);

}  // namespace hone::gnn
