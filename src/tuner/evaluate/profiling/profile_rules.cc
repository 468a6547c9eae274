// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/profiling/profile_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tuner/core/evaluation/finding_text.h"

namespace hone {
namespace {

constexpr double kLeastGain = 0.02;     // least estimated gain of a reported finding, as a share of the time
constexpr size_t kMostFindings = 10;    // limit on the findings of a profile
constexpr double kMemoryLatency = 700e-9;  // seconds of a load that misses every cache, rounded
constexpr double kOtherSteps = 0.05;       // least share of a case's time, spent outside its kernels, that is reported
constexpr double kNearFloor = 0.92;        // share of the floor's speed above which all cases are called near it
constexpr double kWasteful = 1.3;   // least ratio of transfers to ideal transfers that is reported as waste
constexpr double kScattered = 2.5;  // least sectors per request for which another layout could need fewer
constexpr std::string_view kScatterAdvice =
    " of the 32 bytes of each sector: neighbouring threads should touch neighbouring addresses (swap the roles of the thread "
    "indices, or pass the tile through shared memory)";
constexpr double kLeastAsync = 0.05;  // share of cp.async in load requests above which the loads' average says nothing
constexpr double kUnlimited = 1e9;   // number of blocks that stands for no limit
constexpr double kLeastAtomics = 0.05;  // least share of atomics in requests to global memory that is reported
constexpr double kTensorMoves =
    0.05;  // use of the tensor pipe up to which no tensor cores work: it also moves constants (HFMA2.MMA) and runs DFMA

// Rules applies all rules to one kernel of one case and collects the findings.
class Rules {
 public:
  Rules(const RuleContext& context, const CaseProfile& c, const KernelProfile& kernel, double share, double room)
      : context_(context), case_(c), k_(kernel), share_(share), room_(room) {}

  // Applies all rules to one kernel.
  std::vector<ProfileFinding> Run() {
    FindUncoalesced();
    BankConflicts();
    FindSpills();
    SmallGrid();
    InFlight();
    FindStalls();
    FindRereads();
    FindInstructionLimits();
    TensorBound();
    return std::move(found_);
  }

 private:
  // Adds a finding; `gain` is a share of this kernel's time.
  void AddFinding(std::string kind, double gain, std::string message, std::string evidence, std::string location = "") {
    // Removing a wait cannot save the time in which the tensor cores work.
    gain = std::min(std::clamp(gain, 0.0, std::min(0.95, 1 - Percent("tensor_active"))) * share_, room_);
    if (gain < kLeastGain) return;
    found_.push_back({std::move(kind), std::move(message), std::move(evidence), k_.kernel, std::move(location), case_.dims, gain});
  }
  double Percent(const char* field) const { return std::clamp(k_.Value(field) / 100, 0.0, 1.0); }
  double StallSum() const {
    double sum = 0;
    for (const auto& [name, value] : k_.values) sum += name.starts_with("stall_") ? value : 0;
    return sum;
  }
  // Returns the share of warps' waiting time that has this reason.
  double StallShare(const char* field) const {
    const double sum = StallSum();
    return sum > 0 ? k_.Value(field) / sum : 0;
  }
  const KernelResources* Resources() const {
    for (const KernelResources& r : context_.evaluation->resources) {
      if (r.kernel == k_.kernel) return &r;
    }
    return nullptr;
  }
  // Returns the share of the time in which the memory system is the limit.
  double MemoryWeight() const {
    return std::max({Percent("memory_throughput"), Percent("dram_throughput"), Percent("limit_l2"),
                     Percent("limit_lsu"), 0.8 * StallShare("stall_long_scoreboard"), 0.5 * Percent("limit_latency")});
  }

  // Appends one operation's waste to the texts `uses` and `evidence`, which may already name other operations.
  static void AppendWaste(const std::string& operation, double used, double takes, double suffice, double share,
                          std::string* uses, std::string* evidence) {
    *uses += fmt::format("{}{}s use {:.0f}", uses->empty() ? "" : " and ", operation, used);
    *evidence += fmt::format("{}{}s: {:.1f} sectors a request where {:.1f} suffice, {:.0f} % of the kernel's sectors",
                             evidence->empty() ? "" : "; ", operation, takes, suffice, 100 * share);
  }

  // Returns whether all bytes that must move are known; otherwise CompulsoryTraffic is only a lower bound.
  bool TrafficIsKnown() const { return context_.task->bytes || FindUnknownTraffic(*context_.task).empty(); }

  // Returns the bytes that this kernel must load or store; 0 if they are not known, or the plan has several kernels.
  double MustMove(const std::string& operation) const {
    if (case_.kernels.size() != 1 || !TrafficIsKnown()) return 0;
    const Result<Traffic> traffic = CompulsoryTraffic(*context_.task, case_.dims);
    if (!traffic.ok()) return 0;
    return operation == "load" ? traffic->read_bytes : traffic->written_bytes;
  }

  // Finds global accesses that move more sectors than their bytes need.
  void FindUncoalesced() {
    bool any_site = false;
    std::vector<std::string> reported;  // source lines that were reported already, with loads and stores together
    for (const MemorySite& site : k_.sites) {
      if (site.space != "global") continue;
      any_site = true;
      if (std::find(reported.begin(), reported.end(), site.location) != reported.end()) continue;
      reported.push_back(site.location);
      double gain = 0;
      std::string uses, evidence;
      for (const MemorySite& at : k_.sites) {
        if (at.space != "global" || at.location != site.location || at.operation == "atomic") continue;
        if (at.transfers_per_request < kWasteful * at.ideal_transfers + 0.5) continue;
        const double useful = at.ideal_transfers / at.transfers_per_request;
        gain += MemoryWeight() * at.share * (1 - useful);
        AppendWaste(at.operation, std::max(1.0, 32 * useful), at.transfers_per_request, at.ideal_transfers, at.share,
                    &uses, &evidence);
      }
      if (gain > 0) AddFinding("uncoalesced", gain, uses + std::string(kScatterAdvice), evidence, site.location);
    }
    if (any_site) return;
    // A GPU's counters have no source lines, so the waste of all loads and stores is reported together.
    const double sectors = k_.Value("load_sectors") + k_.Value("store_sectors");
    double gain = 0;
    std::string uses, evidence;
    for (const char* operation : {"load", "store"}) {
      const std::string name = operation;
      const double mine = k_.Value(name + "_sectors"), requests = k_.Value(name + "_requests");
      // The counted average leaves out some instructions (cp.async). So the bytes that must move give a second estimate
      // of the bytes used of a sector.
      const double used = std::max(k_.Value(name + "_bytes_per_sector"), mine > 0 ? std::min(32.0, MustMove(name) / mine) : 0);
      if (used <= 0 || mine <= 0 || requests <= 0 || used > 32 / kWasteful) continue;
      // Where many loads are cp.async, the average of the other loads says nothing about the kernel.
      if (name == "load" && k_.Value("async_copies") > kLeastAsync * requests) continue;
      if (mine < kScattered * requests)
        continue;  // threads that read one address together use few bytes of a sector, but waste no transfers
      gain += MemoryWeight() * mine / sectors * (1 - used / 32);
      AppendWaste(name, used, mine / requests, std::max(1.0, mine / requests * used / 32), mine / sectors, &uses,
                  &evidence);
    }
    if (gain > 0) AddFinding("uncoalesced", gain, uses + std::string(kScatterAdvice), evidence);
  }

  struct ConflictingLines {
    const MemorySite* worst = nullptr;
    std::set<std::string> locations;
    double gain = 0, share = 0;
  };

  // Finds bank conflicts of shared memory.
  void BankConflicts() {
    const double passes = k_.Value("shared_passes");
    if (passes <= 0) return;
    const double others = k_.Value("load_requests") + k_.Value("store_requests");
    // The weight is the share of the time in which the banks of shared memory are the limit; an SM makes one pass in a
    // cycle. Passes do not include the data that wgmma and the copy engine move through the banks.
    const double cycles = k_.Value("cycles") * context_.facts->sm_count;
    const double weight = k_.Has("limit_lsu") ? Percent("limit_lsu") * passes / (passes + others)
                          : cycles > 0        ? std::min(1.0, passes / cycles)
                                              : std::max(Percent("l1_throughput") * passes / (passes + others),
                                                         StallShare("stall_short_scoreboard") + StallShare("stall_mio"));
    const std::string advice =
        "threads of a warp meet in the same banks of shared memory: pad the rows by one element, or swizzle the column by the row";
    bool any_site = false;
    // Lines with the same kind of access usually conflict for one reason (an unrolled loop has several), so each kind is one finding, at the
    // line that costs the most.
    std::map<std::pair<std::string, int>, ConflictingLines> kinds;
    for (const MemorySite& site : k_.sites) {
      if (site.space != "shared") continue;
      any_site = true;
      if (site.transfers_per_request < kWasteful * site.ideal_transfers) continue;
      ConflictingLines& lines = kinds[{site.operation, site.bytes}];
      lines.gain += weight * site.share * (1 - site.ideal_transfers / site.transfers_per_request);
      lines.share += site.share;
      if (lines.worst == nullptr || site.share > lines.worst->share) lines.worst = &site;
      lines.locations.insert(site.location);
    }
    for (auto& [kind, lines] : kinds) {
      const MemorySite& worst = *lines.worst;
      lines.locations.erase(worst.location);
      lines.locations.erase("");
      AddFinding(
          "bank_conflict", lines.gain, advice,
          fmt::format(
              "the {} of {} bytes takes {:.1f} passes a request where {:.1f} suffice; {:.0f} % of the kernel's "
              "passes{}",
              worst.operation, worst.bytes, worst.transfers_per_request, worst.ideal_transfers, 100 * lines.share,
              lines.locations.empty() ? "" : fmt::format(", with the same at {}", fmt::join(lines.locations, ", "))),
          worst.location);
    }
    if (any_site || k_.Value("bank_conflicts") < 0.1 * passes) return;
    AddFinding("bank_conflict", weight * k_.Value("bank_conflicts") / passes, advice,
               fmt::format("{:.0f} % of the passes over shared memory are conflicts",
                           100 * k_.Value("bank_conflicts") / passes));
  }

  // Finds registers that are spilled to local memory.
  void FindSpills() {
    const double local = k_.Value("local_load_sectors") + k_.Value("local_store_sectors");
    const double global = k_.Value("load_sectors") + k_.Value("store_sectors");
    const KernelResources* resources = Resources();
    const int64_t spilled = resources != nullptr ? resources->spill_bytes : 0;
    if (local <= 0 && spilled <= 0) return;
    const double gain = local > 0 ? MemoryWeight() * local / (local + global) : 0.05;
    AddFinding(
        "spills", gain,
        "registers spill to local memory, or an array is indexed by a variable: keep fewer values alive, unroll the "
        "loops that "
        "index the array, or raise the bound on registers with __launch_bounds__",
        fmt::format(
            "{} bytes of local memory a thread{}", spilled,
            local > 0 ? fmt::format(", {:.0f} % of all sectors are local", 100 * local / (local + global)) : ""));
  }

  void SmallGrid() {
    const int sms = context_.facts->sm_count;
    if (sms <= 0 || k_.blocks <= 0) return;
    if (k_.blocks < sms) {
      AddFinding("small_grid", 1 - static_cast<double>(k_.blocks) / sms,
                 "some multiprocessors have no work: use more, smaller blocks, or split the work of one block (rows "
                 "into pieces, a "
                 "product along its inner dimension)",
                 fmt::format("{} blocks for {} SMs", k_.blocks, sms));
      return;
    }
    const double waves = k_.Value("waves");
    if (waves <= 1 || waves >= 4) return;
    const double idle = 1 - waves / std::ceil(waves);
    if (idle < 0.1) return;
    AddFinding(
        "tail", 0.7 * idle,
        "the last wave of blocks leaves multiprocessors idle: make the grid a multiple of what the GPU holds, or let "
        "resident "
        "blocks loop over the work, which pays where the loads of a block's next piece start before it has finished "
        "this one",
        fmt::format("{} blocks, of which {:.0f} run at a time: the last wave is {:.1f} % full", k_.blocks,
                    static_cast<double>(k_.blocks) / waves, 100 * (waves + 1 - std::ceil(waves))));
  }

  // Reports if too few bytes are in flight, by Little's law, to keep memory busy.
  void InFlight() {
    const DeviceFacts& facts = *context_.facts;
    const double busiest = std::max({Percent("memory_throughput"), Percent("sm_throughput"), Percent("limit_dram"),
                                     Percent("limit_l2"), Percent("limit_lsu"), Percent("limit_issue"), Percent("limit_tensor"),
                                     Percent("limit_atomics"), Percent("limit_dispatch")});
    const bool waits = StallShare("stall_long_scoreboard") > 0.4 || Percent("limit_latency") > 1.2 * busiest;
    if (!waits || busiest > 0.75) return;
    std::string evidence = fmt::format("the busiest part works {:.0f} % of the time", 100 * busiest);
    if (StallShare("stall_long_scoreboard") > 0) {
      evidence +=
          fmt::format("; {:.0f} % of the waiting is for global memory", 100 * StallShare("stall_long_scoreboard"));
    }
    if (k_.Value("load_bytes_in_flight") > 0 && facts.sm_count > 0) {
      evidence += fmt::format("; {:.1f} KiB of loads in flight an SM, {:.0f} KiB keep memory busy", k_.Value("load_bytes_in_flight") / 1024,
                              facts.memory_bandwidth * kMemoryLatency / facts.sm_count / 1024);
    }
    const double gain = 0.8 * (0.9 - busiest);
    const double occupancy = k_.Value("occupancy", 100);
    const double atomics = k_.Value("atomic_requests");
    if (atomics > kLeastAtomics * (atomics + k_.Value("load_requests") + k_.Value("store_requests")) && busiest < 0.4) {
      AddFinding(
          "atomics", gain,
          "nothing is busy while atomic operations are under way: they probably queue for few addresses; add up within "
          "a warp or "
          "a block first, then once for all, or spread them over more addresses",
          fmt::format("{:.0f} warp-wide atomics, {:.0f} % of the requests to global memory; {}", atomics,
                      100 * atomics / (atomics + k_.Value("load_requests") + k_.Value("store_requests")), evidence));
    } else if (occupancy < 50 && occupancy < 60 * PossibleOccupancy() && k_.Value("waves") >= 4) {
      AddFinding(
          "many_small_blocks", gain,
          "multiprocessors stand half empty although more blocks would fit: blocks end sooner than others are started "
          "in their place; "
          "give each more work, or let resident blocks loop over it, which pays where the loads of a block's next "
          "piece start before it has "
          "finished this one",
          fmt::format("{} blocks of {} threads; occupancy {:.0f} % where {:.0f} % would fit; {}", k_.blocks,
                      k_.threads_per_block, occupancy, 100 * PossibleOccupancy(), evidence));
    } else if (occupancy < 50 && k_.blocks >= facts.sm_count) {
      AddFinding("low_occupancy", gain,
                 "few threads are resident, and the waits of one are not hidden by the work of others: " + WhatLimits(),
                 fmt::format("occupancy {:.0f} %; {}", occupancy, evidence));
    } else {
      AddFinding("latency_bound", gain,
                 "threads wait for loads while memory is not busy: start more independent loads before the first is "
                 "used (16-byte "
                 "vector loads, unrolled loops, asynchronous copies into shared memory)",
                 evidence);
    }
  }

  // A Fit says how many blocks fit on an SM by each resource; a resource that is not known or not used sets no limit.
  struct Fit {
    double threads = kUnlimited, shared = kUnlimited, registers = kUnlimited, blocks = kUnlimited;
    double Least() const { return std::floor(std::min({threads, shared, registers, blocks})); }
  };
  Fit BlocksThatFit() const {
    const DeviceFacts& f = *context_.facts;
    const KernelResources* resources = Resources();
    const double warps = std::ceil(static_cast<double>(k_.threads_per_block) / 32);
    Fit fit;
    if (f.max_threads_per_sm > 0 && warps > 0) fit.threads = f.max_threads_per_sm / (32 * warps);
    if (k_.shared_bytes > 0 && f.smem_per_sm > 0) {
      fit.shared = static_cast<double>(f.smem_per_sm) / (static_cast<double>(k_.shared_bytes) + 1024);
    }
    if (resources != nullptr && resources->registers > 0 && f.registers_per_sm > 0) {
      // A warp gets registers in units of 256, which are eight for each thread.
      fit.registers = static_cast<double>(f.registers_per_sm) / (32 * warps * std::ceil(resources->registers / 8.0) * 8);
    }
    if (f.max_blocks_per_sm > 0) fit.blocks = f.max_blocks_per_sm;
    return fit;
  }
  // Returns the share of an SM's threads that can be resident, 0 to 1; 0 if the kernel's registers are not known.
  double PossibleOccupancy() const {
    const DeviceFacts& f = *context_.facts;
    const Fit fit = BlocksThatFit();
    if (fit.registers >= kUnlimited || f.max_threads_per_sm <= 0) return 0;
    return std::min(1.0, fit.Least() * std::ceil(static_cast<double>(k_.threads_per_block) / 32) * 32 / f.max_threads_per_sm);
  }

  // Names the resource that keeps more blocks from an SM.
  std::string WhatLimits() const {
    if (const double waves = k_.Value("waves"); waves > 0 && waves < 0.9) {
      return fmt::format("the grid has {} blocks where {:.0f} run at a time: split the work into more of them (a row into pieces, say)",
                         k_.blocks, static_cast<double>(k_.blocks) / waves);
    }
    const Fit fit = BlocksThatFit();
    const double least = fit.Least();
    if (least == std::floor(fit.shared)) {
      return fmt::format("shared memory limits them ({} bytes a block): use less of it, or do more with each byte", k_.shared_bytes);
    }
    if (least == std::floor(fit.registers)) {
      return fmt::format("registers limit them ({} a thread): keep fewer values alive, or bound them with __launch_bounds__",
                         Resources()->registers);
    }
    if (PossibleOccupancy() > 0.5) return "more would fit: blocks end at different times, so give each the same amount of work";
    if (least == fit.blocks) return fmt::format("blocks of {} threads are too small: use at least 128", k_.threads_per_block);
    return "the block size divides an SM's threads badly: try 128 or 256";
  }

  void FindStalls() {
    struct Rule {
      const char *field, *kind, *message;
      double from, worth;  // least share of the waiting time that is reported; share of it that may be saved
    };
    static constexpr Rule kRules[] = {
        {"stall_barrier", "barriers", "warps wait for one another at barriers: fewer __syncthreads, smaller blocks, or warp-wide "
                                      "exchange by shuffles", 0.2, 0.5},
        {"stall_lg", "memory_queue", "the queue for global memory instructions is full: fewer and wider accesses (16 bytes a thread)",
         0.15, 0.6},
        {"stall_mio", "shared_queue", "the queue for shared-memory and special instructions is full: fewer and wider shared accesses, "
                                      "or keep values in registers", 0.15, 0.6},
        {"stall_math_pipe", "arithmetic", "an arithmetic pipe is busy: the same result with fewer instructions, cheaper ones (fast "
                                          "intrinsics within the tolerance), or on the tensor cores", 0.25, 0.4},
        {"stall_no_instruction", "instruction_cache", "warps wait for instructions: less unrolling, smaller code", 0.15, 0.6},
        {"stall_membar", "fences", "warps wait at memory fences: fewer of them, or narrower ones (__threadfence_block)", 0.1, 0.7},
        {"stall_branch", "branches", "warps wait for branches: fewer of them in the inner loop", 0.15, 0.5},
    };
    for (const Rule& rule : kRules) {
      const double stall = StallShare(rule.field);
      // If schedulers issue an instruction in nearly every cycle, waiting warps cost no time.
      if (stall < rule.from || Percent("issue_active") > 0.8) continue;
      const bool no_shared = k_.Has("shared_passes") && k_.Value("shared_passes") <= 0 && std::string_view(rule.kind) == "shared_queue";
      AddFinding(no_shared ? "special_queue" : rule.kind, stall * rule.worth * (1 - Percent("issue_active")),
                 no_shared ? "the queue for special instructions is full, and shared memory is not used: fewer "
                             "conversions, exponentials, "
                             "roots and shuffles; a __constant__ table that threads index differently belongs into "
                             "shared memory or behind __ldg"
                           : rule.message,
                 fmt::format("{:.0f} % of the warps' waiting; schedulers issue in {:.0f} % of the cycles", 100 * stall,
                             100 * Percent("issue_active")));
    }
    if (k_.Has("limit_atomics") && Percent("limit_atomics") > 0.2) {
      AddFinding("atomics", Percent("limit_atomics"),
                 "atomic operations queue for few addresses: add up within a warp or a block first, then once for all",
                 fmt::format("queueing alone would take {:.0f} % of the time", 100 * Percent("limit_atomics")));
    }
    if (k_.Has("limit_dispatch") && Percent("limit_dispatch") > 0.5) {
      AddFinding(
          "many_small_blocks", Percent("limit_dispatch") - 0.3,
          "starting blocks is what takes the time: give each more work, or let resident blocks loop, which pays where "
          "the loads "
          "of a block's next piece start before it has finished this one",
          fmt::format("{} blocks of {} threads; starting them alone would take {:.0f} % of the time", k_.blocks,
                      k_.threads_per_block, 100 * Percent("limit_dispatch")));
    }
    if (k_.Has("barriers_per_warp") && k_.Value("barriers_per_warp") > 16 && Percent("limit_latency") > 0.5) {
      AddFinding("barriers", 0.2,
                 "each warp goes through many barriers: fewer __syncthreads, or warp-wide exchange by shuffles",
                 fmt::format("{:.0f} barriers a warp, and latency is what limits", k_.Value("barriers_per_warp")));
    }
  }

  void FindRereads() {
    const double moved = k_.Has("dram_bytes") ? k_.Value("dram_bytes") : k_.Value("dram_bytes_read") + k_.Value("dram_bytes_written");
    const Result<double> compulsory = CompulsoryBytes(*context_.task, case_.dims);
    if (!TrafficIsKnown() || !compulsory.ok() || *compulsory <= 0 || moved <= 1.2 * *compulsory) return;
    // If another part is far busier than memory, the surplus bytes cost no time. Spills have a rule of their own.
    const double busier = std::max({Percent("sm_throughput"), Percent("tensor_active"), Percent("l2_throughput")});
    if (busier > Percent("dram_throughput") + 0.2) return;
    if (32 * (k_.Value("local_load_sectors") + k_.Value("local_store_sectors")) > 0.5 * (moved - *compulsory)) return;
    AddFinding("rereads", Percent("dram_throughput") * (1 - *compulsory / moved),
               "more bytes move than must: keep what is used again in registers, shared memory or L2 (tiles; blocks "
               "that share data "
               "beside one another in the grid), and fuse steps that pass data through memory",
               fmt::format("{:.1f} MB from and to device memory, {:.1f} MB suffice", moved / 1e6, *compulsory / 1e6));
  }

  void FindInstructionLimits() {
    const double instructions = k_.Value("instructions");
    if (k_.Value("active_threads") > 0 && k_.Value("active_threads") < 24 && Percent("issue_active") > 0.3) {
      AddFinding("divergence", Percent("issue_active") * (1 - k_.Value("active_threads") / 32),
                 "many instructions run for part of a warp only: give the threads of a warp the same path, or handle "
                 "the ragged end apart",
                 fmt::format("{:.1f} of 32 threads active on average", k_.Value("active_threads")));
    }
    const auto uses_dtype = [&](DType dtype) {
      return std::any_of(context_.task->tensors.begin(), context_.task->tensors.end(),
                         [&](const TensorSpec& t) { return t.dtype == dtype; });
    };
    if (instructions > 0 && k_.Value("fp64_instructions") > 0.02 * instructions && !uses_dtype(DType::kFloat64)) {
      AddFinding(
          "double_precision", std::min(0.5, 4 * k_.Value("fp64_instructions") / instructions),
          "double-precision arithmetic where no tensor is double: write 1.0f, not 1.0, and call the float functions",
          fmt::format("{:.0f} % of the instructions", 100 * k_.Value("fp64_instructions") / instructions));
    }
    const bool uses_half_types = uses_dtype(DType::kFloat16) || uses_dtype(DType::kBFloat16);
    const bool counted = k_.Has("tensor_instructions") || k_.Has("limit_tensor");
    const bool idle = k_.Has("tensor_active") ? Percent("tensor_active") < kTensorMoves : k_.Value("tensor_instructions") <= 0;
    if (context_.task->workload == WorkloadClass::kGemm && uses_half_types && counted && idle &&
        k_.Value("limit_tensor") <= 0) {
      const double busy = std::max(Percent("sm_throughput"), Percent("limit_issue"));
      AddFinding("no_tensor_cores", std::max(0.3, busy),
                 "a product of 16-bit matrices without the tensor cores: use mma.sync, wgmma or CuTe",
                 k_.Has("tensor_active")
                     ? fmt::format("the tensor cores work {:.0f} % of the time", 100 * Percent("tensor_active"))
                     : "no tensor core instruction ran");
    }
    InstructionBound();
    // A narrow access that is otherwise coalesced costs instructions and queue slots.
    for (const MemorySite& site : k_.sites) {
      if (site.space != "global" || site.operation == "atomic" || site.bytes >= 8 || site.share < 0.2) continue;
      if (site.transfers_per_request > kWasteful * site.ideal_transfers + 0.5) continue;
      const double pressure = std::max(Percent("limit_issue"), Percent("limit_latency")) -
                              std::max(Percent("limit_dram"), Percent("limit_l2"));
      if (pressure <= 0.05) continue;
      AddFinding(
          "narrow_access", 0.5 * pressure * site.share,
          fmt::format("each thread moves {} bytes at a time: 16-byte vector accesses need {} times fewer instructions",
                      site.bytes, 16 / std::max(1, site.bytes)),
          fmt::format("{} bytes a thread, {:.0f} % of the kernel's sectors", site.bytes, 100 * site.share),
          site.location);
    }
  }

  // Reports if arithmetic or instruction issue is the limit, and not memory.
  void InstructionBound() {
    const double issue = Percent("issue_active"), pipe = std::max(Percent("sm_throughput"), issue);
    const double memory = std::max(Percent("memory_throughput"), Percent("dram_throughput"));
    if (Percent("tensor_active") > 0.5 || pipe < 0.8 || pipe < memory + 0.1) return;
    double gain = 0.5 * (pipe - memory);
    // The gain is at most the time beyond what the task's necessary operations take at the device's peak.
    const Result<double> flops = Flops(*context_.task, case_.dims);
    if (flops.ok() && *flops > 0 && context_.facts->fp32_flops > 0 && k_.duration_us > 0) {
      gain = std::min(gain, 1 - *flops / context_.facts->fp32_flops / (k_.duration_us * 1e-6));
    }
    AddFinding(
        "instruction_bound", gain,
        issue >= 0.8
            ? "schedulers issue nearly every cycle: fewer instructions for the same result (vector loads, less index "
              "arithmetic, cheaper functions within the tolerance, work shared between threads)"
            : "one pipe of the multiprocessors is busy nearly all the time: fewer of the instructions that run on it, "
              "of which "
              "the mix tells (conversions, exponentials, barriers, shared accesses, 64-bit integers)",
        fmt::format("the busiest pipe works {:.0f} % of the time, schedulers issue in {:.0f} % of the cycles, memory "
                    "works {:.0f} %",
                    100 * pipe, 100 * issue, 100 * memory));
  }

  void TensorBound() {
    if (Percent("tensor_active") < 0.85 || share_ < 0.5) return;
    found_.push_back({"tensor_bound",
                      "the tensor cores are busy nearly all the time: only fewer products or narrower numbers can help, and what else "
                      "is told here is worth little",
                      fmt::format("they work {:.0f} % of the time", 100 * Percent("tensor_active")), k_.kernel, "", case_.dims, 0});
  }

  const RuleContext& context_;
  const CaseProfile& case_;
  const KernelProfile& k_;
  double share_;  // this kernel's share of the plan's time
  double room_;   // share of the plan's time that exceeds the floor, an upper bound of all gains
  std::vector<ProfileFinding> found_;
};

// Returns whether the accesses of a source line were counted at any timed shape.
bool WasCounted(const Profile& profile, const std::string& location) {
  for (const CaseProfile& c : profile.cases) {
    for (const KernelProfile& kernel : c.kernels) {
      for (const MemorySite& site : kernel.sites) {
        if (!location.empty() && site.location == location) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::vector<ProfileFinding> FindFaults(const RuleContext& context, const Profile& profile) {
  std::vector<ProfileFinding> findings;
  // The same fault of the same line is kept once, for the case where its gain is largest.
  const auto keep = [&](ProfileFinding finding) {
    const auto known = std::find_if(findings.begin(), findings.end(), [&](const ProfileFinding& f) {
      return std::tie(f.kind, f.kernel, f.location) == std::tie(finding.kind, finding.kernel, finding.location);
    });
    if (known == findings.end()) {
      findings.push_back(std::move(finding));
    } else if (finding.gain > known->gain) {
      *known = std::move(finding);
    }
  };
  bool every_case_near_floor = !profile.cases.empty();
  double nearest = 0;
  for (const CaseProfile& c : profile.cases) {
    double total = 0, room = 1;
    for (const KernelProfile& kernel : c.kernels) total += kernel.duration_us;
    for (const CaseResult& result : context.evaluation->cases) {
      if (result.role != CaseRole::kTime || result.dims != c.dims) continue;
      if (result.floor_fraction) {
        room = std::clamp(1 - *result.floor_fraction, 0.0, 1.0);
        nearest = std::max(nearest, *result.floor_fraction);
      }
      // Memsets and library calls have no profile of their own. A GPU's kernels are counted in launches of their own, whose times do not add
      // up to the case's.
      if (!profile.modelled || !result.time_us || total <= 0) continue;
      const double time = result.time_us->median, others = (time - total) / time;
      if (others < kOtherSteps) continue;
      keep({"other_steps",
            "memsets and library calls take time beside the kernels: let a kernel write what a memset clears, or a counter reset itself",
            fmt::format("kernels take {:.2f} us of {:.2f} us", total, time), "", "", c.dims, others});
    }
    every_case_near_floor &= room < 1 - kNearFloor;
    for (const KernelProfile& kernel : c.kernels) {
      for (ProfileFinding& finding : Rules(context, c, kernel, total > 0 ? kernel.duration_us / total : 1, room).Run())
        keep(std::move(finding));
    }
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const ProfileFinding& a, const ProfileFinding& b) { return a.gain > b.gain; });
  if (findings.size() > kMostFindings) findings.resize(kMostFindings);
  if (every_case_near_floor) {
    findings.push_back({"near_floor",
                        "every timed shape runs nearly as fast as its bytes can move: only fewer bytes can help",
                        fmt::format("at {:.0f} % of the floor's speed at best, above {:.0f} % everywhere",
                                    100 * nearest, 100 * kNearFloor),
                        "",
                        "",
                        {},
                        0});
  }
  return findings;
}

void AttachProfile(const Task& task, const DeviceFacts& facts, Profile profile, Evaluation* evaluation) {
  profile.findings = FindFaults({&task, &facts, evaluation}, profile);
  std::vector<Finding> reported;
  for (const ProfileFinding& f : profile.findings) {
    std::string message = f.message;
    if (!f.evidence.empty()) message += "; evidence: " + f.evidence;
    if (f.gain > 0) message += fmt::format(" (up to {:.0f} % of the time)", 100 * f.gain);
    reported.push_back({f.kind, std::move(message), f.location, f.dims, !f.dims.empty(), 0});
  }
  std::erase_if(evaluation->findings, [&](const Finding& old) {
    const bool repeated = !old.location.empty() && std::any_of(reported.begin(), reported.end(), [&](const Finding& f) {
      return f.kind == old.kind && f.location == old.location;
    });
    // Old advice from a check shape, which is small, is dropped if the profile counted the line at a timed shape.
    return repeated || (!old.timed && IsAdvice(old.kind) && WasCounted(profile, old.location));
  });
  evaluation->findings.insert(evaluation->findings.begin(), reported.begin(), reported.end());
  evaluation->profile = std::move(profile);
}

}  // namespace hone
