// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Resolves a plan's steps to launches in children and turns their answers into outcomes.
#include "tuner/device/sim/sim_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <thread>
#include <tuple>

#include "base/clock.h"
#include "base/numbers/random.h"
#include "tuner/core/plan/argument_layout.h"
#include "tuner/core/task/packed_numbers.h"
#include "tuner/device/block_shares.h"
#include "tuner/device/host_convolution.h"
#include "tuner/device/host_tensor_ops.h"
#include "tuner/device/sim/drawn_tiles.h"
#include "tuner/device/sim/fill.h"
#include "tuner/device/sim/model/findings.h"
#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/device/sim/model/launch_profile.h"
#include "tuner/device/sim/model/sim_model.h"
#include "tuner/device/sim/sim_layout.h"
#include "tuner/device/sim/sim_memory.h"
#include "tuner/device/sim/sim_program.h"
#include "tuner/device/sim/worker/block_sample.h"
#include "tuner/values/draw.h"

namespace hone {

namespace {

using sim::LaunchAnswer;
using sim::LaunchMessage;
using sim::SimArena;
using sim::SimModule;
using sim::SimProcess;
using sim::SimProgram;

// A sampled launch begins no more blocks after this many observed accesses: a third of a second on one core.
constexpr uint64_t kSampleAccessBudget = 20'000'000;
// A cooperative launch whose blocks make at most this many accesses, estimated from a sample, runs as a whole: some
// three seconds on one core. Its blocks build on one another's results, which a sample lacks.
constexpr double kMostWholeCooperative = 2e8;
// Sampled blocks write about their share of the outputs. Blocks at the grid's edges may write less; if many blocks have
// nothing to do, the sample still contains some that do. Beyond these bounds the blocks divide the work while they run,
// or leave it to blocks outside the sample, and the sample does not represent the launch.
constexpr double kLeastShare = 0.8, kMostShare = 3;
// A sample that gives a time may have written less, down to this share, if its blocks differ so much that chance explains
// it. A secret sample may not: its caller draws more of them.
constexpr double kLeastUnevenShare = 0.5;
constexpr size_t kMostWrittenSlices = 4096;  // limit on the length of ModelledCost::written_slices
// Contents of unwritten shared and local memory in a launch whose time is modelled.
constexpr uint64_t kModelledFill = 0x6d6f64656c6c6564;
// Bytes of each thread's local memory that are filled again for each block: more than most kernels' frames.
constexpr uint32_t kFilledLocalBytes = 512;
// Makes the key of a tile's pieces from the key that its contents are drawn with.
constexpr uint64_t kPiecesPurpose = 0x706965636573;
// A library call of more operations than this is not computed: it would take a core of this process some ten seconds.
constexpr double kMostCallFlops = 1e11;
// Time limit for a child to start and run static initialisers: endless ones are the candidate's fault, a slow start of
// a process on a busy machine is not.
constexpr double kLoadSeconds = 30;

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

// Returns the bytes of one slice of a dense tensor; for a tensor without slices, the bytes of a row along its last
// axis.
int64_t SliceBytes(const TensorView& view) {
  const int64_t stride = view.slice_axis >= 0 ? view.strides[static_cast<size_t>(view.slice_axis)]
                         : view.shape.empty() ? 1 : view.shape.back();
  return stride * DTypeBytes(view.dtype);
}

// Returns whether a sample may have written less than its share because its blocks share the work unevenly.
bool IsUneven(const ModelledCost& cost) {
  return cost.written_share >= kLeastUnevenShare && SummarizeShares(cost.block_shares).MayBeAll();
}

LaunchOutcome MakeOutcome(LaunchStatus status, std::string detail) {
  LaunchOutcome outcome;
  outcome.status = status;
  outcome.detail = std::move(detail);
  return outcome;
}

// An arena as its owner holds it. Its destruction also removes the arena from the session's registry.
class ArenaHandle : public Arena {
 public:
  ArenaHandle(std::shared_ptr<SimArena> arena, std::shared_ptr<std::set<std::shared_ptr<SimArena>>> registry)
      : arena_(std::move(arena)), registry_(std::move(registry)) {
    registry_->insert(arena_);
  }
  ~ArenaHandle() override { registry_->erase(arena_); }
  uint64_t address(size_t block) const override { return arena_->address(block); }
  size_t blocks() const override { return arena_->blocks(); }
  SimArena& arena() { return *arena_; }

 private:
  std::shared_ptr<SimArena> arena_;
  std::shared_ptr<std::set<std::shared_ptr<SimArena>>> registry_;
};

// Cost of a plan's steps so far.
struct StepCost : ModelledCost {
  double last_fraction = 1;   // fraction of its blocks that the latest step ran
  std::vector<double> block_bytes;  // for each sampled block of the latest step, but those at the grid's corners: the
                                    // bytes that it wrote, times the number of the step's blocks
  bool call_skipped = false;  // a library call was not computed: its output is meaningless
};

class SimSession : public DeviceSession {
 public:
  SimSession(SimSessionOptions options, sim::GpuModel gpu) : options_(std::move(options)), gpu_(std::move(gpu)) {
    gpu_.facts.driver = options_.host_compiler.empty() ? "host compiler" : options_.host_compiler;
    if (options_.child_command.empty()) options_.child_command = {"/proc/self/exe", "__sim-child"};
    if (options_.workers <= 0) options_.workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  const DeviceFacts& facts() const override { return gpu_.facts; }
  bool lost() const override { return false; }

  Result<LoadOutcome> Load(const CompiledProgram& program) override;
  Result<bool> GlobalsChanged(LoadedProgram& program) override;
  Result<std::unique_ptr<Arena>> Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) override;
  Result<std::optional<std::string>> CheckGaps(Arena& arena) override {
    return static_cast<ArenaHandle&>(arena).arena().CheckGaps();
  }
  int64_t FreeBytes() const override;
  Status Draw(const DrawRequest& request) override;
  Status Poison(const TensorView& view) override;
  Status FillWith(const TensorView& view, const FillSpec& fill) override;
  Status Fill(uint64_t address, int64_t bytes, uint8_t value) override;
  Result<bool> IsZero(uint64_t address, int64_t bytes) override { return host::IsZero(Pointer(address), bytes); }
  Status CopyFromHost(uint64_t address, const void* source, int64_t bytes) override;
  Status CopyToHost(void* destination, uint64_t address, int64_t bytes) override {
    if (bytes > 0) std::memcpy(destination, Pointer(address), static_cast<size_t>(bytes));
    return Status::Ok();
  }
  Status GatherSlices(const TensorView& source, const TensorView& destination,
                      const std::vector<int64_t>& slices) override;
  Status GatherBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices) override;
  Result<ElementRuns> Written(const TensorView& view) override;
  Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) override {
    return RunPlan(static_cast<SimProgram&>(program), request, CacheState::kCold);
  }
  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) override;
  Result<std::vector<uint64_t>> Digest(const TensorView& view, uint64_t key) override {
    return host::Digest(view, key);
  }
  Result<SampleOutcome> TimeSample(const SampleRequest& request) override;
  Result<ProfileOutcome> Profile(const ProfileRequest& request) override;
  Result<double> TimeFloor(const Traffic& traffic, int sets, CacheState cache) override {
    const double stream_seconds = sim::ModelStream(gpu_, traffic.read_bytes, traffic.written_bytes, cache);
    (void)sets;  // every execution costs the same in the model
    return stream_seconds * 1e6;
  }
  Result<DeviceCondition> Condition() override {
    DeviceCondition steady;
    steady.sm_clock_mhz = gpu_.clock_hz / 1e6;
    return steady;
  }

 private:
  struct Located {
    std::shared_ptr<SimArena> arena;
    const SimArena::Block* block = nullptr;
  };
  // Returns the arena and the block that contain `address`; null pointers when there are none.
  Located Locate(uint64_t address) const;
  void MarkUnwritten(uint64_t address, int64_t bytes, bool unwritten);
  bool IsSparse(uint64_t address) const {
    const Located at = Locate(address);
    return at.block != nullptr && at.block->sparse;
  }
  void ForgiveGaps(const LaunchRequest& request);
  void MarkUnwrittenParts(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices);
  // Returns outputs of the bindings whose writes are tracked (BlockRequest::written) and that are still unwritten.
  std::vector<const TensorView*> FollowedTensors(const LaunchRequest& request) const;
  const std::vector<std::pair<uint64_t, uint64_t>>& StretchesOf(const Located& at, const TensorView& view);
  int64_t WrittenBytes(const std::vector<const TensorView*>& views) const;
  std::vector<int64_t> WrittenSlices(const std::vector<const TensorView*>& views) const;

  Result<LaunchOutcome> RunPlan(SimProgram& program, const LaunchRequest& request, CacheState cache);
  // Runs the steps once. `sample`: only a sample of the blocks. Sets *stuck if sampled blocks waited for other blocks.
  Result<LaunchOutcome> RunSteps(SimProgram& program, const LaunchRequest& request, bool sample, double limit_seconds,
                                 CacheState cache, bool* stuck);
  // The bytes that launches of a request may write, with their bits of the unwritten map.
  struct Snapshot {
    struct Part {
      uint64_t address = 0;
      std::vector<uint8_t> bytes, bits;
    };
    std::vector<Part> parts;
  };
  Snapshot TakeSnapshot(const LaunchRequest& request) const;
  static void Restore(const Snapshot& snapshot);
  // Runs some blocks of a dependent step without what the step before it wrote, until a thread waits for that step.
  // `before`: memory before that step. Returns an outcome that is not kOk if a thread read what it had not waited for. The
  // memory is as it was.
  Result<LaunchOutcome> RunBeforeWait(SimModule& module, const ResolvedStep& step, const LaunchRequest& request,
                                      const Snapshot& before, double limit_seconds);
  // Returns why a sample gives no time: its blocks did far more or less than their share of the work. Nothing if it
  // does.
  std::optional<std::string> WhyUnrepresentative(const LaunchOutcome& outcome) const;
  // Returns the outcome of a step that cannot be launched on this device; nothing if it can.
  std::optional<LaunchOutcome> Refusal(const ResolvedStep& step, const SimModule& module) const;
  Result<LaunchOutcome> RunStep(SimModule& module, const ResolvedStep& step, const LaunchRequest& request,
                                double limit_seconds, bool sample, bool restore, CacheState cache, StepCost* cost,
                                bool* incomplete, bool* stuck);
  Result<LaunchOutcome> RunCall(const ResolvedCall& call, const LaunchRequest& request, CacheState cache, StepCost* cost,
                                bool* incomplete);
  LaunchOutcome Judge(SimModule& module, const ResolvedStep& step, const SimProcess::Exchange& exchange,
                      double limit_seconds);

  SimSessionOptions options_;
  sim::GpuModel gpu_;
  const uint64_t fill_secret_ = SystemSeed();  // independent of an evaluation's seed, which must not reveal the
                                               // contents of undefined memory
  bool before_wait_ = false;                   // while RunBeforeWait runs a step
  uint64_t drawn_launches_ = 0;                // launches for which something was drawn from fill_secret_: each draw differs
  // Addresses of copies (GatherSlices, GatherBox) of which a sample has written only a part: the unwritten elements are
  // not compared. After a launch of all blocks they are wrong, and no copy is listed here.
  std::set<uint64_t> partial_;
  bool last_was_sample_ = false;
  bool cooperative_is_dear_ = false;  // the latest timed cooperative launch was too large to run as a whole
  // WrittenStretches by address, valid until the next launch or change of that memory: many parts of one output are
  // compared.
  std::map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>> stretches_;
  sim::DrawnTiles tiles_;
  std::vector<char> staging_;  // a tile on its way to a tensor that has memory of its own
  // The contents of tensors with memory of their own (SimArena::Block::sparse), by address: as drawn, with nothing
  // launched, copied or filled since.
  std::map<uint64_t, sim::DrawnContents> standing_;
  std::vector<KernelProfile>* profiles_ = nullptr;  // while Profile runs: receives a description of each launch; else
                                                    // null
  std::shared_ptr<std::set<std::shared_ptr<SimArena>>> arenas_ =
      std::make_shared<std::set<std::shared_ptr<SimArena>>>();
};

Result<DeviceSession::LoadOutcome> SimSession::Load(const CompiledProgram& program) {
  LoadOutcome outcome;
  std::map<std::string, SimModule> modules;
  for (const auto& [key, compiled] : program.modules) {
    SimModule module;
    Result<sim::ImageSymbols> symbols = sim::ReadImageSymbols(compiled.image);
    if (!symbols.ok()) {
      outcome.launch =
          MakeOutcome(LaunchStatus::kLaunchError, "the module does not load: " + symbols.status().message());
      return outcome;
    }
    module.image = compiled.image;
    module.symbols = std::move(*symbols);
    module.lowered = compiled.lowered;
    module.resources = compiled.resources;
    module.lines = std::make_unique<sim::SourceLines>(compiled.image, options_.scratch_directory);
    std::string refused;
    HONE_ASSIGN_OR_RETURN(module.process,
                          SimProcess::Start({options_.child_command, options_.workers, options_.sandbox}, module.image,
                                            module.symbols, kLoadSeconds, &refused));
    if (module.process == nullptr) {
      outcome.launch = MakeOutcome(LaunchStatus::kLaunchError, "the module does not load: " + refused);
      return outcome;
    }
    modules.emplace(key, std::move(module));
  }
  outcome.program = std::make_unique<SimProgram>(gpu_, std::move(modules));
  return outcome;
}

Result<bool> SimSession::GlobalsChanged(LoadedProgram& program) {
  const auto& modules = static_cast<SimProgram&>(program).modules;
  return std::any_of(modules.begin(), modules.end(), [](const auto& m) { return m.second.globals_changed; });
}

Result<std::unique_ptr<Arena>> SimSession::Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) {
  int64_t requested_bytes = 0, resident_bytes = 0;
  for (const BlockRequest& block : blocks) {
    if (block.bytes < 0 || block.bytes > gpu_.facts.memory_bytes) {
      return Status::Device(fmt::format("out of memory on the simulated GPU: a block of {} bytes", block.bytes));
    }
    requested_bytes += block.bytes;
    resident_bytes +=
        block.sampled && block.bytes > sim::kTileBytes ? sim::kTileBytes + sim::PieceBytes(block.bytes) : block.bytes;
  }
  if (requested_bytes > FreeBytes()) {
    return Status::Device(
        fmt::format("out of memory on the simulated GPU: {} bytes asked for, {} free", requested_bytes, FreeBytes()));
  }
  int64_t in_use = 0;
  for (const auto& arena : *arenas_) in_use += arena->resident_bytes();
  const int64_t host = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 4 * 3;
  if (resident_bytes + in_use > host) {
    return Status::Device(
        fmt::format("the host has no memory for {} bytes of the simulated GPU's", resident_bytes + in_use));
  }
  standing_.clear();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<SimArena> arena, SimArena::Make(blocks, gap_key));
  return std::unique_ptr<Arena>(std::make_unique<ArenaHandle>(std::shared_ptr<SimArena>(std::move(arena)), arenas_));
}

int64_t SimSession::FreeBytes() const {
  // Memory of the modelled GPU: blocks used only by sampled launches cost the host next to nothing.
  int64_t used_bytes = 0;
  for (const auto& arena : *arenas_) {
    for (size_t i = 0; i < arena->blocks(); ++i)
      used_bytes += static_cast<int64_t>(arena->block(i).end - arena->block(i).begin);
  }
  return std::max<int64_t>(0, gpu_.facts.memory_bytes - used_bytes);
}

SimSession::Located SimSession::Locate(uint64_t address) const {
  for (const auto& arena : *arenas_) {
    if (address >= arena->begin() && address < arena->end()) return {arena, arena->Find(address)};
  }
  return {};
}

void SimSession::MarkUnwritten(uint64_t address, int64_t bytes, bool unwritten) {
  const Located at = Locate(address);
  if (at.block != nullptr) at.arena->MarkUnwritten(address, bytes, unwritten);
}

Status SimSession::Draw(const DrawRequest& request) {
  const Located at = Locate(request.view.address);
  // For a large tensor only one tile is drawn, dense and without slices. The tensor consists of pieces of it.
  DrawRequest tile = request;
  tile.view.elements = sim::kTileBytes / DTypeBytes(request.view.dtype);
  tile.view.shape = {tile.view.elements};
  tile.view.strides = {1};
  tile.view.span_bytes = tile.view.elements * DTypeBytes(request.view.dtype);
  tile.view.slice_axis = -1;
  tile.permutation_key = tile.redraw_key = 0;
  tile.redrawn.clear();
  // Special values have one kind for each row. In a tile the rows of one kind lie together, so that most rows of the
  // tensor have one kind throughout. Tensors of one size show the same part of their tiles at the same place, because a
  // tiny epsilon only has an effect where everything it is added to is small.
  const bool special = request.values.distribution == Distribution::kSpecial;
  if (special) {
    const int64_t parts = sim::SpecialParts(SliceBytes(request.view));
    tile.view.shape = {parts, tile.view.elements / parts};
    tile.view.strides = {tile.view.elements / parts, 1};
  }
  const uint64_t pieces_key = draw::Hash(special ? 0 : request.key, request.pattern_key, kPiecesPurpose) | 1;
  if (at.block != nullptr && at.block->tiled && request.view.span_bytes > sim::kTileBytes) {
    tile.view.address = reinterpret_cast<uint64_t>(at.block->tile);
    HONE_RETURN_IF_ERROR(tiles_.Draw(tile));
    return at.arena->CopyPieceToTiles(*at.block, pieces_key);
  }
  if (at.block != nullptr && at.block->sparse) {
    stretches_.clear();
    // The tensor gets the contents that a tile would give it, but each byte has memory of its own. None of it counts as
    // written by a launch. The memory is kept: page faults for hundreds of megabytes would cost more than all else.
    if (request.view.span_bytes <= sim::kTileBytes) {
      standing_.erase(request.view.address);
      HONE_RETURN_IF_ERROR(at.arena->ForgetWrites(*at.block));
      at.arena->SetDrawn(*at.block, /*drawn=*/true);
      return host::Draw(request);
    }
    const sim::DrawnContents contents(tile);
    if (const auto known = standing_.find(request.view.address);
        known != standing_.end() && known->second == contents) {
      return Status::Ok();  // drawn before as one of the inputs; this is the draw before a launch that updates the
                            // tensor
    }
    standing_.erase(request.view.address);
    HONE_RETURN_IF_ERROR(at.arena->ForgetWrites(*at.block));
    at.arena->SetDrawn(*at.block, /*drawn=*/true);
    staging_.resize(static_cast<size_t>(sim::kTileBytes));
    tile.view.address = reinterpret_cast<uint64_t>(staging_.data());
    HONE_RETURN_IF_ERROR(tiles_.Draw(tile));
    // The contents equal those of a tiled block of this size, counted from the start of the block's own pages.
    const int64_t before = static_cast<int64_t>(request.view.address - at.block->map_begin);
    char* const pages = static_cast<char*>(Pointer(at.block->map_begin));
    sim::ForEachPiece(
        before + request.view.span_bytes, sim::PieceBytes(static_cast<int64_t>(at.block->end - at.block->begin)),
        pieces_key, [&](int64_t from, int64_t bytes, int64_t in_tile) {
          const int64_t end = from + bytes;
          for (int64_t to = std::max(from, before); to < end;) {
            const int64_t in = (in_tile + to - from) % sim::kTileBytes, part = std::min(end - to, sim::kTileBytes - in);
            std::memcpy(pages + to, staging_.data() + in, static_cast<size_t>(part));
            to += part;
          }
          return true;
        });
    standing_.emplace(request.view.address, contents);
    return Status::Ok();
  }
  MarkUnwritten(request.view.address, request.view.span_bytes, /*unwritten=*/false);
  return host::Draw(request);
}

Status SimSession::Poison(const TensorView& view) {
  standing_.erase(view.address);
  const Located at = Locate(view.address);
  if (at.block != nullptr && at.block->tiled) {
    // The contents are not compared, but what the previous launch left is removed: a step that reads parts which a
    // sample of the step before has not written must read the same values in every launch.
    at.arena->FillTile(*at.block, 0);
    return Status::Ok();
  }
  if (at.block != nullptr && at.block->sparse) {
    stretches_.clear();
    return at.arena->Forget(*at.block);
  }
  // The pattern is a NaN that arithmetic does not produce, or an odd integer; the comparison recognises it as
  // unwritten. Reading it is a finding, whatever the dtype.
  MarkUnwritten(view.address, view.span_bytes, /*unwritten=*/true);
  host::Poison(view);
  return Status::Ok();
}

Status SimSession::FillWith(const TensorView& view, const FillSpec& fill) {
  const Located at = Locate(view.address);
  // Memory for launches of samples starts with one pattern, so that times repeat. There may be gigabytes of it.
  if (at.block != nullptr && (at.block->tiled || at.block->sparse || at.block->sampled)) return Poison(view);
  host::FillWith(view, fill);
  MarkUnwritten(view.address, view.span_bytes, /*unwritten=*/true);
  return Status::Ok();
}

Status SimSession::Fill(uint64_t address, int64_t bytes, uint8_t value) {
  if (bytes <= 0) return Status::Ok();
  standing_.erase(address);
  const Located at = Locate(address);
  if (at.block != nullptr && at.block->tiled) {
    at.arena->FillTile(*at.block, value);
    return Status::Ok();
  }
  if (at.block != nullptr && at.block->sparse) {
    stretches_.clear();
    HONE_RETURN_IF_ERROR(at.arena->Forget(*at.block));
    if (value == 0) MarkUnwritten(address, bytes, /*unwritten=*/false);
    return Status::Ok();
  }
  if (value == 0 || at.block == nullptr || at.block->sampled) {
    std::memset(Pointer(address), value, static_cast<size_t>(bytes));
  } else {
    const uint64_t key = at.arena->NextFillKey();
    char* const memory = static_cast<char*>(Pointer(address));
    for (int64_t done = 0; done < bytes; done += 8) {
      const uint64_t word = sim::FillWord(key, static_cast<uint64_t>(done) / 8);
      std::memcpy(memory + done, &word, static_cast<size_t>(std::min<int64_t>(8, bytes - done)));
    }
  }
  MarkUnwritten(address, bytes, value != 0);
  return Status::Ok();
}

Status SimSession::CopyFromHost(uint64_t address, const void* source, int64_t bytes) {
  if (bytes <= 0) return Status::Ok();
  standing_.clear();
  if (const Located at = Locate(address); at.block != nullptr && at.block->sparse) {
    at.arena->SetDrawn(*at.block, /*drawn=*/true);
  }
  std::memcpy(Pointer(address), source, static_cast<size_t>(bytes));
  MarkUnwritten(address, bytes, /*unwritten=*/false);
  return Status::Ok();
}

Status SimSession::GatherSlices(const TensorView& source, const TensorView& destination,
                                const std::vector<int64_t>& slices) {
  standing_.clear();
  MarkUnwritten(destination.address, destination.span_bytes, /*unwritten=*/false);
  HONE_RETURN_IF_ERROR(host::GatherSlices(source, destination, slices));
  if (source.slice_axis >= 0) MarkUnwrittenParts(source, destination, {{source.slice_axis, slices}});
  return Status::Ok();
}

Status SimSession::GatherBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices) {
  standing_.clear();
  MarkUnwritten(destination.address, destination.span_bytes, /*unwritten=*/false);
  HONE_RETURN_IF_ERROR(host::GatherBox(source, destination, kept_indices));
  MarkUnwrittenParts(source, destination, kept_indices);
  return Status::Ok();
}

const std::vector<std::pair<uint64_t, uint64_t>>& SimSession::StretchesOf(const Located& at, const TensorView& view) {
  const auto known = stretches_.find(view.address);
  if (known != stretches_.end()) return known->second;
  return stretches_.emplace(view.address, at.arena->WrittenStretches(view.address, view.span_bytes)).first->second;
}

// Marks the elements of a copy that no launch has written. After a launch of a sample they are no outputs and are not
// compared; after a launch of all blocks they get the poison pattern, and are wrong.
void SimSession::MarkUnwrittenParts(const TensorView& source, const TensorView& destination,
                                    const KeptIndices& kept_indices) {
  const Located from = Locate(source.address);
  partial_.erase(destination.address);
  if (from.block == nullptr || !from.block->sparse) return;
  const std::vector<std::pair<uint64_t, uint64_t>>& written_stretches = StretchesOf(from, source);
  const uint64_t width = static_cast<uint64_t>(DTypeBytes(source.dtype));
  const auto has = [&](uint64_t address) {
    auto after = std::upper_bound(written_stretches.begin(), written_stretches.end(), address,
                                  [](uint64_t a, const auto& s) { return a < s.first; });
    return after != written_stretches.begin() && (--after)->second >= address + width;
  };
  host::ForEachInBox(source, destination, kept_indices, [&](int64_t from_element, int64_t to_element) {
    if (has(source.address + static_cast<uint64_t>(from_element) * width)) return;
    const uint64_t to = destination.address + static_cast<uint64_t>(to_element) * width;
    if (last_was_sample_) {
      MarkUnwritten(to, static_cast<int64_t>(width), /*unwritten=*/true);
      partial_.insert(destination.address);
    } else {
      const uint64_t poison = host::PoisonBits(source.dtype);
      std::memcpy(Pointer(to), &poison, width);
    }
  });
}

Result<ElementRuns> SimSession::Written(const TensorView& view) {
  const Located at = Locate(view.address);
  if (at.block == nullptr || !at.block->sparse) return DeviceSession::Written(view);
  const auto width = static_cast<uint64_t>(DTypeBytes(view.dtype));
  ElementRuns runs;
  for (const auto& [begin, end] : StretchesOf(at, view)) {
    const uint64_t first = (begin - view.address + width - 1) / width, last = (end - view.address) / width;
    if (first < last) runs.emplace_back(static_cast<int64_t>(first), static_cast<int64_t>(last));
  }
  return runs;
}

Result<Comparison> SimSession::Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) {
  const double* const expected = static_cast<const double*>(Pointer(reference));
  if (partial_.erase(output.address) > 0) {
    // The copy is dense (GatherSlices, GatherBox). Its unwritten elements are set to the reference, so that only the
    // others are judged.
    const Located at = Locate(output.address);
    const uint64_t width = static_cast<uint64_t>(DTypeBytes(output.dtype));
    const int64_t numbers = NumbersPerElement(output.dtype);
    for (int64_t i = 0; i < output.elements; ++i) {
      const uint64_t address = output.address + static_cast<uint64_t>(i) * width;
      const uint8_t bits = *reinterpret_cast<const uint8_t*>(sim::UnwrittenByte(address));
      if (at.block == nullptr || (bits >> (address & 7) & 1) == 0) continue;
      for (int64_t part = 0; part < numbers; ++part) {
        host::WriteNumber(output.dtype, static_cast<char*>(Pointer(address)), part, expected[i * numbers + part]);
      }
    }
  }
  return host::Compare(output, expected, tolerance);
}

// Returns the outputs of a launch whose written parts are followed, because their memory is sparse.
std::vector<const TensorView*> SimSession::FollowedTensors(const LaunchRequest& request) const {
  std::vector<const TensorView*> followed;
  for (const auto& [name, view] : request.bindings->tensors) {
    const Located at = Locate(view.address);
    if (request.bindings->read_only.count(name) != 0 || at.block == nullptr || !at.block->sparse || view.elements == 0)
      continue;
    const bool known =
        std::any_of(followed.begin(), followed.end(), [&view = view](const TensorView* v) { return v->address == view.address; });
    if (known || !at.arena->WrittenStretches(view.address, view.span_bytes).empty()) continue;
    followed.push_back(&view);
  }
  return followed;
}

// Returns how many bytes of the tensors have been written.
int64_t SimSession::WrittenBytes(const std::vector<const TensorView*>& views) const {
  int64_t bytes = 0;
  for (const TensorView* const view : views) {
    const Located at = Locate(view->address);
    for (const auto& [begin, end] : at.arena->WrittenStretches(view->address, view->span_bytes)) {
      bytes += static_cast<int64_t>(end - begin);
    }
  }
  return bytes;
}

// Returns the slices of the tensors of which any element has been written, ascending.
std::vector<int64_t> SimSession::WrittenSlices(const std::vector<const TensorView*>& views) const {
  std::set<int64_t> slices;
  for (const TensorView* const view : views) {
    if (view->slice_axis < 0) continue;
    const Located at = Locate(view->address);
    const size_t axis = static_cast<size_t>(view->slice_axis);
    const uint64_t width = static_cast<uint64_t>(DTypeBytes(view->dtype));
    const int64_t stride = std::max<int64_t>(1, view->strides[axis]), extent = view->shape[axis];
    for (const auto& [begin, end] : at.arena->WrittenStretches(view->address, view->span_bytes)) {
      const int64_t first = static_cast<int64_t>((begin - view->address) / width);
      const int64_t last = static_cast<int64_t>((end - 1 - view->address) / width);
      // Steps from one slice to the next within the range.
      for (int64_t element = first; element <= last && slices.size() < kMostWrittenSlices;
           element = (element / stride + 1) * stride) {
        slices.insert(element / stride % extent);
      }
    }
  }
  return {slices.begin(), slices.end()};
}

// Returns why a sample of blocks does not stand for the whole launch; nullopt: it does.
std::optional<std::string> SimSession::WhyUnrepresentative(const LaunchOutcome& outcome) const {
  if (!outcome.cost || outcome.cost->sampled_block_fraction >= 1 || outcome.cost->written_share < 0)
    return std::nullopt;
  const double share = outcome.cost->written_share;
  if (share >= kLeastShare && share <= kMostShare) return std::nullopt;
  if (share < kLeastShare && IsUneven(*outcome.cost)) return std::nullopt;
  return fmt::format(
      "the simulated GPU cannot time this launch: a sample of its blocks wrote {:.3g} times its share of the "
      "outputs: either elements are left unwritten at this size, or blocks do not divide the work evenly (a queue that "
      "blocks draw from, say, is drained by the first of them)",
      share);
}

// Returns the outcome of a step that cannot be launched on this device; nullopt: it can.
std::optional<LaunchOutcome> SimSession::Refusal(const ResolvedStep& step, const SimModule& module) const {
  const DeviceFacts& facts = gpu_.facts;
  const auto refuse = [&](LaunchStatus status, const std::string& why) {
    return MakeOutcome(status, fmt::format("{}: {}", step.kernel, why));
  };
  if (module.lowered.count(step.kernel) == 0) return refuse(LaunchStatus::kLaunchError, "no such kernel in the module");
  for (const int64_t extent : step.cluster) {
    if (extent > 1) return refuse(LaunchStatus::kUnsupported, "thread-block clusters are not simulated");
  }
  const auto has_map = [](const auto& self, const std::vector<ResolvedArgument>& args) -> bool {
    return std::any_of(args.begin(), args.end(), [&](const ResolvedArgument& a) {
      return a.kind == ArgumentKind::kTensorMap || self(self, a.fields);
    });
  };
  if (has_map(has_map, step.args)) return refuse(LaunchStatus::kUnsupported, "tensor maps are not simulated");
  constexpr std::array<int64_t, 3> kMaxGrid{2147483647, 65535, 65535}, kMaxBlock{1024, 1024, 64};
  int64_t threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (step.grid[i] < 1 || step.grid[i] > kMaxGrid[i]) {
      return refuse(LaunchStatus::kLaunchError,
                    fmt::format("grid extent {} is {}: 1 to {} is allowed", i, step.grid[i], kMaxGrid[i]));
    }
    if (step.block[i] < 1 || step.block[i] > kMaxBlock[i]) {
      return refuse(LaunchStatus::kLaunchError,
                    fmt::format("block extent {} is {}: 1 to {} is allowed", i, step.block[i], kMaxBlock[i]));
    }
    threads *= step.block[i];
  }
  if (threads > facts.max_threads_per_block) {
    return refuse(LaunchStatus::kLaunchError,
                  fmt::format("{} threads a block: at most {} are allowed", threads, facts.max_threads_per_block));
  }
  const int64_t shared = step.shared_bytes + module.StaticShared(step.kernel);
  if (step.shared_bytes < 0 || shared > facts.smem_optin) {
    return refuse(LaunchStatus::kResourceLimit,
                  fmt::format("{} bytes of shared memory a block: at most {} are there", shared, facts.smem_optin));
  }
  if (step.cooperative) {
    const int64_t room = sim::BlocksPerSm(facts, threads, shared) * facts.sm_count;
    const double blocks =
        static_cast<double>(step.grid[0]) * static_cast<double>(step.grid[1]) * static_cast<double>(step.grid[2]);
    if (blocks > static_cast<double>(room)) {
      return refuse(LaunchStatus::kLaunchError,
                    fmt::format("a cooperative launch of {} blocks: {} are resident at a time", blocks, room));
    }
  }
  return std::nullopt;
}

// Runs a plan, if asked for on a sample of blocks. A sample on which blocks wait for blocks that do not run is repeated
// with all blocks, and so is one of a cooperative launch that stands for few accesses or for no equal part of the work.
Result<LaunchOutcome> SimSession::RunPlan(SimProgram& program, const LaunchRequest& request, CacheState cache) {
  const Stopwatch watch;
  bool stuck = false;
  const bool sample = request.sample_blocks && !request.trusted;
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome,
                        RunSteps(program, request, sample, request.limit_seconds, cache, &stuck));
  if (sample && request.sample_key != 0) {
    // A sample that is stuck proves nothing. The caller can still run all blocks.
    if (stuck) outcome.cost = ModelledCost();
    return outcome;
  }
  if (!stuck) {
    if (outcome.status != LaunchStatus::kOk || !sample) return outcome;
    const std::optional<std::string> why = WhyUnrepresentative(outcome);
    const bool meet = std::any_of(request.plan->steps.begin(), request.plan->steps.end(), [](const ResolvedStep& step) { return step.cooperative; });
    const double fraction = outcome.cost ? outcome.cost->sampled_block_fraction : 1;
    const bool few = fraction < 1 && outcome.cost->accesses / std::max(fraction, 1e-9) <= kMostWholeCooperative;
    if (meet) cooperative_is_dear_ = fraction < 1 && !why && !few;
    if (!meet || (!why && !few)) return why ? MakeOutcome(LaunchStatus::kUnsupported, *why) : outcome;
  }
  // Blocks that wait for other blocks (a look-back scan) cannot be sampled, so all blocks run. Workspaces that must be
  // zero on entry may hold what the first attempt left, and are cleared; memset steps clear the others.
  for (const ResolvedWorkspace& workspace : request.plan->workspaces) {
    const auto bound = request.bindings->workspaces.find(workspace.name);
    if (!workspace.zero_on_entry || bound == request.bindings->workspaces.end()) continue;
    HONE_RETURN_IF_ERROR(Fill(bound->second, workspace.bytes, 0));
  }
  stuck = false;
  return RunSteps(program, request, /*sample=*/false, request.limit_seconds - watch.Seconds(), cache, &stuck);
}

// Runs the steps of a plan one after another. `sample`: only some blocks of each. `stuck` is set if a block waited for
// one that was left out.
Result<LaunchOutcome> SimSession::RunSteps(SimProgram& program, const LaunchRequest& request, bool sample,
                                           double limit_seconds, CacheState cache, bool* stuck) {
  const Stopwatch watch;
  LaunchOutcome outcome;
  StepCost cost;
  cost.sampled_block_fraction = 1;
  if (!request.trusted) stretches_.clear();
  if (profiles_ != nullptr) profiles_->clear();  // left by an attempt that got stuck
  for (auto& [key, module] : program.modules) module.globals_changed = false;
  std::set<std::string> restored;
  // Adds up `share`: the share of the outputs that each step writes, divided by the fraction of its blocks that ran.
  const std::vector<const TensorView*> followed = sample ? FollowedTensors(request) : std::vector<const TensorView*>();
  // An in-place tensor without slices may be written in part, by a scatter, say.
  std::vector<const TensorView*> counted;
  std::copy_if(followed.begin(), followed.end(), std::back_inserter(counted),
               [&](const TensorView* view) { return view->slice_axis >= 0 || !Locate(view->address).block->drawn; });
  double all_bytes = 0, share = 0;
  for (const TensorView* const view : counted)
    all_bytes += static_cast<double>(view->elements * DTypeBytes(view->dtype));
  int64_t written_bytes = 0;
  const auto count = [&](double fraction) {
    if (counted.empty()) return;
    const int64_t written_now = WrittenBytes(counted);
    share += static_cast<double>(written_now - written_bytes) / std::max(fraction, 1e-12) / std::max(all_bytes, 1.0);
    written_bytes = written_now;
  };
  bool incomplete = false;
  int kernels = 0;
  Snapshot before;  // memory before the latest launch, if a step depends on that launch
  for (size_t number = 0; number < request.plan->steps.size(); ++number) {
    const ResolvedStep& step = request.plan->steps[number];
    if (step.is_memset) {
      const auto tensor = request.bindings->tensors.find(step.target);
      const auto workspace = request.bindings->workspaces.find(step.target);
      if (tensor == request.bindings->tensors.end() && workspace == request.bindings->workspaces.end()) {
        return Status::InvalidArgument("a memset step names '" + step.target + "', which is not bound");
      }
      const uint64_t address = tensor != request.bindings->tensors.end() ? tensor->second.address : workspace->second;
      const Located at = Locate(address);
      if (at.block != nullptr && at.block->tiled) {
        at.arena->FillTile(*at.block, static_cast<uint8_t>(step.memset_value));
      } else {
        std::memset(Pointer(address), static_cast<int>(step.memset_value), static_cast<size_t>(step.memset_bytes));
        MarkUnwritten(address, step.memset_bytes, /*unwritten=*/false);
      }
      cost.time_us += 1e6 * sim::ModelStream(gpu_, 0, static_cast<double>(step.memset_bytes), cache);
      count(1);
      continue;
    }
    if (step.call) {
      HONE_ASSIGN_OR_RETURN(LaunchOutcome called, RunCall(*step.call, request, cache, &cost, &incomplete));
      outcome.findings.insert(outcome.findings.end(), called.findings.begin(), called.findings.end());
      if (called.status != LaunchStatus::kOk) {
        outcome.status = called.status;
        outcome.detail = std::move(called.detail);
        return outcome;
      }
      count(1);
      continue;
    }
    const auto module = program.modules.find(step.binding_key);
    if (module == program.modules.end()) {
      return Status::InvalidArgument(fmt::format("the program has no module for '{}'", step.binding_key));
    }
    if (std::optional<LaunchOutcome> refusal = Refusal(step, module->second)) return *refusal;
    if (step.programmatic_dependent_launch && !before.parts.empty()) {
      HONE_ASSIGN_OR_RETURN(LaunchOutcome early, RunBeforeWait(module->second, step, request, before, limit_seconds - watch.Seconds()));
      if (early.status != LaunchStatus::kOk) return early;
    }
    before = Snapshot();
    const bool one_depends = number + 1 < request.plan->steps.size() && request.plan->steps[number + 1].programmatic_dependent_launch;
    if (one_depends && !request.sample_blocks && !request.trusted) before = TakeSnapshot(request);
    const bool first = restored.insert(step.binding_key).second;
    HONE_ASSIGN_OR_RETURN(LaunchOutcome one,
                          RunStep(module->second, step, request, limit_seconds - watch.Seconds(),
                                  sample && (!step.cooperative || request.sample_key == 0 || cooperative_is_dear_), first, cache, &cost, &incomplete, stuck));
    ++kernels;
    if (*stuck) return outcome;
    if (one.status != LaunchStatus::kOk && cost.sampled_block_fraction < 1 && one.status != LaunchStatus::kTimedOut) {
      // The values of an earlier step's other blocks may be missing, so this step is at fault only if it also fails
      // after all blocks have run.
      *stuck = true;
      return outcome;
    }
    count(cost.last_fraction);
    // In a secret sample, a read of values that other blocks write makes the sample incomplete instead.
    if (one.status == LaunchStatus::kOk && cost.sampled_block_fraction < 1 && request.sample_key == 0)
      ForgiveGaps(request);
    outcome.findings.insert(outcome.findings.end(), one.findings.begin(), one.findings.end());
    if (one.status != LaunchStatus::kOk) {
      outcome.status = one.status;
      outcome.detail = std::move(one.detail);
      return outcome;
    }
  }
  if (sample) {
    // A timed launch of several steps forgives unwritten elements between its steps (ForgiveGaps). Only if there is a
    // single step are all written values certainly its own.
    const bool all_blocks_ran = cost.sampled_block_fraction >= 1;
    const bool forgiven = request.sample_key == 0 && kernels > 1;
    const bool tiled =
        std::any_of(request.bindings->tensors.begin(), request.bindings->tensors.end(), [&](const auto& tensor) {
          const Located at = Locate(tensor.second.address);
          return request.bindings->read_only.count(tensor.first) == 0 && at.block != nullptr && at.block->tiled;
        });
    cost.comparable = cost.complete = !tiled && !cost.call_skipped && (all_blocks_ran || (!incomplete && !forgiven));
    if (!followed.empty()) {
      cost.written_slices = WrittenSlices(followed);
      const bool fresh = std::none_of(followed.begin(), followed.end(), [&](const TensorView* view) { return Locate(view->address).block->drawn; });
      if (!all_blocks_ran && fresh && request.plan->steps.size() == 1 && all_bytes > 0) {
        for (const double bytes : cost.block_bytes) cost.block_shares.push_back(bytes / all_bytes);
      }
      if (!counted.empty()) cost.written_share = share;
      const bool uneven = request.sample_key == 0 && !counted.empty() && share < kLeastShare && IsUneven(cost);
      // If the sampled blocks did less than their share of the work by chance, they stand for a smaller part of the
      // grid.
      if (!all_blocks_ran && !counted.empty() && share < 1 && (share >= kLeastShare || uneven)) cost.time_us /= share;
      if (!all_blocks_ran && !counted.empty() && ((share < kLeastShare && !uneven) || share > kMostShare)) cost.comparable = false;
    }
  }
  if (!request.trusted) last_was_sample_ = sample && cost.sampled_block_fraction < 1;
  outcome.cost = cost;
  return outcome;
}

SimSession::Snapshot SimSession::TakeSnapshot(const LaunchRequest& request) const {
  Snapshot snapshot;
  const auto take = [&](uint64_t address, int64_t bytes) {
    const Located at = Locate(address);
    if (at.block == nullptr || bytes <= 0 || at.block->tiled || at.block->sparse) return;
    const auto* const memory = static_cast<const uint8_t*>(Pointer(address));
    const auto* const first = static_cast<const uint8_t*>(Pointer(sim::UnwrittenByte(address)));
    const auto* const last = static_cast<const uint8_t*>(Pointer(sim::UnwrittenByte(address + static_cast<uint64_t>(bytes) - 1)));
    snapshot.parts.push_back({address, {memory, memory + bytes}, {first, last + 1}});
  };
  for (const auto& [name, view] : request.bindings->tensors) {
    if (request.bindings->read_only.count(name) == 0) take(view.address, view.span_bytes);
  }
  for (const ResolvedWorkspace& workspace : request.plan->workspaces) {
    const auto bound = request.bindings->workspaces.find(workspace.name);
    if (bound != request.bindings->workspaces.end()) take(bound->second, workspace.bytes);
  }
  return snapshot;
}

void SimSession::Restore(const Snapshot& snapshot) {
  for (const Snapshot::Part& part : snapshot.parts) {
    std::memcpy(Pointer(part.address), part.bytes.data(), part.bytes.size());
    std::memcpy(Pointer(sim::UnwrittenByte(part.address)), part.bits.data(), part.bits.size());
  }
}

Result<LaunchOutcome> SimSession::RunBeforeWait(SimModule& module, const ResolvedStep& step, const LaunchRequest& request,
                                                const Snapshot& before, double limit_seconds) {
  const Snapshot after = TakeSnapshot(request);
  Snapshot hidden = before;
  for (size_t i = 0; i < hidden.parts.size(); ++i) {
    Snapshot::Part& part = hidden.parts[i];
    for (size_t byte = 0; byte < part.bytes.size(); ++byte) {
      if (part.bytes[byte] == after.parts[i].bytes[byte]) continue;
      const uint64_t address = part.address + byte;
      part.bits[(address >> 3) - (part.address >> 3)] |= static_cast<uint8_t>(1u << (address & 7));
    }
  }
  Restore(hidden);
  // A step that waits for a value of the step before, without the function for it, would never end.
  constexpr double kMostSeconds = 5;
  StepCost cost;
  bool incomplete = false, stuck = false;
  before_wait_ = true;
  Result<LaunchOutcome> outcome = RunStep(module, step, request, std::min(limit_seconds, kMostSeconds), /*sample=*/false,
                                          /*restore=*/false, CacheState::kCold, &cost, &incomplete, &stuck);
  before_wait_ = false;
  Restore(after);
  if (!outcome.ok()) return outcome;
  // Whatever else happens with the old values, happens to no thread that waits.
  const bool read_early = std::any_of(outcome->findings.begin(), outcome->findings.end(), [](const Finding& finding) {
    return finding.kind == "uninitialised_read" && finding.message.find(sim::kReadBeforeWait) != std::string::npos;
  });
  if (!read_early) return LaunchOutcome();
  outcome->status = LaunchStatus::kRuleViolation;
  return outcome;
}

// Computes a library call on the processor, unless the launch is only timed.
Result<LaunchOutcome> SimSession::RunCall(const ResolvedCall& call, const LaunchRequest& request, CacheState cache,
                                          StepCost* cost, bool* incomplete) {
  standing_.clear();
  const auto address = [&](const ResolvedOperand& operand) {
    const auto tensor = request.bindings->tensors.find(operand.name);
    const uint64_t base = tensor != request.bindings->tensors.end() ? tensor->second.address : request.bindings->workspaces.at(operand.name);
    return base + static_cast<uint64_t>(operand.byte_offset);
  };
  const double seconds = sim::ModelProduct(gpu_, call, cache);
  cost->time_us += seconds * 1e6;
  cost->calls_us += seconds * 1e6;
  cost->dram_bytes += call.bytes();
  if (profiles_ != nullptr) profiles_->push_back({.kernel = call.Describe(), .duration_us = seconds * 1e6});
  const uint64_t out = address(call.out);
  if (request.sample_blocks && !request.trusted && request.sample_key == 0) {
    cost->call_skipped = true;
    MarkUnwritten(out, call.out.bytes, /*unwritten=*/false);
    return LaunchOutcome();
  }
  if (call.flops() > kMostCallFlops) {
    return MakeOutcome(LaunchStatus::kUnsupported,
                       fmt::format("{}: its {:.3g} operations are too many for the simulated GPU, which computes "
                                   "{:.3g} in a launch that is checked",
                                   call.Describe(), call.flops(), kMostCallFlops));
  }
  const auto defined = [&](const ResolvedOperand& operand) {
    const Located at = Locate(address(operand));
    if (at.block == nullptr || at.block->tiled || at.block->drawn || operand.bytes == 0) return true;
    const auto stretches = at.arena->WrittenStretches(address(operand), operand.bytes);
    return stretches.size() == 1 && stretches[0].first <= address(operand) &&
           stretches[0].second >= address(operand) + static_cast<uint64_t>(operand.bytes);
  };
  std::vector<const ResolvedOperand*> read_operands = {&call.a, &call.b};
  if (call.bias) read_operands.push_back(&*call.bias);
  for (const ResolvedOperand* const operand : read_operands) {
    if (defined(*operand)) continue;
    if (request.sample_blocks && !request.trusted) {
      *incomplete = true;  // blocks outside the sample would have written what the call reads
      continue;
    }
    LaunchOutcome outcome = MakeOutcome(LaunchStatus::kRuleViolation,
                                    fmt::format("{} reads '{}' where nobody has written it", call.Describe(), operand->name));
    outcome.findings.push_back({"uninitialised_read", outcome.detail, ""});
    return outcome;
  }
  host::ComputeCall(call, Pointer(address(call.a)), Pointer(address(call.b)), call.bias ? Pointer(address(*call.bias)) : nullptr,
               Pointer(out), options_.workers);
  MarkUnwritten(out, call.out.bytes, /*unwritten=*/false);
  return LaunchOutcome();
}

// Marks the elements that a sampled step's other blocks would write as written. A later step that reads them is judged
// by the correctness checks, which run all blocks.
void SimSession::ForgiveGaps(const LaunchRequest& request) {
  for (const ResolvedWorkspace& workspace : request.plan->workspaces) {
    const auto bound = request.bindings->workspaces.find(workspace.name);
    if (bound != request.bindings->workspaces.end() && !IsSparse(bound->second))
      MarkUnwritten(bound->second, workspace.bytes, /*unwritten=*/false);
  }
  for (const auto& [name, view] : request.bindings->tensors) {
    // Reads of a sparse block never count against a sample.
    if (request.bindings->read_only.count(name) == 0 && !IsSparse(view.address))
      MarkUnwritten(view.address, view.span_bytes, /*unwritten=*/false);
  }
}

// Launches one kernel in the child process, and takes in what it wrote, counted and found.
Result<LaunchOutcome> SimSession::RunStep(SimModule& module, const ResolvedStep& step, const LaunchRequest& request,
                                          double limit_seconds, bool sample, bool restore, CacheState cache,
                                          StepCost* cost, bool* incomplete, bool* stuck) {
  standing_.clear();
  if (!request.trusted) stretches_.clear();
  if (limit_seconds <= 0) return MakeOutcome(LaunchStatus::kTimedOut, step.kernel + ": no time left for this step");
  LaunchMessage message;
  message.kernel_symbol = module.lowered.at(step.kernel);
  message.restore_globals = restore;
  sim::LaunchSpec& spec = message.spec;
  for (size_t i = 0; i < 3; ++i) {
    spec.grid[i] = static_cast<uint32_t>(step.grid[i]);
    spec.block[i] = static_cast<uint32_t>(step.block[i]);
  }
  spec.dynamic_shared = static_cast<uint32_t>(step.shared_bytes);
  spec.cooperative = step.cooperative;
  spec.sm_count = static_cast<uint32_t>(gpu_.facts.sm_count);
  spec.in_order = request.sample_blocks && !request.trusted;
  const int64_t shared = step.shared_bytes + module.StaticShared(step.kernel);
  const int64_t per_sm = std::max<int64_t>(1, sim::BlocksPerSm(gpu_.facts, spec.block_threads(), shared));
  const int64_t resident =
      std::min<int64_t>(per_sm, static_cast<int64_t>((spec.grid_blocks() + spec.sm_count - 1) / spec.sm_count));
  spec.l1_bytes = static_cast<uint64_t>(std::max<int64_t>(0, gpu_.l1_bytes_per_sm / resident - shared - 1024));

  // The launch may use all memory that is bound to its arguments, but references only if an argument names one.
  std::vector<SimProcess::ShownBlock> visible;
  std::vector<std::shared_ptr<SimArena>> held;
  uint64_t fill_key = 0;
  const auto bind = [&](uint64_t address, int64_t bytes, const std::string& name, bool writable, bool output = false) {
    const Located at = Locate(address);
    if (at.block == nullptr) return;
    held.push_back(at.arena);
    visible.push_back({at.arena.get(), at.block, writable});
    fill_key ^= at.block->sampled ? 0 : at.arena->NextFillKey();
    const uint64_t end = bytes >= 0 ? address + static_cast<uint64_t>(bytes) : at.block->end;
    spec.ranges.push_back({address, std::min(end, at.block->end), writable, name, at.block->sparse, at.block->drawn, output});
  };
  for (const auto& [name, view] : request.bindings->tensors) {
    const bool writable = request.bindings->read_only.count(name) == 0;
    bind(view.address, view.span_bytes, name, writable, writable);
  }
  for (const auto& [name, address] : request.bindings->workspaces) {
    // The bound memory may be larger than the workspace, because another plan needs more.
    const auto own = std::find_if(request.plan->workspaces.begin(), request.plan->workspaces.end(),
                                  [&name = name](const ResolvedWorkspace& w) { return w.name == name; });
    bind(address, own != request.plan->workspaces.end() ? own->bytes : -1, name, /*writable=*/true);
  }
  const auto bind_references = [&](const auto& self, const std::vector<ResolvedArgument>& args) -> void {
    for (const ResolvedArgument& a : args) {
      if (a.kind == ArgumentKind::kReference)
        bind(request.bindings->references.at("ref:" + a.name), -1, "ref:" + a.name, /*writable=*/true);
      self(self, a.fields);
    }
  };
  bind_references(bind_references, step.args);
  // Tensors that share storage become one range, which is writable if one of them is.
  std::sort(spec.ranges.begin(), spec.ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < spec.ranges.size();) {
    sim::BoundRange& before = spec.ranges[i - 1];
    const sim::BoundRange& range = spec.ranges[i];
    if (range.begin >= before.end) {
      ++i;
      continue;
    }
    before.end = std::max(before.end, range.end);
    before.writable |= range.writable;
    before.drawn |= range.drawn;
    if (before.name != range.name) before.name += " / " + range.name;
    spec.ranges.erase(spec.ranges.begin() + static_cast<ptrdiff_t>(i));
  }
  // Writable blocks come first, so that a block that is bound twice is writable if either is.
  std::sort(visible.begin(), visible.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(a.block->map_begin, !a.writable) < std::make_tuple(b.block->map_begin, !b.writable);
  });
  visible.erase(
      std::unique(visible.begin(), visible.end(), [](const auto& a, const auto& b) { return a.block == b.block; }),
      visible.end());
  // A modelled time must repeat to the last bit, so undefined memory has the same contents each time.
  spec.fill_key = spec.in_order ? kModelledFill : fill_key | 1;
  spec.local_bytes = kFilledLocalBytes;

  for (const ResolvedArgument& argument : step.args) {
    const std::vector<uint8_t> bytes = PackArgument(argument, [&](const ResolvedArgument& a) -> uint64_t {
      switch (a.kind) {
        case ArgumentKind::kReference:
          return request.bindings->references.at("ref:" + a.name);
        case ArgumentKind::kWorkspace:
          return request.bindings->workspaces.at(a.name);
        default:
          return request.bindings->tensors.at(a.name).address;
      }
    });
    message.argument_bytes.emplace_back(bytes.begin(), bytes.end());
  }

  spec.secret = sample && request.sample_key != 0;
  if (spec.secret) {
    const SampleSize& size = request.sample_size;
    spec.blocks = sim::DrawBlocks(spec.grid, static_cast<size_t>(std::max(1, size.most)), request.sample_key);
    spec.access_budget = static_cast<uint64_t>(size.accesses);
    spec.least_blocks = static_cast<uint64_t>(std::max(1, size.least));
    spec.access_limit = static_cast<uint64_t>(size.accesses_at_most);
    spec.fill_key = Keyed(fill_secret_, request.sample_key) | 1;
  } else if (sample) {
    spec.blocks =
        request.block_key != 0 ? sim::TimedBlocks(spec.grid, request.block_key) : sim::SampleBlocks(spec.grid);
    spec.access_budget = kSampleAccessBudget;
  }
  spec.before_wait = before_wait_;
  if (before_wait_ && !spec.cooperative) {
    constexpr size_t kBlocksBeforeWait = 64;  // more would rarely show more: most kernels wait in each block or in none
    spec.blocks = sim::DrawBlocks(spec.grid, kBlocksBeforeWait, Keyed(fill_secret_, ++drawn_launches_));
  }
  const bool gives_time = spec.in_order && !spec.secret;
  if (!gives_time && !request.trusted) spec.displacement = static_cast<uint32_t>(Keyed(fill_secret_, ++drawn_launches_));
  if (module.process == nullptr) {
    std::string refused;
    HONE_ASSIGN_OR_RETURN(module.process,
                          SimProcess::Start({options_.child_command, options_.workers, options_.sandbox}, module.image,
                                            module.symbols, kLoadSeconds, &refused));
    if (module.process == nullptr) return MakeOutcome(LaunchStatus::kCrashed, step.kernel + ": " + refused);
  }
  HONE_RETURN_IF_ERROR(module.process->Show(visible));
  HONE_ASSIGN_OR_RETURN(const SimProcess::Exchange exchange, module.process->Launch(message, limit_seconds));
  if (!exchange.answer || exchange.answer->signal != 0) module.process.reset();
  if (sample && exchange.answer && exchange.answer->report.end == sim::LaunchEnd::kStuck) {
    *stuck = true;
    return LaunchOutcome();
  }
  if (before_wait_ && (!exchange.answer || exchange.answer->signal != 0)) return LaunchOutcome();
  LaunchOutcome outcome = Judge(module, step, exchange, limit_seconds);
  // Sampled blocks of a cooperative launch may have read what blocks outside the sample would have written.
  if (sample && step.cooperative && outcome.status != LaunchStatus::kOk) {
    *stuck = true;
    return LaunchOutcome();
  }
  if (!exchange.answer) return outcome;
  if (before_wait_) return outcome;
  module.globals_changed |= exchange.answer->globals_changed;
  if (outcome.status != LaunchStatus::kOk) return outcome;

  sim::LaunchShape shape;
  shape.grid_blocks = spec.grid_blocks();
  shape.block_threads = spec.block_threads();
  shape.shared_bytes = static_cast<uint32_t>(shared);
  for (const sim::BoundRange& range : spec.ranges)
    shape.range_bytes.push_back(static_cast<int64_t>(range.end - range.begin));
  const sim::LaunchCounters& seen = exchange.answer->report.counters;
  const sim::LaunchCounters all = sim::ScaleToLaunch(seen, shape);
  const sim::ModelledTime time = sim::ModelLaunch(gpu_, shape, all, cache);
  if (profiles_ != nullptr) {
    profiles_->push_back(
        sim::DescribeLaunch(step.kernel, gpu_, shape, all, time, exchange.answer->report.sites, *module.lines));
  }
  cost->time_us += time.seconds * 1e6;
  cost->dram_bytes += time.dram_bytes;
  cost->sectors += all.global_sectors;
  cost->requests += all.global_requests;
  cost->bank_conflicts += all.shared_conflict_cycles;
  cost->accesses += seen.accesses;
  cost->host_seconds += exchange.answer->report.cpu_seconds;
  cost->last_fraction = seen.blocks / static_cast<double>(shape.grid_blocks);
  cost->sampled_block_fraction = std::min(cost->sampled_block_fraction, cost->last_fraction);
  *incomplete |= exchange.answer->report.incomplete;
  cost->block_bytes.clear();
  for (const auto& [block, bytes] : exchange.answer->report.first_writes) {
    const uint64_t x = spec.grid[0], last = spec.grid_blocks() - 1;
    if (block == 0 || block == x - 1 || block == last || block == last + 1 - x) continue;
    cost->block_bytes.push_back(static_cast<double>(bytes) * static_cast<double>(spec.grid_blocks()));
  }
  return outcome;
}

// Turns what the child answered, or its end without an answer, into the outcome of the launch.
LaunchOutcome SimSession::Judge(SimModule& module, const ResolvedStep& step, const SimProcess::Exchange& exchange,
                                double limit_seconds) {
  const auto outcome = [&](LaunchStatus status, const std::string& detail) {
    return MakeOutcome(status, fmt::format("{}: {}", step.kernel, detail));
  };
  if (exchange.timed_out) {
    return outcome(LaunchStatus::kTimedOut,
                   fmt::format("the kernel did not finish in {:.3g} s on the simulated GPU", limit_seconds));
  }
  if (!exchange.answer) return outcome(LaunchStatus::kCrashed, "the kernel's process ended with " + exchange.died);
  const LaunchAnswer& answer = *exchange.answer;
  if (answer.signal != 0) {
    if (answer.report.end == sim::LaunchEnd::kUnsupported)
      return outcome(LaunchStatus::kUnsupported, answer.report.detail);
    LaunchOutcome crashed = outcome(LaunchStatus::kCrashed, "");
    const std::string place = answer.signal_pc != 0 ? module.lines->Find({answer.signal_pc})[0] : "";
    const Finding finding = sim::SignalFinding(answer.signal, answer.error, place);
    crashed.detail += finding.message;
    crashed.findings.push_back(finding);
    return crashed;
  }
  if (!answer.error.empty()) return outcome(LaunchStatus::kLaunchError, answer.error);
  return sim::JudgeReport(step.kernel, answer.report, *module.lines);
}

Result<SampleOutcome> SimSession::TimeSample(const SampleRequest& request) {
  SampleOutcome sample;
  if (request.sets.empty()) return sample;
  LaunchRequest launch;
  launch.plan = request.plan;
  launch.bindings = request.sets[0];
  launch.limit_seconds = request.limit_seconds;
  launch.sample_blocks = true;
  launch.block_key = request.block_key;
  HONE_ASSIGN_OR_RETURN(sample.launch, RunPlan(static_cast<SimProgram&>(*request.program), launch, request.cache));
  if (sample.launch.cost) sample.us_per_plan = sample.launch.cost->time_us;
  sample.sm_clock_mhz = gpu_.clock_hz / 1e6;
  return sample;
}

Result<ProfileOutcome> SimSession::Profile(const ProfileRequest& request) {
  ProfileOutcome outcome;
  outcome.source = "simulator";
  if (request.prepare) HONE_RETURN_IF_ERROR(request.prepare());
  LaunchRequest launch;
  launch.plan = request.plan;
  launch.bindings = request.bindings;
  launch.limit_seconds = request.limit_seconds;
  launch.sample_blocks = true;
  profiles_ = &outcome.kernels;
  Result<LaunchOutcome> ran = RunPlan(static_cast<SimProgram&>(*request.program), launch, CacheState::kCold);
  profiles_ = nullptr;
  if (!ran.ok()) return ran.status();
  outcome.launch = std::move(*ran);
  return outcome;
}

}  // namespace

Result<std::unique_ptr<DeviceSession>> MakeSimSession(const SimSessionOptions& options) {
  std::optional<sim::GpuModel> gpu = sim::FindGpuModel(options.gpu);
  if (!gpu) {
    std::string names;
    for (const std::string& name : sim::GpuModelNames()) names += " " + name;
    return Status::InvalidArgument(fmt::format("no simulated GPU is called '{}'; there are:{}", options.gpu, names));
  }
  return std::unique_ptr<DeviceSession>(std::make_unique<SimSession>(options, std::move(*gpu)));
}

Result<DeviceFacts> SimulatedGpuFacts(std::string_view gpu) {
  std::optional<sim::GpuModel> model = sim::FindGpuModel(gpu);
  if (!model) return Status::NotFound(fmt::format("no simulated GPU is called '{}'", gpu));
  return model->facts;
}

}  // namespace hone
