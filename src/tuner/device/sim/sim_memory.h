// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Manages the simulated GPU's global memory on the session's side: arenas in anonymous files, so that a child process
// can map single blocks of them at the same addresses.
//
// Every block starts on its own 64 KiB granule (sim_layout.h) with guard bytes before and after. Each arena has its
// part of the unwritten map. A block that only sampled launches use (BlockRequest::sampled) and that is larger than
// kTileBytes consists of pieces of one tile of memory: it has no guard zones, and its bytes always count as defined.
// Every such block has a tile of its own, so that writes to one tensor never appear in another. A key selects the part
// of the tile that a piece shows (tile_pieces.h), so that no distance is known at which contents repeat; until a key is
// set, the tile repeats.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"
#include "tuner/device/arena_layout.h"
#include "tuner/device/device_session.h"
#include "tuner/device/sim/tile_pieces.h"

namespace hone::sim {

// A range of whole pages to map; if `piece` is not 0, as pieces of this many bytes (tile_pieces.h).
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
    uint64_t map_begin = 0, map_end = 0;  // addresses of its granules
    int64_t file_offset = 0;  // offset of map_begin in the memory file; for a tiled block, of its tile in the tile file
    bool tiled = false;
    uint64_t pieces_key = 0;  // for a tiled block: selects the part of its tile that each piece shows
    char* tile = nullptr;     // for a tiled block: the tile itself, kTileBytes plus one piece that repeats its start
    bool sparse = false;   // for blocks that launches of samples write: unwritten parts use no memory, and a bit of the
                           // map means "written"
    bool drawn = false;    // for a sparse block: it holds the contents of an in-place tensor, which may be read
    bool sampled = false;  // only sampled launches use it: its contents must be reproducible
  };

  // Makes an arena. kDevice when there is no memory left, in the words of a GPU's driver.
  static Result<std::unique_ptr<SimArena>> Make(const std::vector<BlockRequest>& requests, uint64_t gap_key);
  ~SimArena() override;

  uint64_t address(size_t block) const override { return blocks_.at(block).begin; }
  size_t blocks() const override { return blocks_.size(); }
  const Block& block(size_t i) const { return blocks_[i]; }
  uint64_t id() const { return id_; }  // unique among the arenas of a process
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + bytes_; }
  int64_t resident_bytes() const { return resident_bytes_; }  // upper bound on the memory that it can use
  const Block* Find(uint64_t address) const;

  std::optional<std::string> CheckGaps();

  // Resets a sparse block to unwritten zero bytes.
  Status Forget(const Block& block);
  // Marks a sparse block as unwritten, and leaves its contents to be overwritten.
  Status ForgetWrites(const Block& block);
  // Maps a tiled block as pieces of its tile selected by `key`, and fills the repeated end of the tile.
  Status CopyPieceToTiles(const Block& block, uint64_t key);
  // Fills all of a tiled block.
  void FillTile(const Block& block, uint8_t value);
  // Records whether a sparse block holds drawn contents; call this after they have been written there.
  void SetDrawn(const Block& block, bool drawn);
  // Returns the ranges of bytes within [address, address + bytes) of one block that have been written since they were
  // marked unwritten, ascending.
  std::vector<std::pair<uint64_t, uint64_t>> WrittenStretches(uint64_t address, int64_t bytes) const;

  // Returns a key for the next fill: different each time, and in each run.
  uint64_t NextFillKey();

  // Returns the mappings that a child needs for `block`: its memory and its part of the unwritten map.
  std::vector<Mapping> MappingsOf(const Block& block) const;

  // Marks [address, address + bytes), inside one block, as (un)defined.
  void MarkUnwritten(uint64_t address, int64_t bytes, bool unwritten);

 private:
  SimArena() = default;

  uint64_t id_ = 0;
  uint64_t begin_ = 0, bytes_ = 0;
  UniqueFd memory_, unwritten_, tiles_;
  std::vector<Block> blocks_;
  ArenaLayout gaps_;  // only `gaps` is used; offsets in bytes from begin_
  uint64_t gap_key_ = 0;
  uint64_t fill_secret_ = 0;  // independent of an evaluation's seed, which must not reveal the contents of undefined
                              // memory
  uint64_t fills_ = 0;
  int64_t resident_bytes_ = 0;
};

}  // namespace hone::sim
