// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the block of a launch that this worker runs next, and lets cooperative blocks wait for each other.
#include "tuner/device/sim/worker/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "tuner/device/sim/fill.h"
#include "tuner/device/sim/image/work_count.h"
#include "tuner/device/sim/worker/hooks.h"

namespace hone::sim {

constinit thread_local Worker* current_worker = nullptr;

Worker::Worker(int number) : number_(number) {}
Worker::~Worker() = default;

std::unique_ptr<BlockState> Worker::MakeBlock() const {
  return std::make_unique<BlockState>(static_cast<int>(launch->spec->block_threads()), launch->spec->stack_bytes,
                                      static_cast<uint32_t>(shared_bytes));
}

void Worker::Run(Launch& l, uint8_t* shared) {
  launch = &l;
  const ImageLayout& image = *l.image;
  shared_begin = reinterpret_cast<uint64_t>(shared);
  shared_bytes = image.shared_bytes;
  static_shared = image.static_shared;
  dynamic_begin = image.dynamic_offset;
  dynamic_end = image.dynamic_offset + (image.has_dynamic ? l.spec->dynamic_shared : 0);
  several_workers = l.workers > 1;
  aborting_ = let_others_in_ = log_filled_ = some_log_filled_ = false;
  active_ = nullptr;
  reported_cost_ = 0;
  gathers_ = 0;
  ticks = 0;
  log_.Clear();
  repeated_writes.clear();
  moved_ = idle_ = false;
  idle_rounds_ = 0;
  seen_progress_ = 0;
  MakeFill();
  counters.BeginLaunch(l.sectors, l.spec->ranges.size(), image.text_begin, l.spec->l1_bytes);
  if (primary_ && (primary_->threads() != static_cast<int>(l.spec->block_threads()) ||
                   primary_->shadow.bytes() < shared_bytes)) {
    primary_.reset();
  }
  current_worker = this;
  std::fill(std::begin(hone_sim_work), std::end(hone_sim_work), 0);
  if (l.spec->cooperative && !l.spec->blocks.empty()) {
    RunCooperativeSample();
  } else if (l.spec->cooperative) {
    RunCooperative();
  } else {
    RunIndependent();
  }
  const auto work = [](int kind) { return static_cast<double>(hone_sim_work[kind]); };
  counters.counters.operations += work(kWorkOperations) / static_cast<double>(kWorkPerOperation);
  counters.counters.special_operations += work(kWorkSpecial);
  counters.counters.doubles += work(kWorkDoubles);
  counters.counters.integers += work(kWorkIntegers);
  counters.counters.local_read_bytes += work(kWorkLocalReads);
  counters.counters.local_written_bytes += work(kWorkLocalWrites);
  if (!idle_) l.idle_workers.fetch_add(1);  // no block left: the others need not wait for this worker
  current_worker = nullptr;
  block = nullptr;
  fiber = nullptr;
}

void Worker::RunIndependent() {
  const LaunchSpec& spec = *launch->spec;
  const uint64_t total = spec.blocks.empty() ? spec.grid_blocks() : spec.blocks.size();
  // One block is in progress, unless it spins on something that a later block must do.
  std::vector<std::unique_ptr<BlockState>> resident;
  std::vector<std::unique_ptr<BlockState>> spare;
  if (primary_) spare.push_back(std::move(primary_));
  bool has_blocks = true;
  int stuck_rounds = 0;
  while (!launch->stop.load(std::memory_order_relaxed)) {
    bool finished_one = false, moved = false;
    // If many blocks wait for one another in a chain, each pass may finish only one of them.
    const int patience = resident.size() == 1 ? kSpinRounds : kSpinRoundsOfMany;
    for (size_t i = 0; i < resident.size();) {
      if (std::exchange(resident[i]->lets_others_in, false) && (has_blocks || resident.size() > 1)) {
        moved = true;
        ++i;
        continue;
      }
      Activate(resident[i].get());
      const Stop stop = RunBlock(*resident[i], patience);
      moved |= moved_;
      if (stop == Stop::kAborted) return;
      if (stop == Stop::kDone) {
        counters.counters.blocks += 1;
        counters.counters.warps += resident[i]->warp_count();
        spare.push_back(std::move(resident[i]));
        resident.erase(resident.begin() + static_cast<ptrdiff_t>(i));
        active_ = nullptr;
        finished_one = true;
        if (spec.access_budget != 0) AddCost();
        if (spec.in_order && !spec.blocks.empty()) launch->first_writes.emplace_back(spare.back()->number, spare.back()->first_writes);
      } else {
        ++i;
      }
    }
    if (finished_one) stuck_rounds = 0;
    if (finished_one && !resident.empty()) continue;
    if (has_blocks && resident.size() < kMaxResident) {
      const uint64_t block_number = launch->next_block.fetch_add(1, std::memory_order_relaxed);
      const bool too_few_blocks = block_number < spec.least_blocks && launch->spent < spec.access_limit;
      const bool spent = spec.access_budget != 0 && launch->spent >= spec.access_budget && !too_few_blocks;
      if (block_number < total && !spent) {
        if (spare.empty()) spare.push_back(MakeBlock());
        resident.push_back(std::move(spare.back()));
        spare.pop_back();
        resident.back()->cache = spec.in_order ? &launch->caches[block_number % Launch::kPretendedSms] : nullptr;
        Activate(resident.back().get());
        BeginBlock(*resident.back(), spec.blocks.empty() ? block_number : spec.blocks[block_number]);
        continue;
      }
      has_blocks = false;
    }
    if (resident.empty()) break;
    if (!has_blocks && !spec.blocks.empty() && (stuck_rounds += patience) >= kStuckRounds) {
      // Every sampled block has begun, and the remaining ones wait for something that none of them does.
      std::lock_guard lock(launch->mutex);
      if (launch->end == LaunchEnd::kOk) {
        launch->end = LaunchEnd::kStuck;
        launch->detail = "the sampled blocks wait for blocks outside the sample";
      }
      launch->stop = true;
    }
    // Blocks of a whole grid spin until a block of another OS thread helps, or for ever.
    if (spec.blocks.empty()) NotePass(moved || finished_one, patience);
  }
  if (!spare.empty()) primary_ = std::move(spare.back());
}

void Worker::AddCost() {
  // The cost is counted in accesses. A lane's part in a warp operation costs a switch of fibers; its part in a matrix
  // instruction also costs arithmetic.
  uint64_t total = 15 * gathers_ + 5 * kWarpSize * static_cast<uint64_t>(counters.counters.warp_operations);
  for (uint16_t i = 1; i <= counters.site_count(); ++i) total += counters.site(i).total;
  launch->spent += total - reported_cost_;
  reported_cost_ = total;
}

// Runs this worker's part of a cooperative launch, whose blocks are all resident.
void Worker::RunCooperative() {
  const LaunchSpec& spec = *launch->spec;
  std::vector<std::unique_ptr<BlockState>> resident;
  const uint64_t total = spec.grid_blocks();
  // All blocks are in progress at once, each with its own share of the first-level cache.
  std::deque<L1Cache> caches;
  for (uint64_t b = static_cast<uint64_t>(number_); b < total; b += static_cast<uint64_t>(launch->workers)) {
    resident.push_back(MakeBlock());
    if (spec.in_order) resident.back()->cache = &caches.emplace_back();
    Activate(resident.back().get());
    BeginBlock(*resident.back(), b);
  }
  std::vector<bool> done(resident.size());
  while (!launch->stop.load(std::memory_order_relaxed)) {
    bool all_done = true, all_waiting = true, moved = false;
    for (size_t i = 0; i < resident.size(); ++i) {
      if (done[i]) continue;
      if (resident[i]->at_grid == resident[i]->alive && resident[i]->alive > 0) {
        all_done = false;
        continue;
      }
      Activate(resident[i].get());
      const Stop stop = RunBlock(*resident[i], kSpinRounds);
      moved |= moved_ || stop != Stop::kSpinning;
      if (stop == Stop::kAborted) {
        Leave();
        return;
      }
      if (stop == Stop::kDone) {
        done[i] = true;
        counters.counters.blocks += 1;
        counters.counters.warps += resident[i]->warp_count();
      } else {
        all_done = false;
        all_waiting &= stop == Stop::kGrid;
      }
    }
    if (all_done) break;
    if (!all_waiting) {
      NotePass(moved, kSpinRounds);
      continue;
    }
    NotePass(/*moved=*/true, /*rounds=*/0);
    if (!MeetGrid()) break;
    for (size_t i = 0; i < resident.size(); ++i) {
      if (!done[i]) ReleaseGrid(*resident[i]);
    }
  }
  Leave();
  active_ = nullptr;
}

// Runs a sample of the blocks of a cooperative launch, for its cost. They meet at barriers of the grid without the
// others, so what the others would have written is missing behind the first one. Only the single worker of a launch in
// order comes here.
void Worker::RunCooperativeSample() {
  const LaunchSpec& spec = *launch->spec;
  std::vector<std::unique_ptr<BlockState>> resident;
  std::deque<L1Cache> caches;
  std::vector<bool> done;
  bool stuck = false;
  // Returns false if the launch is to end.
  const auto run = [&](size_t i) {
    Activate(resident[i].get());
    Stop stop = Stop::kSpinning;
    do {
      stop = RunBlock(*resident[i], kSpinRounds);
      resident[i]->lets_others_in = false;
    } while (stop == Stop::kSpinning && moved_);
    AddCost();
    stuck = stop == Stop::kSpinning;
    done[i] = stop == Stop::kDone;
    if (done[i]) {
      counters.counters.blocks += 1;
      counters.counters.warps += resident[i]->warp_count();
      launch->first_writes.emplace_back(resident[i]->number, resident[i]->first_writes);
    }
    return stop == Stop::kDone || stop == Stop::kGrid;
  };
  // What blocks do before their first barrier takes half of the budget, because what they do behind it may take as much.
  bool going = true;
  for (const uint64_t number : spec.blocks) {
    if (!going || resident.size() >= kMaxResident) break;
    const bool too_few_blocks = resident.size() < spec.least_blocks && launch->spent < spec.access_limit / 2;
    if (!resident.empty() && launch->spent >= spec.access_budget / 2 && !too_few_blocks) break;
    resident.push_back(MakeBlock());
    done.push_back(false);
    resident.back()->cache = &caches.emplace_back();
    Activate(resident.back().get());
    BeginBlock(*resident.back(), number);
    going = run(resident.size() - 1);
  }
  while (going && std::find(done.begin(), done.end(), false) != done.end()) {
    launch->met_in_part = launch->incomplete = resident.size() < spec.grid_blocks();
    for (size_t i = 0; i < resident.size() && going; ++i) {
      if (done[i]) continue;
      ReleaseGrid(*resident[i]);
      going = run(i);
    }
  }
  if (stuck) {
    std::lock_guard lock(launch->mutex);
    if (launch->end == LaunchEnd::kOk) {
      launch->end = LaunchEnd::kStuck;
      launch->detail = "the sampled blocks wait for blocks outside the sample";
    }
    launch->stop = true;
  }
  active_ = nullptr;
}

void Worker::NotePass(bool moved, int rounds) {
  Launch& l = *launch;
  if (moved) {
    l.progress.fetch_add(1);
    if (idle_) l.idle_workers.fetch_sub(1);
    idle_ = false;
    idle_rounds_ = 0;
    return;
  }
  const uint64_t progress = l.progress.load();
  if (progress != seen_progress_) idle_rounds_ = 0;
  seen_progress_ = progress;
  idle_rounds_ += rounds;
  if (idle_rounds_ < kStuckRounds) return;
  if (!idle_) l.idle_workers.fetch_add(1);
  idle_ = true;
  if (l.idle_workers.load() < l.workers || l.progress.load() != progress) return;
  const bool all_begun = l.spec->cooperative || l.next_block.load() >= l.spec->grid_blocks();
  std::lock_guard lock(l.mutex);
  if (l.end == LaunchEnd::kOk) {
    l.end = all_begun ? LaunchEnd::kWaiting : LaunchEnd::kUnsupported;
    l.detail = all_begun ? fmt::format("every block has begun, and those left wait for each other: {} rounds have passed in "
                                       "which every thread only looked again", kStuckRounds)
                         : fmt::format("blocks wait for blocks that the simulated GPU has not begun: it holds {} at a time for "
                                       "each thread of the host", kMaxResident);
  }
  l.stop = true;
}

// Makes the initial contents of blocks' shared and local memory, unique to this launch: random bytes, NaNs or plausible
// numbers, depending on the key.
void Worker::MakeFill() {
  const uint64_t key = launch->spec->fill_key;
  constexpr size_t kSpan = 4096;
  const size_t most = std::max<size_t>({static_shared, dynamic_end, launch->spec->local_bytes, 64});
  fill_span_ = key == 0 ? 1 : kSpan;
  fill_.resize((most + fill_span_ + 63) / 64 * 64);
  if (key == 0) {
    std::memset(fill_.data(), 0xff, fill_.size());  // NaN in every floating-point type, so that a use shows in the result
    return;
  }
  for (size_t at = 0; at < fill_.size(); at += 8) {
    const uint64_t word = FillWord(key, at / 8);
    std::memcpy(fill_.data() + at, &word, 8);
  }
}

// Records that this worker has no more blocks: the others need not wait for it.
void Worker::Leave() {
  std::lock_guard lock(launch->grid_mutex);
  ++launch->workers_done;
  launch->grid_changed.notify_all();
}

// Waits until every worker's blocks are at the grid barrier. Returns false when the launch has been stopped.
bool Worker::MeetGrid() {
  std::unique_lock lock(launch->grid_mutex);
  const uint64_t generation = launch->grid_generation;
  ++launch->workers_waiting;
  for (;;) {
    if (launch->stop) return false;
    if (launch->grid_generation != generation) return true;
    if (launch->workers_waiting + launch->workers_done >= launch->workers) {
      launch->workers_waiting = 0;
      ++launch->grid_generation;
      launch->grid_changed.notify_all();
      return true;
    }
    launch->grid_changed.wait(lock);
  }
}

}  // namespace hone::sim
