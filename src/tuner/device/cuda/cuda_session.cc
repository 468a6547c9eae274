// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/cuda_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/numbers/random.h"
#include "hone/base/units.h"
#include "tuner/core/evaluation/profile_metrics.h"
#include "tuner/device/cuda/calls/library_calls.h"
#include "tuner/device/cuda/counters/counter_source.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/cuda_driver.h"
#include "tuner/device/cuda/cuda_facts.h"
#include "tuner/device/cuda/cuda_program.h"
#include "tuner/device/cuda/harness/harness.h"
#include "tuner/device/cuda/launch_errors.h"
#include "tuner/device/cuda/memory/cuda_arena.h"
#include "tuner/device/cuda/memory/guarded_arena.h"
#include "tuner/device/cuda/memory/separate_arena.h"
#include "tuner/device/cuda/nvml.h"
#include "tuner/device/cuda/plan_launch.h"
#include "tuner/device/cuda/sample_graph.h"
#include "tuner/device/host_tensor_ops.h"

namespace hone {
namespace {

constexpr int kFloorSamples = 15;  // measurements of the floor, of which the median counts
constexpr double kFloorLimitSeconds = 10;  // limit on one of these measurements
// Clocks fall when a GPU is idle for this long, and take milliseconds to rise; a sample must not include that.
constexpr double kIdleSeconds = 0.1;
constexpr double kWarmUpSeconds = 0.02;
// A floor region far larger than L2 is no longer cached when it is read again, so a floor with more traffic than this
// reads and writes one region several times.
constexpr int64_t kLargestFloorRegion = 256 * kMiB;
constexpr size_t kSmallestHeap = 4096;
// Most kernels that one library call launches: a product, the sum of its parts, and their preparation.
constexpr size_t kMostKernelsOfACall = 4;
// Number of blocks of an arena that get another address at each rearrangement, once for every four timed samples:
// mapping one costs 0.1 ms of host time.
constexpr int kMostMoved = 1;

// Describes the steps of a plan, for messages.
std::string DescribePlan(const PreparedPlan& plan) {
  std::string text;
  for (const PreparedStep& step : plan) {
    if (!text.empty()) text += "; ";
    text += step.Describe();
  }
  return text.empty() ? "a plan without steps" : text;
}

class CudaSharedBlock : public SharedBlock {
 public:
  CudaSharedBlock(std::shared_ptr<CudaContext> context, CUdeviceptr address, int64_t bytes, UniqueFd descriptor)
      : context_(std::move(context)), address_(address), bytes_(bytes), descriptor_(std::move(descriptor)) {}
  ~CudaSharedBlock() override { context_->FreeShared(address_); }
  uint64_t address() const override { return address_; }
  int64_t bytes() const override { return bytes_; }
  int descriptor() const override { return descriptor_.get(); }
  const CudaContext* context() const { return context_.get(); }

 private:
  std::shared_ptr<CudaContext> context_;  // while the block lives, no other context has this address
  CUdeviceptr address_;
  int64_t bytes_;
  UniqueFd descriptor_;
};

class CudaSession : public DeviceSession {
 public:
  static Result<std::unique_ptr<DeviceSession>> Make(const CudaSessionOptions& options);
  ~CudaSession() override;

  const DeviceFacts& facts() const override { return facts_; }
  bool lost() const override { return context_->lost(); }

  Result<LoadOutcome> Load(const CompiledProgram& program) override { 
    return CudaProgram::Load(context_, graph_, *harness_, program,
                             {.constants = options_.keep_constants, .surroundings = options_.mark_surroundings});
  }
  Result<bool> GlobalsChanged(LoadedProgram& program) override { return Own(program).GlobalsChanged(*harness_); }

  Result<std::unique_ptr<Arena>> Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) override;
  Result<std::optional<std::string>> CheckGaps(Arena& arena) override {
    return harness_->CheckGaps(static_cast<const CudaArena&>(arena));
  }
  int64_t FreeBytes() const override { return context_->FreeBytes(); }
  Result<bool> Rearrange(Arena& arena, uint64_t key) override;
  uint64_t LaunchAddress(uint64_t address) const override {
    return context_->RunDeferred().ok() ? context_->Seen(address) : 0;
  }

  Status Draw(const DrawRequest& request) override { return options_.watched ? DrawOnHost(request) : harness_->Draw(request); }
  Status Poison(const TensorView& view) override { return options_.watched ? Status::Ok() : harness_->Poison(view); }
  Status FillWith(const TensorView& view, const FillSpec& fill) override {
    return options_.watched ? Status::Ok() : harness_->FillWith(view, fill);
  }
  Status Fill(uint64_t address, int64_t bytes, uint8_t value) override { return harness_->Fill(address, bytes, value); }
  Result<bool> IsZero(uint64_t address, int64_t bytes) override {
    HONE_ASSIGN_OR_RETURN(const bool different, harness_->Differs(address, 0, bytes));
    return !different;
  }
  Status CopyFromHost(uint64_t address, const void* source, int64_t bytes) override {
    return harness_->CopyFromHost(address, source, bytes);
  }
  Status CopyToHost(void* destination, uint64_t address, int64_t bytes) override {
    return harness_->CopyToHost(destination, address, bytes);
  }
  Result<std::unique_ptr<SharedBlock>> Share(int64_t bytes) override;
  bool Shares(const SharedBlock& block) const override;
  Status CopyOnDevice(uint64_t destination, uint64_t source, int64_t bytes) override {
    return harness_->CopyOnDevice(destination, source, bytes);
  }
  Status WaitForCopies() override { return context_->WaitForHarness("copies on the device"); }
  Status GatherSlices(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices) override {
    return harness_->Gather(source, destination, slices);
  }

  Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) override;

  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) override {
    return harness_->Compare(output, reference, tolerance);
  }
  Result<std::vector<uint64_t>> Digest(const TensorView& view, uint64_t key) override {
    HONE_ASSIGN_OR_RETURN(std::vector<std::vector<uint64_t>> digests, harness_->Digest({view}, key));
    return std::move(digests[0]);
  }
  Result<std::vector<std::vector<uint64_t>>> DigestMany(const std::vector<TensorView>& views, uint64_t key) override {
    return harness_->Digest(views, key);
  }

  Result<SampleOutcome> TimeSample(const SampleRequest& request) override;
  Result<double> TimeFloor(const Traffic& traffic, int sets, CacheState cache) override;
  Result<DeviceCondition> Condition() override;
  void ExpectProcesses(int count) override { expected_processes_ = count; }
  Result<ProfileOutcome> Profile(const ProfileRequest& request) override;

 private:
  CudaSession() = default;

  CudaProgram& Own(LoadedProgram& program) const {
    auto& own = static_cast<CudaProgram&>(program);
    HONE_CHECK(own.context() == context_.get(), "a program of another session");
    return own;
  }
  // Draws in host memory and copies the view's whole span.
  Status DrawOnHost(const DrawRequest& request);
  // Reads every page of these sets once, at the addresses that candidates see.
  Status TouchPages(const std::vector<const Bindings*>& sets);
  // Overwrites what other launches left in shared and local memory.
  Status Scrub(const CudaProgram& program);
  // Waits for the candidate's work and returns how it ended.
  Result<LaunchOutcome> Finish(double limit_seconds, const std::string& what);
  // Interprets an enqueue error: the candidate's outcome, or a Status.
  Result<LaunchOutcome> Refused(CUresult result, const std::string& what);
  // Enqueues a timed interval: warm-up, gate, caches, separator, events around `enqueue`, and `behind` it.
  // Does not wait for the work; returns `enqueue`'s error unchanged.
  // `rested`: the device was idle and clocks may have fallen.
  Status EnqueueInterval(bool rested, CacheState cache, const std::function<Status()>& touch,
                         const std::function<CUresult()>& enqueue, CUresult* error,
                         const std::function<Status()>& behind = {});
  // Two regions of device memory, each of `places` disjoint parts of the given sizes.
  struct Regions {
    uint64_t source, destination;
    int64_t read_set, write_set, places;
  };
  // Returns the median time of one of the two streaming kernels; see Harness::Stream.
  Result<double> TimeStream(bool one_word, const Traffic& traffic, int sets, const Regions& regions, CacheState cache);
  bool Rested() const { return !warmed_up_ || context_->idle_seconds() > kIdleSeconds; }
  Result<double> IntervalUs();

  std::shared_ptr<CudaContext> context_;
  std::unique_ptr<Harness> harness_;
  std::shared_ptr<SampleGraph> graph_;
  std::unique_ptr<LibraryCalls> calls_;
  std::unique_ptr<Nvml> nvml_;
  int expected_processes_ = 0;
  DeviceFacts facts_;
  CudaSessionOptions options_;
  std::unique_ptr<CounterSource> counters_;  // made at first use
  CUevent start_ = nullptr, end_ = nullptr;
  bool persisting_l2_ = false;
  unsigned gate_ = 0;
  bool warmed_up_ = false;
};

Result<std::unique_ptr<DeviceSession>> CudaSession::Make(const CudaSessionOptions& requested_options) {
  CudaSessionOptions options = requested_options;
  if (options.watched) options.secret_addresses = options.keep_constants = options.mark_surroundings = options.scrub = false;
  HONE_ASSIGN_OR_RETURN(const CudaDriver* driver, LoadCudaDriver());
  std::unique_ptr<CudaSession> session(new CudaSession);
  HONE_ASSIGN_OR_RETURN(session->context_, CudaContext::Make(*driver, options.ordinal, options.secret_addresses ? SystemSeed() | 1 : 0));
  HONE_ASSIGN_OR_RETURN(session->facts_, ReadDeviceFacts(*driver, options.ordinal));
  session->options_ = options;
  CUuuid uuid{};
  // A watched process takes no times, so the GPU's condition is not asked about.
  if (!options.watched && driver->DeviceGetUuid(&uuid, session->context_->device()) == CUDA_SUCCESS) {
    session->nvml_ = Nvml::Open(reinterpret_cast<const unsigned char*>(uuid.bytes));
  }
  if (session->nvml_ != nullptr) {
    const std::string version = session->nvml_->DriverVersion();
    if (!version.empty()) session->facts_.driver += ", driver " + version;
  }
  // These limits leave kernels no place to keep data: the smallest in-kernel heap, no persisting lines in L2. If the
  // driver refuses a limit, only that place stays open.
  driver->CtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, kSmallestHeap);
  int persisting = 0;
  if (driver->DeviceGetAttribute(&persisting, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE,
                                 session->context_->device()) == CUDA_SUCCESS && persisting > 0) {
    session->persisting_l2_ = true;
    driver->CtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  }
  session->graph_ = std::make_shared<SampleGraph>(session->context_);
  session->calls_ = MakeLibraryCalls(session->context_);
  const Harness::Places places{.sm_count = session->facts_.sm_count,
                               .l2_bytes = session->facts_.l2_bytes,
                               .shared_bytes = session->facts_.smem_optin,
                               .key = SystemSeed(),
                               .watched = options.watched};
  HONE_CUDA_RETURN_IF_ERROR(*driver, driver->EventCreate(&session->start_, CU_EVENT_DEFAULT), "making an event");
  HONE_CUDA_RETURN_IF_ERROR(*driver, driver->EventCreate(&session->end_, CU_EVENT_DEFAULT), "making an event");
  HONE_ASSIGN_OR_RETURN(session->harness_,
                        Harness::Make(session->context_, places));
  return std::unique_ptr<DeviceSession>(std::move(session));
}

CudaSession::~CudaSession() {
  if (context_ == nullptr || context_->lost()) return;
  if (start_ != nullptr) context_->driver().EventDestroy(start_);
  if (end_ != nullptr) context_->driver().EventDestroy(end_);
}

Result<std::unique_ptr<Arena>> CudaSession::Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) {
  const bool apart = context_->virtual_memory() != nullptr && !blocks.empty() && blocks.front().apart;
  std::unique_ptr<CudaArena> arena;
  if (options_.watched) {
    HONE_ASSIGN_OR_RETURN(arena, SeparateArena::Make(context_, blocks));
    return std::unique_ptr<Arena>(std::move(arena));
  }
  if (apart) {
    HONE_ASSIGN_OR_RETURN(arena, GuardedArena::Make(context_, blocks, gap_key));
  } else {
    HONE_ASSIGN_OR_RETURN(ArenaPlan plan, PlaceBlocks(blocks, gap_key));
    HONE_ASSIGN_OR_RETURN(DeviceBlock memory, context_->Allocate(plan.bytes + plan.base_align));
    arena = std::make_unique<PackedArena>(std::move(memory), std::move(plan), blocks, gap_key);
  }
  HONE_RETURN_IF_ERROR(harness_->FillGaps(*arena));
  return std::unique_ptr<Arena>(std::move(arena));
}

Result<std::unique_ptr<SharedBlock>> CudaSession::Share(int64_t bytes) {
  UniqueFd descriptor;
  HONE_ASSIGN_OR_RETURN(const CUdeviceptr address, context_->AllocateShared(&bytes, &descriptor));
  return std::unique_ptr<SharedBlock>(std::make_unique<CudaSharedBlock>(context_, address, bytes, std::move(descriptor)));
}

bool CudaSession::Shares(const SharedBlock& block) const {
  const auto* own = dynamic_cast<const CudaSharedBlock*>(&block);
  return own != nullptr && own->context() == context_.get() && !context_->lost();
}

Result<bool> CudaSession::Rearrange(Arena& arena, uint64_t key) {
  auto* guarded = dynamic_cast<GuardedArena*>(&arena);
  if (guarded == nullptr) return false;
  HONE_RETURN_IF_ERROR(guarded->Rearrange(key, kMostMoved));
  HONE_RETURN_IF_ERROR(harness_->FillGaps(*guarded));
  return true;
}

Status CudaSession::DrawOnHost(const DrawRequest& request) {
  if (request.view.elements == 0) return Status::Ok();
  std::vector<char> drawn(static_cast<size_t>(request.view.span_bytes));
  DrawRequest on_host = request;
  on_host.view.address = reinterpret_cast<uint64_t>(drawn.data());
  HONE_RETURN_IF_ERROR(host::Draw(on_host));
  return harness_->CopyFromHost(request.view.address, drawn.data(), request.view.span_bytes);
}

// Reads one word of each page of the tensors, so that a timed launch does not pay for the translation of addresses.
Status CudaSession::TouchPages(const std::vector<const Bindings*>& sets) {
  if (context_->virtual_memory() == nullptr) return Status::Ok();
  const size_t granule = context_->virtual_memory()->granule();
  std::vector<harness::PageRun> runs;
  const auto add = [&](uint64_t address) {
    const auto* shown = context_->ShownWith(address);
    if (shown != nullptr) runs.push_back({shown->second.seen, static_cast<int64_t>(shown->second.bytes / granule)});
  };
  for (const Bindings* set : sets) {
    for (const auto& [name, view] : set->tensors) add(view.address);
    for (const auto& [name, address] : set->workspaces) add(address);
  }
  return harness_->TouchPages(runs, granule);
}

Status CudaSession::Scrub(const CudaProgram& program) {
  return options_.scrub ? harness_->Scrub(program.MostLocalBytes()) : Status::Ok();
}

// Returns the outcome of a launch that the driver refused; a Status if that is not the candidate's fault.
Result<LaunchOutcome> CudaSession::Refused(CUresult result, const std::string& what) {
  const std::optional<LaunchStatus> status = LaunchStatusOf(result);
  if (IsSticky(result)) context_->MarkLost();
  if (!status) return CudaStatus(context_->driver(), result, "launching " + what);
  LaunchOutcome outcome;
  outcome.status = *status;
  outcome.detail = fmt::format("{}: the launch was refused: {}", what, context_->driver().Describe(result));
  return outcome;
}

// Waits for the work on the stream, and returns how it ended.
Result<LaunchOutcome> CudaSession::Finish(double limit_seconds, const std::string& what) {
  LaunchOutcome outcome;
  CUresult error;
  switch (context_->Wait(limit_seconds, &error)) {
    case WaitResult::kDone: return outcome;
    case WaitResult::kTimedOut:
      outcome.status = LaunchStatus::kTimedOut;
      outcome.detail = fmt::format("{}: not finished after {:.3g} s", what, limit_seconds);
      return outcome;
    case WaitResult::kFailed: break;
  }
  const std::optional<LaunchStatus> status = LaunchStatusOf(error);
  if (!status) return CudaStatus(context_->driver(), error, "while " + what + " ran");
  // A kernel that has started was not refused: the error happened in it.
  outcome.status = *status == LaunchStatus::kTimedOut ? LaunchStatus::kTimedOut : LaunchStatus::kCrashed;
  outcome.detail = fmt::format("{}: {}", what, context_->driver().Describe(error));
  return outcome;
}

Result<LaunchOutcome> CudaSession::Launch(LoadedProgram& program, const LaunchRequest& request) {
  HONE_CHECK(request.plan != nullptr && request.bindings != nullptr, "a launch without a plan or bindings");
  CudaProgram& own = Own(program);
  if (!request.trusted) HONE_RETURN_IF_ERROR(context_->RunDeferred());
  Preparation preparation = PreparePlan(*context_, facts_, own, *calls_, *request.plan, *request.bindings, !request.trusted);
  if (preparation.outcome.status != LaunchStatus::kOk) return preparation.outcome;
  HONE_RETURN_IF_ERROR(own.RestoreGlobals(*harness_));
  if (!request.trusted) {
    HONE_RETURN_IF_ERROR(Scrub(own));
    HONE_RETURN_IF_ERROR(own.MarkSurroundings(*harness_));
    HONE_RETURN_IF_ERROR(harness_->WipeKeys());
    HONE_RETURN_IF_ERROR(context_->WaitForHarness("work before a launch"));
    harness_->ForgetDeviceState();
  }
  for (const PreparedStep& step : preparation.plan) {
    const CUresult result = EnqueueStep(*context_, step);
    if (result == CUDA_SUCCESS) continue;
    // Steps already enqueued still run; they must end before their buffers are read.
    CUresult ignored;
    if (!IsSticky(result) && context_->Wait(request.limit_seconds, &ignored) == WaitResult::kFailed) {
      return Refused(ignored, step.Describe());
    }
    return Refused(result, step.Describe());
  }
  return Finish(request.limit_seconds, DescribePlan(preparation.plan));
}

// Enqueues the work between two events, whose distance is its time. `rested`: the GPU was idle, and is kept busy for a
// moment first. `touch` enqueues reads of the tensors, for warm caches; `behind` enqueues what follows the second event.
Status CudaSession::EnqueueInterval(bool rested, CacheState cache, const std::function<Status()>& touch,
                                    const std::function<CUresult()>& enqueue, CUresult* error,
                                    const std::function<Status()>& behind) {
  *error = CUDA_SUCCESS;
  const CudaDriver& driver = context_->driver();
  if (rested) HONE_RETURN_IF_ERROR(harness_->Spin(kWarmUpSeconds));
  warmed_up_ = true;
  if (persisting_l2_) {
    HONE_CUDA_RETURN_IF_ERROR(driver, driver.CtxResetPersistingL2Cache(), "resetting the persisting lines of L2");
  }
  const unsigned gate = ++gate_;
  HONE_RETURN_IF_ERROR(harness_->Gate(gate));
  const auto enqueue_all = [&]() -> Status {
    HONE_RETURN_IF_ERROR(cache == CacheState::kCold ? harness_->Flush() : touch());
    HONE_RETURN_IF_ERROR(harness_->Separator());
    HONE_CUDA_RETURN_IF_ERROR(driver, driver.EventRecord(start_, context_->stream()), "recording an event");
    *error = enqueue();
    if (*error != CUDA_SUCCESS) return Status::Ok();
    HONE_CUDA_RETURN_IF_ERROR(driver, driver.EventRecord(end_, context_->stream()), "recording an event");
    return behind ? behind() : Status::Ok();
  };
  const Status status = enqueue_all();
  harness_->OpenGate(gate);
  return status;
}

Result<double> CudaSession::IntervalUs() {
  float milliseconds = 0;
  HONE_CUDA_RETURN_IF_ERROR(context_->driver(), context_->driver().EventElapsedTime(&milliseconds, start_, end_),
                            "reading a timed interval");
  return static_cast<double>(milliseconds) * 1e3;
}

Result<SampleOutcome> CudaSession::TimeSample(const SampleRequest& request) {
  HONE_CHECK(request.program != nullptr && request.plan != nullptr && !request.sets.empty(), "an empty sample");
  CudaProgram& own = Own(*request.program);
  HONE_RETURN_IF_ERROR(context_->RunDeferred());
  SampleOutcome outcome;
  std::vector<PreparedPlan> plans;
  plans.reserve(request.sets.size());
  for (const Bindings* set : request.sets) {
    Preparation preparation = PreparePlan(*context_, facts_, own, *calls_, *request.plan, *set, /*as_seen=*/true);
    if (preparation.outcome.status != LaunchStatus::kOk) {
      outcome.launch = std::move(preparation.outcome);
      return outcome;
    }
    plans.push_back(std::move(preparation.plan));
  }
  const std::string what = plans.size() == 1 ? DescribePlan(plans[0])
                                             : fmt::format("{}, {} times in a graph", DescribePlan(plans[0]), plans.size());
  const bool rested = Rested();
  HONE_RETURN_IF_ERROR(own.RestoreGlobals(*harness_));
  HONE_RETURN_IF_ERROR(Scrub(own));
  HONE_RETURN_IF_ERROR(own.MarkSurroundings(*harness_));
  HONE_RETURN_IF_ERROR(harness_->WipeKeys());
  const bool watched = !request.watched.empty();
  if (watched) HONE_RETURN_IF_ERROR(harness_->BeginWatch(request.watched.size()));
  HONE_RETURN_IF_ERROR(TouchPages(request.sets));
  HONE_RETURN_IF_ERROR(context_->WaitForHarness("work before a timed sample"));

  CUgraphExec graph = nullptr;
  const bool any_work = std::any_of(plans[0].begin(), plans[0].end(),
                                    [](const PreparedStep& step) { return !step.is_memset || step.bytes > 0; });
  if (plans.size() > 1 && any_work) {
    CUresult error;
    graph = graph_->Prepare(plans, &error);
    if (graph == nullptr) {
      HONE_ASSIGN_OR_RETURN(outcome.launch, Refused(error, what));
      return outcome;
    }
  }

  const auto touch = [&]() -> Status {
    for (const Bindings* set : request.sets) {
      for (const auto& [name, view] : set->tensors) {
        HONE_RETURN_IF_ERROR(harness_->ReadRange(context_->Seen(view.address), view.span_bytes));
      }
    }
    return Status::Ok();
  };
  const auto enqueue = [&]() -> CUresult {
    if (graph != nullptr) return context_->driver().GraphLaunch(graph, context_->stream());
    for (const PreparedPlan& plan : plans) {
      for (const PreparedStep& step : plan) {
        if (const CUresult result = EnqueueStep(*context_, step); result != CUDA_SUCCESS) return result;
      }
    }
    return CUDA_SUCCESS;
  };
  // If a plan's last step does not wait for the earlier ones, the interval can end before the work does.
  const auto behind = [&]() -> Status { return watched ? harness_->Watch(request.watched, 0) : Status::Ok(); };
  CUresult error;
  HONE_RETURN_IF_ERROR(EnqueueInterval(rested, request.cache, touch, enqueue, &error, behind));
  harness_->ForgetDeviceState();
  if (error != CUDA_SUCCESS) {
    CUresult ignored;
    if (!IsSticky(error) && context_->Wait(request.limit_seconds, &ignored) == WaitResult::kFailed) error = ignored;
    HONE_ASSIGN_OR_RETURN(outcome.launch, Refused(error, what));
    return outcome;
  }
  HONE_ASSIGN_OR_RETURN(outcome.launch, Finish(request.limit_seconds, what));
  if (outcome.launch.status != LaunchStatus::kOk) return outcome;
  HONE_ASSIGN_OR_RETURN(const double interval_us, IntervalUs());
  outcome.us_per_plan = interval_us / static_cast<double>(plans.size());
  if (watched) {
    HONE_RETURN_IF_ERROR(harness_->Watch(request.watched, 1));
    HONE_ASSIGN_OR_RETURN(outcome.changed_after_end, harness_->WatchedChanged(request.watched.size()));
  }
  return outcome;
}

Result<double> CudaSession::TimeFloor(const Traffic& traffic, int sets, CacheState cache) {
  HONE_CHECK(sets >= 1, "a floor over no sets");
  const auto padded = [](double bytes) { return std::max<int64_t>((static_cast<int64_t>(std::ceil(bytes)) + 255) / 256 * 256, 256); };
  // There are as many disjoint places as sets, like the candidate's buffers; large sets use one place repeatedly.
  const int64_t read_set = std::min(padded(traffic.read_bytes), kLargestFloorRegion);
  const int64_t write_set = std::min(padded(traffic.written_bytes), kLargestFloorRegion);
  const int64_t fitting = std::max<int64_t>(1, kLargestFloorRegion / std::max(read_set, write_set));
  const int64_t places = std::min<int64_t>(sets, fitting);
  HONE_ASSIGN_OR_RETURN(const DeviceBlock source, context_->Allocate(read_set * places));
  HONE_ASSIGN_OR_RETURN(const DeviceBlock destination, context_->Allocate(write_set * places));

  // Both streaming kernels are timed, and the faster one counts: the floor is the best speed known to be possible.
  const Regions regions{source.address(), destination.address(), read_set, write_set, places};
  HONE_ASSIGN_OR_RETURN(const double several, TimeStream(/*one_word=*/false, traffic, sets, regions, cache));
  HONE_ASSIGN_OR_RETURN(const double one, TimeStream(/*one_word=*/true, traffic, sets, regions, cache));
  return std::min(several, one);
}

// Times the streaming kernel, the floor, over `sets` sets of regions; in seconds for one set.
Result<double> CudaSession::TimeStream(bool one_word, const Traffic& traffic, int sets, const Regions& regions, CacheState cache) {
  const CudaDriver& driver = context_->driver();
  const bool rested = Rested();
  const auto stream = [&](int set) -> Status {
    const auto place = static_cast<uint64_t>(set % regions.places);
    return harness_->Stream(one_word, regions.source + place * static_cast<uint64_t>(regions.read_set), regions.read_set,
                            regions.destination + place * static_cast<uint64_t>(regions.write_set), regions.write_set,
                            traffic.read_bytes, traffic.written_bytes);
  };
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  graph_->Clear();  // one graph at a time: the floor's takes the place of the candidate's
  if (sets > 1) {
    HONE_CUDA_RETURN_IF_ERROR(driver, driver.StreamBeginCapture(context_->stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                              "capturing the floor");
    Status status;
    for (int set = 0; set < sets && status.ok(); ++set) status = stream(set);
    const CUresult ended = driver.StreamEndCapture(context_->stream(), &graph);
    HONE_RETURN_IF_ERROR(status);
    HONE_CUDA_RETURN_IF_ERROR(driver, ended, "capturing the floor");
    const CUresult instantiate_result = driver.GraphInstantiate(&exec, graph, 0);
    driver.GraphDestroy(graph);
    HONE_CUDA_RETURN_IF_ERROR(driver, instantiate_result, "instantiating the floor");
  }

  std::vector<double> samples;
  Status status;
  for (int i = 0; i < kFloorSamples + 1 && status.ok(); ++i) {  // the first is discarded
    const auto touch = [&]() -> Status {
      HONE_RETURN_IF_ERROR(harness_->ReadRange(regions.source, regions.read_set * regions.places));
      return harness_->ReadRange(regions.destination, regions.write_set * regions.places);
    };
    const auto enqueue = [&]() -> CUresult {
      if (exec != nullptr) return driver.GraphLaunch(exec, context_->stream());
      status = stream(0);
      return CUDA_SUCCESS;
    };
    CUresult error = CUDA_SUCCESS;
    const Status enqueued = EnqueueInterval(i == 0 && rested, cache, touch, enqueue, &error);
    if (status.ok()) status = enqueued;
    if (status.ok()) status = CudaStatus(driver, error, "launching the floor");
    if (status.ok()) status = context_->WaitForHarness("the floor kernel");
    if (!status.ok()) break;
    Result<double> interval_us = IntervalUs();
    if (!interval_us.ok()) status = interval_us.status();
    if (i > 0 && interval_us.ok()) samples.push_back(*interval_us / sets);
  }
  if (exec != nullptr && !context_->lost()) driver.GraphExecDestroy(exec);
  HONE_RETURN_IF_ERROR(status);
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

Result<DeviceCondition> CudaSession::Condition() {
  if (nvml_ == nullptr) return DeviceCondition{};
  DeviceCondition condition = nvml_->Read();
  condition.other_processes = std::max(0, condition.other_processes - expected_processes_);
  return condition;
}

Result<ProfileOutcome> CudaSession::Profile(const ProfileRequest& request) {
  HONE_CHECK(request.program != nullptr && request.plan != nullptr && request.bindings != nullptr, "an empty profile");
  ProfileOutcome outcome;
  outcome.source = options_.counted_by_ncu ? "ncu" : "cupti";
  // Unreadable counters are an answer, not a failure.
  const auto unavailable = [&](const Status& status) -> Result<ProfileOutcome> {
    if (status.code() != StatusCode::kUnavailable) return status;
    outcome.unavailable = status.message();
    return outcome;
  };
  if (counters_ == nullptr) {
    Result<std::unique_ptr<CounterSource>> counter_source =
        options_.counted_by_ncu ? MakeNcuGate()
                                : MakeCuptiCounters(context_->context(), options_.ordinal, CuptiLibraries());
    if (!counter_source.ok()) return unavailable(counter_source.status());
    counters_ = std::move(*counter_source);
  }
  CudaProgram& own = Own(*request.program);
  Preparation preparation =
      PreparePlan(*context_, facts_, own, *calls_, *request.plan, *request.bindings, /*as_seen=*/true);
  if (preparation.outcome.status != LaunchStatus::kOk) {
    outcome.launch = std::move(preparation.outcome);
    return outcome;
  }
  const PreparedPlan& plan = preparation.plan;
  const auto prepare = [&]() -> Status {
    if (request.prepare) HONE_RETURN_IF_ERROR(request.prepare());
    HONE_RETURN_IF_ERROR(own.RestoreGlobals(*harness_));
    HONE_RETURN_IF_ERROR(harness_->Flush());
    return context_->WaitForHarness("work before a counted launch");
  };
  Status failed;
  const auto execute = [&]() -> Status {
    harness_->ForgetDeviceState();
    const auto end = [&](Result<LaunchOutcome> ended) -> Status {
      if (!ended.ok()) return failed = ended.status();
      outcome.launch = std::move(*ended);
      return outcome.launch.status == LaunchStatus::kOk ? Status::Ok() : failed = Status::Internal(outcome.launch.detail);
    };
    for (const PreparedStep& step : plan) {
      if (const CUresult result = EnqueueStep(*context_, step); result != CUDA_SUCCESS) return end(Refused(result, step.Describe()));
    }
    return end(Finish(request.limit_seconds, DescribePlan(plan)));
  };
  const auto kernels = static_cast<size_t>(std::count_if(plan.begin(), plan.end(), [](const PreparedStep& step) { return step.is_launch(); }));
  const auto calls = static_cast<size_t>(std::count_if(plan.begin(), plan.end(), [](const PreparedStep& step) { return step.call != nullptr; }));
  if (kernels + calls == 0) return outcome;
  const Result<CounterSource::Values> values =
      counters_->Collect(ProfileMetrics(), plan.size() + calls * (kMostKernelsOfACall - 1), prepare, execute);
  if (outcome.launch.status != LaunchStatus::kOk) return outcome;
  if (!failed.ok()) return failed;
  if (!values.ok()) return unavailable(values.status());
  // The driver may set memory by a kernel of its own, which is then counted like any other.
  const bool memsets_too = values->size() == plan.size();
  // A library may launch any number of kernels: the number is known if there is one call, or if each call launches one.
  const size_t launched_per_call = calls == 1 && values->size() > kernels ? values->size() - kernels : 1;
  const size_t counted_per_call = memsets_too ? 1 : launched_per_call;
  if (!values->empty() && !memsets_too && values->size() != kernels + calls * counted_per_call) {
    outcome.unavailable = calls == 0 ? fmt::format("{} kernels were counted where {} were launched", values->size(), kernels)
                                     : fmt::format("{} kernels were counted for {} launches and {} library calls, and which belong to which "
                                                   "call is not known: count them with `ncu`",
                                                   values->size(), kernels, calls);
    return outcome;
  }
  size_t at = 0;
  for (const PreparedStep& step : plan) {
    const size_t first_count = at;
    at += step.is_memset ? (memsets_too ? 1 : 0) : step.call != nullptr ? counted_per_call : 1;
    if (step.is_memset) continue;
    if (step.call != nullptr) {
      for (size_t i = first_count; i < at && i < values->size(); ++i) {
        KernelProfile part;
        part.kernel = step.kernel;
        FillFromMetrics((*values)[i], &part);
        outcome.kernels.push_back(std::move(part));
      }
      continue;
    }
    KernelProfile kernel;
    kernel.kernel = step.kernel;
    kernel.blocks = int64_t{step.grid[0]} * step.grid[1] * step.grid[2];
    kernel.threads_per_block = int64_t{step.block[0]} * step.block[1] * step.block[2];
    kernel.shared_bytes = step.shared_bytes;
    for (const KernelResources& resources : own.Resources()) {
      if (resources.kernel == step.kernel) kernel.shared_bytes = step.shared_bytes + resources.static_shared_bytes;
    }
    int resident = 0;
    if (context_->driver().OccupancyMaxActiveBlocks(&resident, step.function, static_cast<int>(kernel.threads_per_block),
                                                    step.shared_bytes) == CUDA_SUCCESS && resident > 0 && facts_.sm_count > 0) {
      kernel.values["waves"] = static_cast<double>(kernel.blocks) / (static_cast<double>(resident) * facts_.sm_count);
    }
    if (first_count < values->size()) FillFromMetrics((*values)[first_count], &kernel);
    outcome.kernels.push_back(std::move(kernel));
  }
  return outcome;
}

}  // namespace

Result<std::unique_ptr<DeviceSession>> MakeCudaSession(const CudaSessionOptions& options) {
  return CudaSession::Make(options);
}

Result<std::vector<DeviceFacts>> ListCudaDevices() {
  HONE_ASSIGN_OR_RETURN(const CudaDriver* driver, LoadCudaDriver());
  int count = 0;
  HONE_CUDA_RETURN_IF_ERROR(*driver, driver->DeviceGetCount(&count), "counting CUDA devices");
  if (count == 0) {
    return Status::Unavailable("the CUDA driver shows no device: check `nvidia-smi` and CUDA_VISIBLE_DEVICES");
  }
  std::vector<DeviceFacts> devices;
  for (int i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(DeviceFacts facts, ReadDeviceFacts(*driver, i));
    devices.push_back(std::move(facts));
  }
  return devices;
}

}  // namespace hone
