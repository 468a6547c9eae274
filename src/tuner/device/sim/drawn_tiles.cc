// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/drawn_tiles.h"

#include <algorithm>
#include <cstring>

#include "tuner/device/host_tensor_ops.h"

namespace hone::sim {

DrawnContents::DrawnContents(const DrawRequest& request)
    : dtype(request.view.dtype),
      elements(request.view.elements),
      row_elements(request.view.shape.empty() ? 1 : request.view.shape.back()),
      index_bound(request.index_bound),
      distribution(request.values.distribution),
      index_order(request.values.index_order),
      special(request.values.special),
      low(request.values.low),
      high(request.values.high),
      scale(request.values.scale),
      offset(request.values.offset),
      vary(request.values.vary),
      padding(request.values.padding),
      crowded_row(request.values.crowded_row),
      crowded_elements(request.values.crowded_elements),
      key(request.key),
      pattern_key(request.pattern_key) {
  HONE_CHECK(request.view.slice_axis < 0 && request.permutation_key == 0 && request.redraw_key == 0,
             "contents that depend on slices");
}

Status DrawnTiles::Draw(const DrawRequest& tile) {
  char* const memory = reinterpret_cast<char*>(static_cast<uintptr_t>(tile.view.address));  // NOLINT: a pointer here
  const DrawnContents contents(tile);
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.contents == contents; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    std::memcpy(memory, known->bytes.data(), known->bytes.size());
    return Status::Ok();
  }
  HONE_RETURN_IF_ERROR(host::Draw(tile));
  if (kept_.size() >= kMostKept) kept_.pop_back();
  kept_.push_front({contents, std::vector<char>(memory, memory + tile.view.span_bytes)});
  return Status::Ok();
}

}  // namespace hone::sim
