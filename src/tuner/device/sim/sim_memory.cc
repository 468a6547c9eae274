// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Manages addresses, files and mappings of arenas.
#include "tuner/device/sim/sim_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/numbers/random.h"
#include "base/numbers/rounding.h"
#include "tuner/device/sim/sim_layout.h"
#include "tuner/values/keyed_hash.h"

namespace hone::sim {

namespace {

constexpr uint64_t kGuardBytes = 256;  // least distance between two blocks

// Allocates addresses of the simulated global memory. All sessions of a process share it.
class AddressBook {
 public:
  // Takes the first free range of addresses that is long enough; nullopt: there is none.
  std::optional<uint64_t> Take(uint64_t bytes) {
    std::lock_guard lock(mutex_);
    uint64_t at = kGlobalBase + kBlockGranule;  // the very first granule stays free: no memory precedes it
    for (const auto& [begin, size] : taken_) {
      if (begin - at >= bytes) break;
      at = begin + size;
    }
    if (at + bytes > kGlobalBase + kImageOffset) return std::nullopt;
    taken_[at] = bytes;
    return at;
  }
  void Release(uint64_t begin) {
    std::lock_guard lock(mutex_);
    taken_.erase(begin);
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> taken_;  // sizes of the address ranges in use, keyed by their beginning
};

AddressBook& TheAddressBook() {
  static AddressBook book;
  return book;
}

Status OutOfMemory(int64_t bytes) {
  return Status::Device(fmt::format("out of memory on the simulated GPU: {} bytes ({})", bytes, std::strerror(errno)));
}

Result<UniqueFd> MakeFile(const char* name, int64_t bytes) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid() || ftruncate(fd.get(), bytes) != 0) return OutOfMemory(bytes);
  return fd;
}

bool MapAt(uint64_t address, int64_t bytes, int fd, int64_t offset, int flags) {
  void* const wanted = reinterpret_cast<void*>(address);
  return mmap(wanted, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, offset) == wanted;
}

bool MapPieces(const Mapping& m, int flags) {
  if (m.piece == 0) return MapAt(m.address, m.bytes, m.fd, m.offset, flags);
  return ForEachPiece(m.bytes, m.piece, m.pieces_key, [&](int64_t at, int64_t bytes, int64_t in_tile) {
    return MapAt(m.address + static_cast<uint64_t>(at), bytes, m.fd, m.offset + in_tile, flags);
  });
}

int64_t PieceOf(const SimArena::Block& block) { return PieceBytes(static_cast<int64_t>(block.end - block.begin)); }

}  // namespace

Result<std::unique_ptr<SimArena>> SimArena::Make(const std::vector<BlockRequest>& requests, uint64_t gap_key) {
  auto arena = std::unique_ptr<SimArena>(new SimArena());
  static std::atomic<uint64_t> ids{0};
  arena->id_ = ++ids;
  arena->gap_key_ = gap_key;
  arena->fill_secret_ = SystemSeed();
  // Offsets are computed first, then addresses.
  uint64_t at = 0;
  int64_t file_bytes = 0, tile_bytes = 0;
  for (const BlockRequest& request : requests) {
    if (request.bytes < 0 || static_cast<uint64_t>(request.bytes) > kGlobalSpan / 4) return OutOfMemory(request.bytes);
    const uint64_t align = static_cast<uint64_t>(std::max<int64_t>(1, request.align));
    Block block;
    block.tiled = request.sampled && !request.written && request.bytes > kTileBytes;
    block.sparse = request.sampled && request.written;
    block.sampled = request.sampled;
    block.map_begin = at;
    // The block starts at least the guard bytes into its granule, aligned as requested.
    uint64_t start = RoundUp(at + kGuardBytes, request.exact_align ? 2 * align : align);
    if (request.exact_align) start = start - align >= at + kGuardBytes ? start - align : start + align;
    block.begin = start;
    block.end = start + static_cast<uint64_t>(request.bytes);
    block.map_end = RoundUp(block.end + kGuardBytes, kBlockGranule);
    if (block.tiled) {
      block.file_offset = tile_bytes;
      tile_bytes += kTileBytes + PieceOf(block);
    } else {
      block.file_offset = file_bytes;
      file_bytes += static_cast<int64_t>(block.map_end - block.map_begin);
      arena->gaps_.gaps.push_back({static_cast<int64_t>(block.map_begin), static_cast<int64_t>(block.begin)});
      arena->gaps_.gaps.push_back({static_cast<int64_t>(block.end), static_cast<int64_t>(block.map_end)});
    }
    arena->gaps_.blocks.push_back({static_cast<int64_t>(block.begin), static_cast<int64_t>(block.end)});
    at = block.map_end;
    arena->blocks_.push_back(block);
  }
  arena->bytes_ = std::max<uint64_t>(at, kBlockGranule);
  arena->gaps_.bytes = static_cast<int64_t>(arena->bytes_);
  const std::optional<uint64_t> base = TheAddressBook().Take(arena->bytes_);
  if (!base) return OutOfMemory(static_cast<int64_t>(arena->bytes_));
  arena->begin_ = *base;
  HONE_ASSIGN_OR_RETURN(arena->memory_, MakeFile("hone-sim-memory", std::max<int64_t>(file_bytes, 4096)));
  HONE_ASSIGN_OR_RETURN(arena->unwritten_, MakeFile("hone-sim-unwritten", static_cast<int64_t>(arena->bytes_ / 8)));
  if (tile_bytes > 0) {
    HONE_ASSIGN_OR_RETURN(arena->tiles_, MakeFile("hone-sim-tiles", tile_bytes));
  }
  if (!MapAt(UnwrittenByte(arena->begin_), static_cast<int64_t>(arena->bytes_ / 8), arena->unwritten_.get(), 0,
             MAP_FIXED_NOREPLACE)) {
    return OutOfMemory(static_cast<int64_t>(arena->bytes_ / 8));
  }
  for (Block& block : arena->blocks_) {
    for (uint64_t* address : {&block.begin, &block.end, &block.map_begin, &block.map_end}) *address += arena->begin_;
    for (const Mapping& m : arena->MappingsOf(block)) {
      if (m.fd == arena->unwritten_.get()) continue;
      if (!MapPieces(m, MAP_FIXED_NOREPLACE)) return OutOfMemory(m.bytes);
    }
    if (block.tiled) {
      const int64_t bytes = kTileBytes + PieceOf(block);
      void* const tile = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                              arena->tiles_.get(), block.file_offset);
      if (tile == MAP_FAILED) return OutOfMemory(bytes);
      block.tile = static_cast<char*>(tile);
    }
    if (block.sparse) {
      arena->resident_bytes_ += std::min<int64_t>(kTileBytes, static_cast<int64_t>(block.map_end - block.map_begin));
    } else if (!block.tiled) {
      arena->resident_bytes_ += static_cast<int64_t>(block.map_end - block.map_begin);
      arena->MarkUnwritten(block.begin, static_cast<int64_t>(block.end - block.begin), /*unwritten=*/true);
    }
  }
  arena->resident_bytes_ += tile_bytes;
  FillGaps(reinterpret_cast<void*>(arena->begin_), arena->gaps_, gap_key);
  return arena;
}

SimArena::~SimArena() {
  if (begin_ == 0) return;
  for (const Block& block : blocks_) {
    if (block.tile != nullptr) munmap(block.tile, static_cast<size_t>(kTileBytes + PieceOf(block)));
  }
  munmap(reinterpret_cast<void*>(UnwrittenByte(begin_)), bytes_ / 8);
  munmap(reinterpret_cast<void*>(begin_), bytes_);
  TheAddressBook().Release(begin_);
}

const SimArena::Block* SimArena::Find(uint64_t address) const {
  for (const Block& block : blocks_) {
    if (address >= block.map_begin && address < block.map_end) return &block;
  }
  return nullptr;
}

std::optional<std::string> SimArena::CheckGaps() {
  return CheckAndRepairGaps(reinterpret_cast<void*>(begin_), gaps_, gap_key_);
}

Status SimArena::CopyPieceToTiles(const Block& block, uint64_t key) {
  std::memcpy(block.tile + kTileBytes, block.tile, static_cast<size_t>(PieceOf(block)));
  if (block.pieces_key == key) return Status::Ok();
  blocks_[static_cast<size_t>(&block - blocks_.data())].pieces_key = key;
  const Mapping pieces = MappingsOf(block)[0];
  return MapPieces(pieces, MAP_FIXED) ? Status::Ok() : OutOfMemory(pieces.bytes);
}

void SimArena::FillTile(const Block& block, uint8_t value) {
  std::memset(block.tile, value, static_cast<size_t>(kTileBytes + PieceOf(block)));
}

void SimArena::SetDrawn(const Block& block, bool drawn) {
  blocks_[static_cast<size_t>(&block - blocks_.data())].drawn = drawn;
}

namespace {

Status PunchHole(int fd, uint64_t begin, uint64_t bytes) {
  if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), static_cast<off_t>(bytes)) ==
      0) {
    return Status::Ok();
  }
  return Status::Device(fmt::format("cannot clear memory of the simulated GPU: {}", std::strerror(errno)));
}

}  // namespace

Status SimArena::ForgetWrites(const Block& block) {
  SetDrawn(block, /*drawn=*/false);
  return PunchHole(unwritten_.get(), (block.begin - begin_) / 8, (block.end - block.begin + 7) / 8);
}

Status SimArena::Forget(const Block& block) {
  HONE_RETURN_IF_ERROR(ForgetWrites(block));
  return PunchHole(memory_.get(), static_cast<uint64_t>(block.file_offset) + (block.begin - block.map_begin),
               block.end - block.begin);
}

std::vector<std::pair<uint64_t, uint64_t>> SimArena::WrittenStretches(uint64_t address, int64_t bytes) const {
  std::vector<std::pair<uint64_t, uint64_t>> stretches;
  const Block* const block = Find(address);
  if (block == nullptr || block->tiled || bytes <= 0) return stretches;
  const uint64_t end = address + static_cast<uint64_t>(bytes);
  const uint64_t flip = block->sparse ? 0 : ~uint64_t{0};  // the map has a bit for written or for unwritten bytes
  uint64_t open = 0;  // start of the present range; 0: none
  const auto close = [&](uint64_t at) {
    if (open != 0) stretches.emplace_back(open, at);
    open = 0;
  };
  // Goes on over `count` bytes from `at` on, up to 64, of which the low bits of `written_bits` say which were written.
  const auto follow = [&](uint64_t at, uint64_t written_bits, int count) {
    for (int i = 0; i < count;) {
      const uint64_t bits_onwards = written_bits >> i;
      i += std::min(count - i, open == 0 ? std::countr_zero(bits_onwards) : std::countr_one(bits_onwards));
      if (i == count) break;
      if (open == 0) {
        open = at + static_cast<uint64_t>(i);
      } else {
        close(at + static_cast<uint64_t>(i));
      }
    }
  };
  for (uint64_t at = address & ~uint64_t{7}; at < end;) {
    // The bits of unwritten parts of a sparse block use no memory, and are not read.
    uint64_t until = end;
    if (block->sparse) {
      const off_t from = static_cast<off_t>((at - begin_) / 8);
      const off_t data = lseek(unwritten_.get(), from, SEEK_DATA);
      if (data > from || data < 0) {
        close(at);
        if (data < 0) break;
        at = begin_ + static_cast<uint64_t>(data) * 8;
        continue;
      }
      until = std::min(end, begin_ + static_cast<uint64_t>(lseek(unwritten_.get(), from, SEEK_HOLE)) * 8);
    }
    while (at < until) {
      if (at >= address && at + 64 <= until) {
        uint64_t bits;
        std::memcpy(&bits, reinterpret_cast<const void*>(UnwrittenByte(at)), sizeof(bits));
        follow(at, bits ^ flip, 64);
        at += 64;
        continue;
      }
      const uint8_t written = static_cast<uint8_t>(*reinterpret_cast<const uint8_t*>(UnwrittenByte(at)) ^ flip);
      const uint64_t from = std::max(at, address);
      follow(from, uint64_t{written} >> (from - at), static_cast<int>(std::min(at + 8, end) - from));
      at += 8;
    }
  }
  close(end);
  return stretches;
}

uint64_t SimArena::NextFillKey() { return Keyed(fill_secret_, ++fills_) | 1; }

std::vector<Mapping> SimArena::MappingsOf(const Block& block) const {
  const int64_t bytes = static_cast<int64_t>(block.map_end - block.map_begin);
  Mapping memory{memory_.get(), block.map_begin, bytes, block.file_offset, 0, 0, id_, true};
  if (block.tiled)
    memory = {tiles_.get(), block.map_begin, bytes, block.file_offset, PieceOf(block), block.pieces_key, id_, true};
  return {memory,
          {unwritten_.get(), UnwrittenByte(block.map_begin), bytes / 8,
           static_cast<int64_t>((block.map_begin - begin_) / 8), 0, 0, id_, true}};
}

void SimArena::MarkUnwritten(uint64_t address, int64_t bytes, bool unwritten) {
  if (bytes <= 0) return;
  const Block* block = Find(address);
  if (block == nullptr || block->tiled) return;
  if (block->sparse) {
    if (unwritten) {
      (void)Forget(*block);
      return;
    }
    unwritten = true;  // its bits have the opposite meaning
  }
  uint64_t end = address + static_cast<uint64_t>(bytes);
  const auto set_bits = [unwritten](uint64_t byte_address, uint8_t mask) {
    uint8_t& bits = *reinterpret_cast<uint8_t*>(UnwrittenByte(byte_address));
    bits = static_cast<uint8_t>(unwritten ? bits | mask : bits & ~mask);
  };
  for (; address < end && (address & 7) != 0; ++address) set_bits(address, static_cast<uint8_t>(1u << (address & 7)));
  for (; end > address && (end & 7) != 0; --end) set_bits(end - 1, static_cast<uint8_t>(1u << ((end - 1) & 7)));
  if (address < end) {
    std::memset(reinterpret_cast<void*>(UnwrittenByte(address)), unwritten ? 0xff : 0, (end - address) / 8);
  }
}

}  // namespace hone::sim
