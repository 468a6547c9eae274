// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds a large tensor, which only sampled launches read, from one small tile.
//
// Filling gigabytes of which a few megabytes are read would cost more than everything else, so the same memory is used
// repeatedly. If it simply repeated, a kernel could read only the first megabytes and be right. Therefore the tensor is
// cut into pieces, and each piece shows the tile from another page on, drawn by a key that the kernel cannot know: two
// elements are the same with the chance of one in a thousand, whatever their distance. A page of the tile comes after
// another one in most pieces, as in the tile itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tuner/values/draw.h"

namespace hone::sim {

inline constexpr int64_t kTileBytes = int64_t{4} << 20;  // a large input repeats parts of one tile of this size
inline constexpr int64_t kTilePage = 4096;  // pieces begin at multiples of this in the tile

// Returns the number of parts of a tile that hold one kind of special values each: 16, fewer where rows are long, so that
// a row seldom lies across two of them. A piece is no smaller than a part of 256 KiB.
inline int64_t SpecialParts(int64_t row_bytes) {
  int64_t parts = 16;
  while (parts > 1 && kTileBytes / parts < 4 * row_bytes) parts /= 2;
  return parts;
}

// Returns the size of one piece of a tensor of `bytes`: whole granules of 64 KiB, few enough that mapping them is
// cheap.
inline int64_t PieceBytes(int64_t bytes) {
  constexpr int64_t kGranule = 64 * 1024, kMostPieces = 512;
  const int64_t wanted_bytes = (bytes / kMostPieces + kGranule - 1) / kGranule * kGranule;
  return std::clamp<int64_t>(wanted_bytes, 4 * kGranule, kTileBytes);
}

// Returns the offset in its tile of piece `number`: a multiple of a page below kTileBytes. Key 0: pieces of kTileBytes
// that repeat.
inline int64_t PieceOffset(uint64_t key, uint64_t number, int64_t piece) {
  if (key == 0) return static_cast<int64_t>(number) * piece % kTileBytes;
  return static_cast<int64_t>(draw::Hash(key, 0x7069656365, number) % static_cast<uint64_t>(kTileBytes / kTilePage)) *
         kTilePage;
}

// Calls use(distance from the start, bytes, offset in the tile) for each piece of `bytes` bytes. Stops when it returns
// false.
template <typename Use>
bool ForEachPiece(int64_t bytes, int64_t piece, uint64_t key, Use&& use) {
  uint64_t number = 0;
  for (int64_t done = 0; done < bytes; done += piece, ++number) {
    if (!use(done, std::min(piece, bytes - done), PieceOffset(key, number, piece))) return false;
  }
  return true;
}

}  // namespace hone::sim
