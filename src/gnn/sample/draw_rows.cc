// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/sample/draw_rows.h"

#include <bit>
#include <cstddef>

namespace hone::gnn {
namespace {

// A set of up to 1024 words that is never cleared: an entry is valid if its tag is that of the current row.
class RowSet {
 public:
  void Begin(int expected) {
    shift_ = 32 - std::bit_width(static_cast<unsigned>(expected) * 2 - 1);
    if (++tag_ == 0) {  // the tag has wrapped around: entries of 2^32 rows ago would look valid
      for (uint64_t& entry : entries_) entry = 0;
      tag_ = 1;
    }
  }
  // Returns false if the value was present.
  bool Add(uint32_t value) {
    const uint64_t tagged_value = static_cast<uint64_t>(tag_) << 32 | value;
    const uint32_t mask = (1u << (32 - shift_)) - 1;
    for (uint32_t at = value * 0x9E3779B1u >> shift_;; at = (at + 1) & mask) {
      if (entries_[at] == tagged_value) return false;
      if (entries_[at] >> 32 != tag_) {
        entries_[at] = tagged_value;
        return true;
      }
    }
  }

 private:
  uint64_t entries_[2048] = {};
  uint32_t tag_ = 0;
  int shift_ = 0;
};

constexpr int kLanes = 8;

void DrawRows(const DrawKey& key, const uint32_t* nodes, const uint32_t* degrees, int fanout, uint32_t* slots) {
  for (int lane = 0; lane < kLanes; ++lane) {
    PhiloxWords random_words{};
    for (int slot = 0; slot < fanout; ++slot) {
      if (slot % 4 == 0) random_words = DrawBlock(key, nodes[lane], static_cast<uint32_t>(slot / 4), 0);
      const uint32_t n = degrees[lane] - static_cast<uint32_t>(fanout - slot) + 1;
      slots[slot * kLanes + lane] =
          BoundedDraw(key, nodes[lane], static_cast<uint32_t>(slot), random_words[static_cast<size_t>(slot % 4)], n);
    }
    ResolveFloyd(degrees[lane], fanout, slots + lane, kLanes);
  }
}

}  // namespace

void ResolveFloyd(uint32_t degree, int fanout, uint32_t* draws, int stride) {
  const auto at = [draws, stride](int slot) -> uint32_t& { return draws[static_cast<ptrdiff_t>(slot) * stride]; };
  if (fanout <= kFloydCompareAll) {
    for (int slot = 1; slot < fanout; ++slot) {
      bool is_drawn = false;
      for (int before = 0; before < slot; ++before) is_drawn |= at(before) == at(slot);
      if (is_drawn) at(slot) = degree - static_cast<uint32_t>(fanout - slot);
    }
    return;
  }
  thread_local RowSet drawn_values;
  drawn_values.Begin(fanout);
  for (int slot = 0; slot < fanout; ++slot) {
    if (drawn_values.Add(at(slot))) continue;
    at(slot) = degree - static_cast<uint32_t>(fanout - slot);
    drawn_values.Add(at(slot));  // larger than every earlier one
  }
}

RowDrawer DrawRowsScalar() { return {&DrawRows, kLanes}; }

}  // namespace hone::gnn
