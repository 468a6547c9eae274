// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/kept_memory.h"

#include <algorithm>
#include <utility>

#include "hone/base/status.h"

namespace hone {

size_t KeptMemory::MostTotal() const { return std::max({kLeastTotal, peak_, earlier_peak_}); }

void KeptMemory::NoteUse(size_t bytes) {
  if (++requests_ % kRequestsRemembered == 0) {
    earlier_peak_ = peak_;
    peak_ = 0;
    for (auto& [size, times] : asked_) times /= 2;
    std::erase_if(asked_, [](const auto& entry) { return entry.second == 0; });
  }
  ++asked_[bytes];
  peak_ = std::max(peak_, used_bytes_);
}

std::optional<KeptMemory::Block> KeptMemory::Take(size_t least, size_t most) {
  const auto fit = kept_by_size_.lower_bound(least);
  if (fit == kept_by_size_.end() || fit->first > most) return std::nullopt;
  const auto [bytes, address] = *fit;
  kept_by_size_.erase(fit);
  const auto found = kept_.find(address);
  Known block = found->second;
  kept_.erase(found);
  kept_bytes_ -= bytes;
  used_bytes_ += bytes;
  NoteUse(bytes);
  block.last = requests_;
  in_use_.emplace(address, block);
  return Block{address, bytes};
}

std::vector<uint64_t> KeptMemory::MakeRoom(size_t bytes) {
  // A block that raises the total to a new peak is made all the same; then nothing is kept beside what is in use.
  return Shrink(std::max(MostTotal(), used_bytes_ + bytes), most_kept_, bytes);
}

void KeptMemory::NoteAllocation(uint64_t address, size_t bytes) {
  used_bytes_ += bytes;
  NoteUse(bytes);
  in_use_.emplace(address, Known{.bytes = bytes, .last = requests_});
}

std::vector<uint64_t> KeptMemory::Keep(uint64_t address) {
  const auto found = in_use_.find(address);
  HONE_CHECK(found != in_use_.end(), "a block that is not in use");
  Known block = found->second;
  in_use_.erase(found);
  block.last = requests_;
  used_bytes_ -= block.bytes;
  kept_bytes_ += block.bytes;
  kept_by_size_.emplace(block.bytes, address);
  kept_.emplace(address, block);
  return Shrink(MostTotal(), most_kept_, 0);
}

std::vector<uint64_t> KeptMemory::ForgetKept() { return Shrink(0, 0, 0); }

std::vector<uint64_t> KeptMemory::Shrink(size_t most_total_bytes, size_t most_kept_bytes, size_t extra_bytes) {
  std::vector<uint64_t> freed;
  while (!kept_.empty() &&
         (kept_bytes_ > most_kept_bytes || used_bytes_ + kept_bytes_ + extra_bytes > most_total_bytes)) {
    const auto worth = [this](const Known& known) {
      const auto requests = asked_.find(known.bytes);
      return std::pair<uint64_t, uint64_t>(requests == asked_.end() ? 0 : requests->second, known.last);
    };
    const auto worst = std::min_element(kept_.begin(), kept_.end(),
                                        [&](const auto& a, const auto& b) { return worth(a.second) < worth(b.second); });
    const auto [address, known] = *worst;
    const auto [begin, end] = kept_by_size_.equal_range(known.bytes);
    kept_by_size_.erase(std::find_if(begin, end, [address = address](const auto& entry) { return entry.second == address; }));
    kept_bytes_ -= known.bytes;
    kept_.erase(worst);
    freed.push_back(address);
  }
  return freed;
}

}  // namespace hone
