// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulated GPU's global memory, on the session's side: arenas in anonymous files, so that a child process can be
// given single blocks of them, at the same addresses.
//
// Every block starts on its own 64 KiB granule (sim_layout.h) with guard bytes before and after. Beside each arena lies
// its part of the unwritten map. A block that only sampled launches touch (BlockRequest::sampled) and that is larger
// than kTileBytes is made of pieces of one tile of memory: it has no guard zones, and its bytes always count as
// defined. Every such block has a tile of its own, so that what a kernel writes to one tensor never turns up in another
// one. Which part of the tile a piece shows is drawn by a key (tile_pieces.h), so that no distance is known at which
// contents repeat; until a key is given, the tile repeats.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.h"
#include "hone/base/status.h"
#include "tuner/device/arena_layout.h"
#include "tuner/device/device_session.h"
#include "tuner/device/sim/tile_pieces.h"

namespace hone::sim {

// A stretch of whole pages to map, of `piece` bytes after the other where that is not 0 (tile_pieces.h).
struct Mapping {
  int fd = -1;
  uint64_t address = 0;
  int64_t bytes = 0;
  int64_t offset = 0;
  int64_t piece = 0;
  uint64_t pieces_key = 0;
  uint64_t arena = 0;  // SimArena::id
  bool writable = true;
};

class SimArena : public Arena {
 public:
  struct Block {
    uint64_t begin = 0, end = 0;          // addresses of the block itself
    uint64_t map_begin = 0, map_end = 0;  // of its granules
    int64_t file_offset = 0;  // of map_begin in the memory file; of a tiled block, of its tile in the tile file
    bool tiled = false;
    uint64_t pieces_key = 0;  // of a tiled block: which part of its tile each piece shows
    char* tile = nullptr;  // of a tiled block: the tile itself, kTileBytes and one piece more, which repeats its begin
    bool sparse = false;   // launches write it and only samples run: no memory where nothing was written, and the bits
                           // beside it say "written"
    bool drawn = false;    // of a sparse block: it holds the contents of an in-place tensor, which may be read
    bool sampled = false;  // only sampled launches run here: nothing in it may be chance
  };

  // kDevice when there is no memory left, in the words a GPU's driver would use.
  static Result<std::unique_ptr<SimArena>> Make(const std::vector<BlockRequest>& requests, uint64_t gap_key);
  ~SimArena() override;

  uint64_t address(size_t block) const override { return blocks_.at(block).begin; }
  size_t blocks() const override { return blocks_.size(); }
  const Block& block(size_t i) const { return blocks_[i]; }
  uint64_t id() const { return id_; }  // no two arenas of a process share one
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + bytes_; }
  int64_t resident_bytes() const { return resident_bytes_; }  // memory that it can come to use
  const Block* Find(uint64_t address) const;

  std::optional<std::string> CheckGaps();

  // Makes a sparse block zero bytes again that nobody has written.
  Status Forget(const Block& block);
  // Makes a sparse block one that nobody has written, and leaves its contents to be overwritten.
  Status ForgetWrites(const Block& block);
  // Shows what stands in a tiled block's tile by the pieces of `key`, and completes the tile by what repeats.
  Status Spread(const Block& block, uint64_t key);
  // Fills all of a tiled block.
  void FillTile(const Block& block, uint8_t value);
  // After the contents of a sparse block have been put there.
  void SetDrawn(const Block& block, bool drawn);
  // Stretches of bytes within [address, address + bytes) of one block that have been written since they counted as
  // unwritten, ascending.
  std::vector<std::pair<uint64_t, uint64_t>> WrittenStretches(uint64_t address, int64_t bytes) const;

  // A key for what is filled next: another one each time, and another one each run.
  uint64_t NextFillKey();

  // What a child needs to see block `i`: its memory and its part of the unwritten map.
  std::vector<Mapping> MappingsOf(const Block& block) const;

  // Marks [address, address + bytes), inside one block, as (un)defined.
  void MarkUnwritten(uint64_t address, int64_t bytes, bool unwritten);

 private:
  SimArena() = default;

  uint64_t id_ = 0;
  uint64_t begin_ = 0, bytes_ = 0;
  UniqueFd memory_, unwritten_, tiles_;
  std::vector<Block> blocks_;
  ArenaLayout gaps_;  // only gaps is used; offsets from begin_
  uint64_t gap_key_ = 0;
  uint64_t fill_secret_ = 0;  // no seed of an evaluation tells what undefined memory holds
  uint64_t fills_ = 0;
  int64_t resident_bytes_ = 0;
};

}  // namespace hone::sim
