// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles a Worker's unusual accesses: looks up the tensor, or reports the error and its position.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tuner/device/sim/worker/worker.h"
#include "tuner/device/sim/worker/worker_access.h"

namespace hone::sim {

namespace {

constexpr size_t kMaxFindings = 32;  // of one launch

std::string CountText(uint64_t n, const char* unit) { return fmt::format("{} {}{}", n, unit, n == 1 ? "" : "s"); }

}  // namespace

std::string Worker::ThreadText(int thread) const {
  const auto& b = launch->spec->block;
  const uint32_t t = static_cast<uint32_t>(thread);
  return fmt::format("thread ({}, {}, {})", t % b[0], t / b[0] % b[1], t / b[0] / b[1]);
}

std::string Worker::WhereText() const {
  const uint32_t* i = fiber->index;
  return fmt::format("block ({}, {}, {}) {}", i[HONE_SIM_BLOCK_X], i[HONE_SIM_BLOCK_Y], i[HONE_SIM_BLOCK_Z],
                     ThreadText(self));
}

std::string Worker::AddressText(uint64_t address, uint64_t bytes) const {
  constexpr uint64_t kNear = 64 * 1024 * 1024;  // bytes; a tensor further away than this is not named
  if (address - shared_begin < shared_bytes || shared_begin - address < 4096) {
    if (dynamic_end > dynamic_begin && address >= shared_begin + dynamic_end) {
      return fmt::format("{} past the end of shared memory ({} static, {} dynamic)",
                         CountText(address - shared_begin - dynamic_end, "byte"), CountText(static_shared, "byte"),
                         CountText(dynamic_end - dynamic_begin, "byte"));
    }
    if (address >= shared_begin + static_shared) {
      return fmt::format("{} past the end of the {} of static shared memory{}",
                         CountText(address - shared_begin - static_shared, "byte"), CountText(static_shared, "byte"),
                         launch->image->has_dynamic ? " (the plan gives no dynamic shared memory)" : "");
    }
    return fmt::format("shared memory + {}", CountText(address - shared_begin, "byte"));
  }
  if (address < 4096) return fmt::format("the null pointer + {}", CountText(address, "byte"));
  const BoundRange* before = nullptr;
  const BoundRange* after = nullptr;
  for (const BoundRange& range : launch->spec->ranges) {
    if (address >= range.begin && address < range.end) {
      return address + bytes <= range.end
                 ? fmt::format("'{}' + {}", range.name, CountText(address - range.begin, "byte"))
                 : fmt::format("'{}' + {}, of which {} lie past its end", range.name,
                               CountText(address - range.begin, "byte"),
                               CountText(address + bytes - range.end, "byte"));
    }
    if (range.end <= address) before = &range;
    if (range.begin > address && after == nullptr) after = &range;
  }
  const uint64_t past = before != nullptr ? address - before->end : ~uint64_t{0};
  const uint64_t ahead = after != nullptr ? after->begin - address : ~uint64_t{0};
  if (past <= ahead && past < kNear) {
    return fmt::format("{} past the end of '{}' ({})", CountText(past, "byte"), before->name,
                       CountText(before->end - before->begin, "byte"));
  }
  if (ahead < kNear) return fmt::format("{} before the start of '{}'", CountText(ahead, "byte"), after->name);
  return fmt::format("address {:#x}, which belongs to no tensor of this launch", address);
}

void Worker::Note(std::string kind, std::string message, std::vector<uint64_t> pcs, bool only_if_lines_differ) {
  std::lock_guard lock(launch->mutex);
  if (launch->findings.size() >= kMaxFindings) return;
  if (!launch->reported.emplace(kind, pcs.empty() ? 0 : pcs[0]).second) return;
  for (uint64_t& pc : pcs) pc -= launch->image->image_begin;
  launch->findings.push_back({std::move(kind), std::move(message), std::move(pcs), only_if_lines_differ});
}

void Worker::End(LaunchEnd end, std::string kind, std::string message, std::vector<uint64_t> pcs) {
  if (!repeated_writes.empty()) CheckRepeatedWrites();
  {
    std::lock_guard lock(launch->mutex);
    if (launch->end == LaunchEnd::kOk) {
      for (uint64_t& pc : pcs) pc -= launch->image->image_begin;
      launch->end = end;
      launch->detail = message;
      if (!kind.empty()) launch->findings.push_back({std::move(kind), std::move(message), std::move(pcs), false});
    }
  }
  launch->stop = true;
  aborting_ = true;
  SwitchOut();
  __builtin_unreachable();
}

bool Worker::IsGuard(uint32_t shared_offset) const {
  return std::any_of(launch->image->guards.begin(), launch->image->guards.end(),
                     [&](const auto& guard) { return shared_offset >= guard.first && shared_offset < guard.second; });
}

// Notes in `site` the bound range that contains the access. Returns false if none contains it whole.
bool Worker::SetRange(Site& site, uint64_t address, uint64_t bytes) {
  const std::vector<BoundRange>& ranges = launch->spec->ranges;
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uint64_t a, const BoundRange& range) { return a < range.begin; });
  if (after == ranges.begin()) return false;
  const BoundRange& range = *--after;
  if (address + bytes > range.end) return false;
  site.low = range.begin;
  site.high = range.end;
  site.writable = range.writable;
  site.may_be_unwritten = range.writable && !range.sparse;
  site.sparse = range.writable && range.sparse;
  site.drawn = range.drawn;
  site.counted = range.output && !range.drawn;
  site.owned = range.writable && launch->owners != nullptr;
  site.range = static_cast<int16_t>(after - ranges.begin());
  return true;
}

void Worker::OutOfBounds(uint64_t pc, uint64_t address, uint64_t bytes, bool writes) {
  End(LaunchEnd::kCrashed, "out_of_bounds",
      fmt::format("{} {} a {}-byte value at {}, at {{0}}", WhereText(), writes ? "writes" : "reads", bytes,
                  AddressText(address, bytes)),
      {pc});
}

// Reports an access at an address that is no multiple of its size.
void Worker::Misaligned(uint64_t pc, uint64_t address, uint64_t bytes, bool writes) {
  // If a launch's access is invalid, it is reported as out of bounds before anything else.
  const bool shared = address - shared_begin < shared_bytes;
  Site probe;
  if (!shared && !SetRange(probe, address, bytes)) OutOfBounds(pc, address, bytes, writes);
  End(LaunchEnd::kCrashed, "misaligned",
      fmt::format("{} {} a {}-byte value at {}, which is not a multiple of {}, at {{0}}", WhereText(),
                  writes ? "writes" : "reads", bytes, AddressText(address, bytes), bytes),
      {pc});
}

// Judges an access outside of the bound tensors: the image's own data, the thread's stack, or nothing that it may
// touch.
void Worker::OtherAddress(uint64_t address, uint64_t bytes, bool writes, bool atomic, uint64_t pc) {
  const ImageLayout& image = *launch->image;
  if (address >= image.data_begin && address + bytes <= image.data_end) {
    const bool constant = std::any_of(image.constants.begin(), image.constants.end(), [&](const auto& range) {
      return address < range.second && address + bytes > range.first;
    });
    if (constant && !writes) return;
    if (constant) {
      End(LaunchEnd::kForbidden, "constant_written",
          fmt::format("{} writes {} to a __constant__ variable, at {{0}}", WhereText(), CountText(bytes, "byte")),
          {pc});
    }
    if (writes) fiber->ran = true;
    if (writes && atomic) launch->incomplete = true;
    block->ordered = true;
    // A device global is ordinary memory, served by the second level.
    Site* const site = counters.Find(pc);
    if (site == nullptr) return;
    if (site->total++ == 0) {
      site->bytes = static_cast<uint8_t>(bytes);
      site->writes = writes;
      site->atomic = atomic;
    }
    if (log_cursor != log_limit) {
      *log_cursor++ = AccessLog::Entry(counters.Code(*site), kImageOffset + (address - image.data_begin) % kImageSpan);
    } else {
      LogFull(*site, kImageOffset + (address - image.data_begin) % kImageSpan);
    }
    return;
  }
  if (address - stack_begin < stack_bytes) {
    End(LaunchEnd::kCrashed, "out_of_bounds",
        fmt::format("{} {} {} past the end of its local memory, at {{0}}", WhereText(), writes ? "writes" : "reads",
                    CountText(bytes, "byte")), {pc});
  }
  if (address >= image.image_begin && address + bytes <= image.image_end) {
    if (!writes) return;
    End(LaunchEnd::kCrashed, "out_of_bounds",
        fmt::format("{} writes {} to constant memory, at {{0}}", WhereText(), CountText(bytes, "byte")), {pc});
  }
  // The thread's local arrays do not fit if less than 1 KiB of its stack is left here, or if the address lies below the
  // stack by no more than a function's frame may have. An address above `stack_begin` wraps to a huge difference.
  constexpr uint64_t kLeastLeft = 1024, kLargestFrame = uint64_t{1} << 30;
  const bool is_used_up = reinterpret_cast<uint64_t>(__builtin_frame_address(0)) < stack_begin + kLeastLeft;
  const bool is_below_stack = stack_begin - address < kLargestFrame;
  if (is_used_up || is_below_stack) {
    End(LaunchEnd::kUnsupported, "unsupported",
        fmt::format("a thread needs more than {} KiB of local memory, at {{0}}", launch->spec->stack_bytes / 1024), {pc});
  }
  OutOfBounds(pc, address, bytes, writes);
}

void Worker::InputWritten(Site& site, uint64_t address) {
  // The launch ends here: the memory is mapped read-only, and the store would fault.
  const BoundRange& range = launch->spec->ranges[static_cast<size_t>(site.range)];
  End(LaunchEnd::kForbidden, "input_written",
      fmt::format("{} writes to the input '{}' + {} at {{0}}; an input may not be written, not even with what it holds", WhereText(),
                  range.name, CountText(address - range.begin, "byte")),
      {site.pc});
}

void Worker::OwnedAccess(Site& site, uint64_t address, uint64_t bytes, bool reads, bool writes, Ordering ordering) {
  BlockOwners& owners = *launch->owners;
  // Blocks may order themselves by such accesses, so nothing is certain after the first of them.
  if (ordering != Ordering::kPlain) block->ordered = true;
  const auto own = static_cast<uint32_t>(block->number + 1);
  for (uint64_t i = 0; reads && !block->ordered && i < bytes; ++i) {
    const uint32_t other = owners.Owner(site.range, address + i);
    if (other == 0 || other == own) continue;
    const LaunchSpec& spec = *launch->spec;
    const uint64_t number = other - 1;
    Note("global_race",
         fmt::format("{} reads {}, which block ({}, {}, {}) writes in the same launch, and nothing orders the two, at {{0}}", WhereText(),
                     AddressText(address, bytes), number % spec.grid[0], number / spec.grid[0] % spec.grid[1],
                     number / spec.grid[0] / spec.grid[1]),
         {site.pc});
    break;
  }
  if (writes) owners.Own(site.range, address, bytes, block->number);
}

void Worker::LetOthersIn(uint64_t address) {
  if (launch->owners == nullptr || block->paused || fiber->volatile_read != address) return;
  block->paused = block->lets_others_in = true;
  let_others_in_ = true;
  Yield();
}

// Bits are set by atomic operations, since another block may own their neighbours.
void Worker::SparseAccess(Site& site, uint64_t address, uint64_t bytes, bool reads, bool writes) {
  uint32_t mask = UnwrittenMask(address, bytes), bits;
  uint8_t* at = reinterpret_cast<uint8_t*>(UnwrittenByte(address));
  std::memcpy(&bits, at, sizeof bits);
  // If only a sample of blocks runs, the values of the other blocks are unknown.
  if (reads && !site.drawn && (bits & mask) != mask) {
    if (launch->spec->in_order) {
      launch->incomplete = true;
    } else {
      UnwrittenGlobal(site, address, bytes);
    }
  }
  if (!writes) return;
  for (; mask != 0; mask >>= 8, ++at) {
    const uint8_t part = static_cast<uint8_t>(mask);
    if ((*at & part) == part) continue;
    const uint8_t before = std::atomic_ref<uint8_t>(*at).fetch_or(part, std::memory_order_relaxed);
    if (site.counted) block->first_writes += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(part & ~before)));
  }
}

void Worker::UnwrittenGlobal(Site& site, uint64_t address, uint64_t bytes) {
  if (launch->spec->secret || launch->met_in_part) {
    launch->incomplete = true;
    return;
  }
  Note("uninitialised_read",
       fmt::format("{} reads {} that {}, at {{0}}", WhereText(), AddressText(address, bytes),
                   launch->spec->before_wait ? fmt::format("the step before it writes, and {}", kReadBeforeWait) : "nobody has written"),
       {site.pc});
}

void Worker::SharedConflictFound(uint64_t pc, uint32_t offset, uint32_t bytes, bool writes) {
  const SharedConflict conflict = block->shadow.conflict();
  if (conflict.unwritten) {
    Note("uninitialised_read",
         fmt::format("{} reads shared memory + {} bytes, which nobody in its block has written, at {{0}}", WhereText(),
                     offset),
         {pc});
    return;
  }
  RawFinding finding;
  finding.kind = "shared_race";
  finding.pcs = {pc, counters.site(conflict.other_site).pc};
  finding.message = fmt::format(
      "{} {} shared memory + {} bytes at {{0}}; {} {} it at {{1}}, with no barrier between", WhereText(),
      writes ? "writes" : "reads", conflict.word, ThreadText(conflict.other_thread),
      conflict.other_wrote ? "writes" : "reads");
  if (writes && conflict.other_wrote && bytes <= 16) {
    RepeatedWrite repeated;
    repeated.address = shared_begin + offset;
    repeated.bytes = bytes;
    std::memcpy(repeated.before, reinterpret_cast<const void*>(repeated.address), bytes);
    repeated.finding = std::move(finding);
    repeated_writes.push_back(std::move(repeated));
    if (repeated_writes.size() >= 64) CheckRepeatedWrites();
    return;
  }
  Note(finding.kind, finding.message, finding.pcs);
}

void Worker::CheckRepeatedWrites() {
  for (RepeatedWrite& repeated : repeated_writes) {
    if (std::memcmp(repeated.before, reinterpret_cast<const void*>(repeated.address), repeated.bytes) == 0) continue;
    Note(repeated.finding.kind, repeated.finding.message, repeated.finding.pcs);
  }
  repeated_writes.clear();
}

void Worker::LogFull(Site& site, uint64_t offset) {
  // The access is counted in Site::total only. A thread that runs long checks here whether the launch has ended
  // elsewhere.
  if ((site.total & 1023) == 0 && launch->stop.load(std::memory_order_relaxed)) {
    aborting_ = true;
    SwitchOut();
  }
  // A launch that gives a time counts every access: the log is read when the warp's other lanes have come so far. Elsewhere
  // what follows is taken to be like what the log holds.
  if (launch->spec->in_order && fiber != nullptr) {
    log_filled_ = true;
    SwitchOut();
    *log_cursor++ = AccessLog::Entry(counters.Code(site), offset);
  }
}

}  // namespace hone::sim
