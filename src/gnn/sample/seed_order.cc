// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/sample/index_permutation.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

int64_t PermutedIndex(uint64_t seed, uint32_t epoch, int64_t count, int64_t i) {
  HONE_CHECK(0 <= i && i < count, "a position outside the permutation");
  return IndexPermutation(seed, epoch, count)(i);
}

}  // namespace hone::gnn
