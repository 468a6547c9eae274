// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/graph/convert/id_range.h"

#include <memory>
#include <vector>

namespace hone::gnn {

Result<IdRange> RangeOfIds(const EdgeSource& edges) {
  constexpr size_t kEdgesPerRead = 64 * 1024;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<EdgeReader> reader, edges.Open());
  std::vector<int64_t> sources(kEdgesPerRead), destinations(kEdgesPerRead);
  IdRange range;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const size_t count, reader->Next(sources, destinations));
    if (count == 0) return range;
    for (size_t i = 0; i < count; ++i) range.Add(sources[i], destinations[i]);
  }
}

}  // namespace hone::gnn
