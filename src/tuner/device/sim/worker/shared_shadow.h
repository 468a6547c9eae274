// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tracks every byte of a block's shared memory: the last thread that wrote it, later readers, and whether it has been
// written at all. Finds races and reads of undefined values.
//
// One 16-byte cell describes a 4-byte word. A word that is accessed in smaller parts is split into four byte cells
// until it is next written whole, so that neighbours in a half2 do not look like a race. A cell remembers one writer
// and two readers (the second from another warp than the first): every report is then true, while a race whose only
// evidence was overwritten is missed.
//
// Nothing is cleared between blocks: stamps only grow (happens_before.h), and one from an earlier block means
// "not written in this block". Not thread-safe; one per OS thread.
#pragma once

#include <cstdint>

#include "tuner/device/sim/worker/happens_before.h"
#include "tuner/device/sim/worker/zeroed_array.h"

namespace hone::sim {

// Role of an access in a race. Atomics do not race with each other. Volatile accesses do not race with atomics, nor
// with each other across warps, where they act as flags; within a warp they are former warp-synchronous code, which is
// a race on today's GPUs.
enum class Ordering : uint32_t { kPlain = 0, kAtomic = 1, kVolatile = 2 };

// The conflict found by the present access.
struct SharedConflict {
  bool unwritten = false;      // it read unwritten bytes
  bool race = false;
  bool other_wrote = false;    // the other access was a write
  int other_thread = 0;
  uint16_t other_site = 0;     // site of the other access
  uint32_t word = 0;           // byte offset of the word
};

class SharedShadow {
 public:
  explicit SharedShadow(uint32_t bytes) : words_((size_t{bytes} + 3) / 4), split_(words_.size() * 4) {}

  uint32_t bytes() const { return static_cast<uint32_t>(words_.size() * 4); }

  // Records an access; `offset` + `size` must lie inside. `site` numbers the instruction. Returns whether the access
  // conflicts with an earlier one or reads unwritten bytes; conflict() then says how.
  template <bool kWrites, bool kReads>
  [[gnu::always_inline]] inline bool RecordAccess(uint32_t offset, uint32_t size, int self, Ordering ordering,
                                                  uint16_t site, const HappensBefore& hb) {
    const uint32_t tag = hb.now() << 12 | static_cast<uint32_t>(ordering) << 10 | static_cast<uint32_t>(self);
    bool conflicts = false;
    if (((offset | size) & 3) == 0) [[likely]] {
      Cell* cell = &words_[offset >> 2];
      for (Cell* const end = cell + (size >> 2); cell != end; ++cell) {
        if (IsSplit(*cell, hb)) [[unlikely]] {
          conflicts |= RecordInBytes<kWrites, kReads>(cell, 0, 4, tag, site, hb);
        } else if (RecordInCell<kWrites, kReads>(*cell, tag, site, hb)) [[unlikely]] {
          conflict_.word = static_cast<uint32_t>(cell - words_.data()) * 4;
          conflicts = true;
        }
      }
      return conflicts;
    }
    return RecordParts<kWrites, kReads>(offset, size, tag, site, hb);
  }

  const SharedConflict& conflict() const { return conflict_; }

  // Returns the thread whose last write of the 16 bytes at `offset`, a multiple of 16, the async proxy need not see when
  // it reads on behalf of `reader`; -1 if there is none.
  int UnseenByAsyncProxy(uint32_t offset, int reader, const HappensBefore& hb) const {
    for (uint32_t word = offset / 4; word < offset / 4 + 4; ++word) {
      const bool split = IsSplit(words_[word], hb);
      for (uint32_t i = 0; i < (split ? 4u : 1u); ++i) {
        const uint32_t write = split ? split_[word * 4 + i].write : words_[word].write;
        const int writer = static_cast<int>(write & 1023);
        if (!hb.SeenByAsyncProxy(writer, write >> 12, reader)) return writer;
      }
    }
    return -1;
  }

  // Call after HappensBefore::exhausted: all recorded accesses become written and ordered.
  void Restart();

 private:
  // Describes a word or a byte by its last write and two readers, each as stamp << 12 | ordering << 10 | thread.
  struct Cell {
    uint32_t write, read_a, read_b;
    uint16_t write_site, read_site;
  };
  static constexpr uint16_t kSplit = 0xffff;  // write_site of a split word, valid for the block of its stamp

  static bool IsSplit(const Cell& cell, const HappensBefore& hb) {
    return cell.write_site == kSplit && cell.write >> 12 >= hb.block_begin();
  }

  static bool Races(uint32_t before, uint32_t tag, const HappensBefore& hb) {
    if (before >> 12 < hb.base()) return false;
    if (((before ^ tag) & 1023) == 0) return false;
    const uint32_t kind = before >> 10 & 3, own = tag >> 10 & 3;
    if (kind != 0 && own != 0) {
      const bool both_volatile = kind == 2 && own == 2;
      if (!both_volatile || ((before ^ tag) & 1023) >= kWarpSize) return false;
    }
    return !hb.OrderedSlow(static_cast<int>(before & 1023), before >> 12, static_cast<int>(tag & 1023));
  }

  // Records an access that covers words only in part, byte by byte.
  template <bool kWrites, bool kReads>
  [[gnu::noinline]] bool RecordParts(uint32_t offset, uint32_t size, uint32_t tag, uint16_t site,
                                     const HappensBefore& hb) {
    bool conflicts = false;
    while (size > 0) {
      const uint32_t first = offset & 3, count = size < 4 - first ? size : 4 - first;
      conflicts |= RecordInBytes<kWrites, kReads>(&words_[offset >> 2], first, count, tag, site, hb);
      offset += count;
      size -= count;
    }
    return conflicts;
  }

  [[gnu::noinline]] bool Report(uint32_t before, bool other_wrote, uint16_t site) {
    conflict_ = {};
    conflict_.race = true;
    conflict_.other_wrote = other_wrote;
    conflict_.other_thread = static_cast<int>(before & 1023);
    conflict_.other_site = site;
    return true;
  }

  // Notes an access to one cell, and returns whether it races with an earlier one or reads what was not written.
  // conflict_ then says with which.
  template <bool kWrites, bool kReads>
  bool RecordInCell(Cell& cell, uint32_t tag, uint16_t site, const HappensBefore& hb) {
    bool conflicts = false;
    if (Races(cell.write, tag, hb)) [[unlikely]] {
      conflicts = Report(cell.write, true, cell.write_site);
    } else if (kReads && cell.write >> 12 < hb.block_begin()) [[unlikely]] {
      conflict_ = {};
      conflict_.unwritten = true;
      conflicts = true;
    }
    if (kWrites) {
      if (!conflicts && Races(cell.read_a, tag, hb)) [[unlikely]]
        conflicts = Report(cell.read_a, false, cell.read_site);
      if (!conflicts && Races(cell.read_b, tag, hb)) [[unlikely]]
        conflicts = Report(cell.read_b, false, cell.read_site);
      // The thread's own plain write, after which no other thread is ordered yet, is the better evidence against
      // atomics.
      const bool atomic_after_own_plain = (tag >> 10 & 3) != 0 && (cell.write >> 10 & 3) == 0 &&
                                          ((cell.write ^ tag) & 1023) == 0 && cell.write >> 12 >= hb.base();
      if (!atomic_after_own_plain) {
        cell.write = tag;
        cell.write_site = site;
      }
      cell.read_a = cell.read_b = 0;
    } else {
      if (cell.read_a >> 12 < hb.base() || ((cell.read_a ^ tag) & 1023) < kWarpSize) {
        cell.read_a = tag;
      } else {
        cell.read_b = tag;
      }
      cell.read_site = site;
    }
    return conflicts;
  }

  // Records an access to `count` bytes of a word, from byte `first` on, in the word's four byte cells.
  template <bool kWrites, bool kReads>
  [[gnu::noinline]] bool RecordInBytes(Cell* word, uint32_t first, uint32_t count, uint32_t tag, uint16_t site,
                                       const HappensBefore& hb) {
    const size_t index = static_cast<size_t>(word - words_.data());
    Cell* parts = &split_[index * 4];
    if (!IsSplit(*word, hb)) {
      for (int i = 0; i < 4; ++i) parts[i] = *word;
      word->write = hb.now() << 12;
      word->write_site = kSplit;
    }
    bool conflicts = false;
    for (uint32_t i = first; i < first + count; ++i) {
      if (RecordInCell<kWrites, kReads>(parts[i], tag, site, hb)) [[unlikely]] {
        conflict_.word = static_cast<uint32_t>(index * 4);
        conflicts = true;
      }
    }
    // A whole word written without a race makes the parts equal again.
    if (kWrites && count == 4 && !conflicts) *word = parts[0];
    return conflicts;
  }

  ZeroedArray<Cell> words_;
  ZeroedArray<Cell> split_;
  SharedConflict conflict_;
};

}  // namespace hone::sim
