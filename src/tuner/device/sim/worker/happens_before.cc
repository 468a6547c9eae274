// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the layers of knowledge of HappensBefore. Ordinary accesses use none of this code.
#include "tuner/device/sim/worker/happens_before.h"

namespace hone::sim {

HappensBefore::HappensBefore() {
  for (auto& warp : warps_) warp = std::make_unique<Warp>();
  rows_.resize(kMaxBlockThreads);
  fence_.resize(kMaxBlockThreads);
  proxy_own_.resize(kMaxBlockThreads);
  proxy_base_.resize(kMaxBlockThreads);
}

void HappensBefore::BeginBlock(int threads) {
  threads_ = threads;
  Tick();
  block_begin_ = base_ = now_;
  any_row_ = false;
  if (!published_.empty()) published_.clear();
  if (!seen_.empty()) seen_.clear();
  std::fill(fence_.begin(), fence_.begin() + threads, 0);
  std::fill(proxy_own_.begin(), proxy_own_.begin() + threads, 0);
  std::fill(proxy_base_.begin(), proxy_base_.begin() + threads, 0);
}

void HappensBefore::BlockBarrier() {
  Tick();
  base_ = now_;
}

// Returns what `thread` knows of the others' progress, emptied at its first use in a block.
HappensBefore::Row& HappensBefore::RowOf(int thread) {
  auto& row = rows_[static_cast<size_t>(thread)];
  if (!row) row = std::make_unique<Row>();
  if (row->block != block_begin_) {
    row->block = block_begin_;
    row->known.assign(static_cast<size_t>(threads_), 0);
  }
  any_row_ = true;
  return *row;
}

void HappensBefore::JoinInto(Row& row, const Vector& knowledge) {
  for (size_t i = 0; i < knowledge.size(); ++i) row.known[i] = std::max(row.known[i], knowledge[i]);
}

// Returns everything that `thread` knows of others, with its own accesses up to `own`.
HappensBefore::Vector HappensBefore::KnowledgeOf(int thread, Stamp own) {
  Vector knowledge(static_cast<size_t>(threads_), base_);
  const Row* row = rows_[static_cast<size_t>(thread)].get();
  if (row != nullptr && row->block == block_begin_) {
    for (size_t i = 0; i < knowledge.size(); ++i) knowledge[i] = std::max(knowledge[i], row->known[i]);
  }
  const Warp& warp = *warps_[static_cast<size_t>(thread >> 5)];
  const int first = thread & ~31;
  for (int lane = 0; lane < kWarpSize && first + lane < threads_; ++lane) {
    Stamp& k = knowledge[static_cast<size_t>(first + lane)];
    k = std::max({k, warp.all, warp.lanes[static_cast<size_t>(thread & 31)][static_cast<size_t>(lane)]});
  }
  knowledge[static_cast<size_t>(thread)] = std::max(knowledge[static_cast<size_t>(thread)], own);
  return knowledge;
}

void HappensBefore::WarpBarrier(int warp_index, uint32_t lanes, uint32_t living) {
  Tick();
  Warp& warp = *warps_[static_cast<size_t>(warp_index)];
  const int first = warp_index * kWarpSize;
  if ((lanes & living) == living) {
    warp.all = now_;
  } else {
    std::array<Stamp, kWarpSize> joined{};
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      if (!(lanes >> lane & 1)) continue;
      for (size_t other = 0; other < kWarpSize; ++other) {
        joined[other] = std::max(joined[other], warp.lanes[lane][other]);
      }
    }
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      if (lanes >> lane & 1) joined[lane] = now_;
    }
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      if (lanes >> lane & 1) warp.lanes[lane] = joined;
    }
  }
  if (!any_row_) return;
  // One lane may know of other warps (named barriers, acquired flags); after the meeting all lanes do.
  Vector joined;
  for (int lane = 0; lane < kWarpSize && first + lane < threads_; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    const Row* row = rows_[static_cast<size_t>(first + lane)].get();
    if (row == nullptr || row->block != block_begin_) continue;
    if (joined.empty()) joined.assign(static_cast<size_t>(threads_), 0);
    for (size_t i = 0; i < joined.size(); ++i) joined[i] = std::max(joined[i], row->known[i]);
  }
  if (joined.empty()) return;
  for (int lane = 0; lane < kWarpSize && first + lane < threads_; ++lane) {
    if (lanes >> lane & 1) JoinInto(RowOf(first + lane), joined);
  }
}

void HappensBefore::PartialBarrier(const std::vector<int>& threads) {
  Vector joined(static_cast<size_t>(threads_), 0);
  for (const int t : threads) {
    const Vector knowledge = KnowledgeOf(t, now_);
    for (size_t i = 0; i < joined.size(); ++i) joined[i] = std::max(joined[i], knowledge[i]);
  }
  Tick();
  for (const int t : threads) joined[static_cast<size_t>(t)] = now_;
  for (const int t : threads) JoinInto(RowOf(t), joined);
}

void HappensBefore::Fence(int self) {
  Tick();
  fence_[static_cast<size_t>(self)] = now_;
  const auto observed = seen_.find(self);
  if (observed != seen_.end()) {
    JoinInto(RowOf(self), observed->second);
    seen_.erase(observed);
  }
}

void HappensBefore::ProxyFence(int self) {
  proxy_own_[static_cast<size_t>(self)] = now_;
  proxy_base_[static_cast<size_t>(self)] = base_;
  if (!exhausted()) Tick();  // else a write after the fence passes for one before it until stamps begin anew
}

void HappensBefore::AtomicAccess(int self, uint64_t address, bool reads, bool writes, bool acquire, bool release) {
  const Stamp fenced = fence_[static_cast<size_t>(self)];
  if (reads) {
    const auto found = published_.find(address);
    if (found != published_.end()) {
      if (acquire) {
        JoinInto(RowOf(self), found->second);
      } else {
        Vector& observed = seen_[self];
        if (observed.empty()) observed.assign(static_cast<size_t>(threads_), 0);
        for (size_t i = 0; i < observed.size(); ++i) observed[i] = std::max(observed[i], found->second[i]);
      }
    }
  }
  if (writes && (release || fenced != 0)) {
    Stamp own = fenced;
    if (release) {
      Tick();
      own = now_;
    }
    const Vector knowledge = KnowledgeOf(self, own);
    if (published_.size() >= kMaxPublished && published_.count(address) == 0) {
      // There are too many flags to track: everything up to here counts as ordered, which can only hide a race.
      published_.clear();
      seen_.clear();
      BlockBarrier();
      return;
    }
    Vector& published = published_[address];
    // A read-modify-write passes on what earlier writers released to this address; so, leniently, does a plain atomic
    // write: a missed race is better than a false one.
    if (published.empty()) published.assign(static_cast<size_t>(threads_), 0);
    for (size_t i = 0; i < published.size(); ++i) published[i] = std::max(published[i], knowledge[i]);
  }
}

void HappensBefore::Restart() {
  // Cells are reset to stamp kRestartStamp: written in this block, and ordered before everything to come.
  block_begin_ = kRestartStamp;
  now_ = base_ = kRestartStamp + 1;
  for (auto& warp : warps_) *warp = Warp();
  for (auto& row : rows_) row.reset();
  std::fill(fence_.begin(), fence_.end(), 0);
  std::fill(proxy_own_.begin(), proxy_own_.end(), kRestartStamp);
  std::fill(proxy_base_.begin(), proxy_base_.end(), 0);
  published_.clear();
  seen_.clear();
  any_row_ = false;
}

}  // namespace hone::sim
