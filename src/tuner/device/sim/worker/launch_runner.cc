// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements a small pool of OS threads, each with a Worker.
#include "tuner/device/sim/worker/launch_runner.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "tuner/device/sim/worker/worker.h"

namespace hone::sim {

namespace {

constexpr size_t kMaxSiteReports = 24;  // memory instructions that a launch's report names
// A smaller number of blocks is done before a second OS thread has woken up.
constexpr uint64_t kBlocksForSeveralWorkers = 4;

}  // namespace

struct LaunchRunner::Pool {
  explicit Pool(int count) {
    for (int i = 0; i < std::max(1, count); ++i) workers.push_back(std::make_unique<Worker>(i));
    for (size_t i = 1; i < workers.size(); ++i) threads.emplace_back([this, i] { Serve(i); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex);
      quit = true;
    }
    changed.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  // Runs worker thread `number`: it takes part in one launch after another until the runner ends.
  void Serve(size_t number) {
    uint64_t latest_launch = 0;
    for (;;) {
      Launch* current_launch = nullptr;
      const Image* from = nullptr;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return quit || generation != latest_launch; });
        if (quit) return;
        latest_launch = generation;
        current_launch = launch;
        from = image;
      }
      workers[number]->Run(*current_launch, from->ThreadShared());
      {
        std::lock_guard lock(mutex);
        if (--running == 0) changed.notify_all();
      }
    }
  }

  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t generation = 0;
  size_t running = 0;
  bool quit = false;
  Launch* launch = nullptr;
  const Image* image = nullptr;
};

LaunchRunner::LaunchRunner(int workers) : pool_(std::make_unique<Pool>(workers)) {}
LaunchRunner::~LaunchRunner() = default;

namespace {

}  // namespace

LaunchReport LaunchRunner::Run(const LaunchSpec& spec, const Image& image) {
  const double begin = ProcessSeconds();
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const BoundRange& range : spec.ranges) ranges.emplace_back(range.begin - kGlobalBase, range.end - kGlobalBase);
  SectorMap sectors(ranges);

  // A sample of blocks says nothing about the others, and blocks of a cooperative launch meet at barriers.
  std::optional<BlockOwners> owners;
  if (spec.blocks.empty() && !spec.in_order && !spec.cooperative && spec.grid_blocks() > 1) owners.emplace(spec.ranges);

  Launch launch;
  launch.spec = &spec;
  launch.owners = owners ? &*owners : nullptr;
  launch.image = &image.layout();
  launch.sectors = &sectors;
  const uint64_t blocks = spec.blocks.empty() ? spec.grid_blocks() : spec.blocks.size();
  const bool several = !spec.in_order && pool_->workers.size() > 1 && blocks >= kBlocksForSeveralWorkers;
  launch.workers = several ? static_cast<int>(pool_->workers.size()) : 1;
  if (several) {
    {
      std::lock_guard lock(pool_->mutex);
      pool_->launch = &launch;
      pool_->image = &image;
      pool_->running = pool_->threads.size();
      ++pool_->generation;
    }
    pool_->changed.notify_all();
  }
  pool_->workers[0]->Run(launch, image.ThreadShared());
  if (several) {
    std::unique_lock lock(pool_->mutex);
    pool_->changed.wait(lock, [&] { return pool_->running == 0; });
  }

  LaunchReport report;
  report.end = launch.end;
  report.detail = std::move(launch.detail);
  report.incomplete = launch.incomplete.load();
  report.findings = std::move(launch.findings);
  report.first_writes = std::move(launch.first_writes);
  AccessCounters& counters = pool_->workers[0]->counters;
  for (int i = 1; i < launch.workers; ++i) counters.Absorb(pool_->workers[static_cast<size_t>(i)]->counters);
  report.counters = counters.Finish();
  for (uint16_t s = 1; s <= counters.site_count(); ++s) {
    const Site& site = counters.site(s);
    if (site.logged == 0) continue;
    const double scale = static_cast<double>(site.total) / static_cast<double>(site.logged);
    report.sites.push_back({.pc = site.pc - image.layout().image_begin,
                            .shared = site.cycles > 0,
                            .writes = site.writes,
                            .atomic = site.atomic,
                            .bytes = site.bytes,
                            .accesses = static_cast<double>(site.total),
                            .groups = static_cast<double>(site.groups) * scale,
                            .sectors = static_cast<double>(site.sectors) * scale,
                            .cycles = static_cast<double>(site.cycles) * scale,
                            .ideal_cycles = static_cast<double>(site.ideal_cycles) * scale});
  }
  std::sort(report.sites.begin(), report.sites.end(), [](const SiteReport& a, const SiteReport& b) {
    const double cost_a = a.sectors + a.cycles, cost_b = b.sectors + b.cycles;
    return cost_a != cost_b ? cost_a > cost_b : a.pc < b.pc;
  });
  if (report.sites.size() > kMaxSiteReports) report.sites.resize(kMaxSiteReports);
  report.cpu_seconds = ProcessSeconds() - begin;
  return report;
}

}  // namespace hone::sim
