// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the judge's interface to a device: memory with guarded gaps, inputs drawn in place, launches that may crash
// or hang, comparison and digests where the data is, and timed samples. It has two implementations: device/cuda (driver
// API, inside the worker process) and device/sim (the simulated GPU).
//
// The judge (evaluate/judge/judge.cc) and the timing protocol use only this interface, and are tested with a fake. Not
// thread-safe: one session, one thread. All calls return when the work is done, unless they say otherwise.
//
// A Status means that the device or the session failed (the caller reports device_lost). A candidate's fault is
// returned in a LaunchOutcome. After kCrashed or kTimedOut the session may be `lost()`: no further call is allowed and
// the owner makes a new one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"
#include "tuner/core/program/compiled_program.h"
#include "tuner/device/shared_block.h"

namespace hone {

// A strided view of device memory. `address` is in the device's address space (in the simulator: in this process, whose
// child maps the same pages at the same address).
struct TensorView {
  uint64_t address = 0;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  int64_t elements = 0;
  int64_t span_bytes = 0;
  int slice_axis = -1;  // -1: not sliced

  int64_t slices() const { return slice_axis < 0 ? 1 : shape[static_cast<size_t>(slice_axis)]; }
};

// The kept indices of a part of a tensor, by axis number. An axis without an entry is kept whole.
using KeptIndices = std::map<int, std::vector<int64_t>>;
// Runs of elements, as [first, last) from a view's address, ascending.
using ElementRuns = std::vector<std::pair<int64_t, int64_t>>;

// A block of an arena. The order of blocks is unspecified; between, before and after them are gaps of at least 256
// bytes (guard zones), filled with a secret pattern.
struct BlockRequest {
  int64_t bytes = 0;
  int64_t align = 256;
  bool exact_align = false;  // address % (2 * align) == align: aligned as promised and no better
  bool sampled = false;      // for launches that run a sample of the blocks: the simulator may map one tile of memory
                             // over and over
  bool written = false;      // with `sampled`: launches write the block, so every byte has memory of its own
  // On a GPU, for all blocks of an arena or none: the block has memory of its own. Launches of a candidate see it at a
  // secret address with nothing mapped beside it, and an access there crashes. A device or session without this feature
  // makes an ordinary arena.
  bool apart = false;
  bool read_only = false;  // with `apart`: launches of a candidate crash if they write it
  // With `apart`: a page of gap is mapped on either side, for launches that would crash if there were no gap.
  bool mapped_neighbors = false;
};

class Arena {
 public:
  virtual ~Arena() = default;  // releases the memory
  virtual uint64_t address(size_t block) const = 0;
  virtual size_t blocks() const = 0;
};

// Description of the draw of one tensor: values/draw.h has the element function, identical on all devices.
struct DrawRequest {
  TensorView view;
  ValueSpec values;              // distribution and its parameters; index_bound already in `index_bound`
  int64_t index_bound = 0;       // only for kIndex and kOffsets
  uint64_t key = 0;              // secret; one per (evaluation, input set, tensor)
  uint64_t permutation_key = 0;  // 0: slice s is drawn as slice s; else as slice Permute(s)
  uint64_t redraw_key = 0;       // 0: none; else slices in `redrawn` are drawn with this key, as themselves
  std::vector<int64_t> redrawn;  // sorted slice numbers
  uint64_t pattern_key = 0;      // kSpecial: one per input set
};

// Contents of memory before a launch writes it. There are several patterns: a kernel that relies on zeros, on a NaN or
// on the last launch's numbers must fail sooner or later, and none may recognise unwritten memory.
enum class FillKind {
  kNan,    // floating point: a signalling NaN, which arithmetic does not produce, with a payload from the key; other
           // dtypes as kBytes
  kBytes,  // every byte random
  kPlausible,  // numbers like those of inputs: magnitudes from 1/8 to 2 of either sign, integers below 64
};
struct FillSpec {
  FillKind kind = FillKind::kNan;
  uint64_t key = 1;
};

// Counters of one comparison; computed where the data is, only these are copied back.
struct Comparison {
  int64_t total = 0;
  int64_t wrong = 0;      // outside c_max or c_small, or NaN or Inf where the reference is finite, or unwritten
  int64_t unwritten = 0;  // still the poison pattern
  int64_t non_finite = 0;
  std::optional<int64_t> first_wrong;  // linear row-major element number, the smallest
  double first_expected = 0, first_actual = 0;
  double max_scaled = 0;  // max |err| / max(|ref|, rms of the slice's ref, floor): Tolerance::floor, and never
                          // less than the dtype's smallest normal number
  double rms_error = 0;   // sqrt(sum err^2 / sum ref^2); 0 when ref is all zero and err is too. The rms of ref
                          // counts as the dtype's smallest normal number at least
  double max_small = 0;   // max |err| / max(|ref|, small_floor * rms of the slice's ref), as Tolerance has it
  double max_ulp = 0, mean_ulp = 0;  // in units of the output dtype
};

// Addresses of every named tensor, reference and workspace of one plan execution.
struct Bindings {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, uint64_t> references;  // "ref:NAME" of oracles: dense row-major doubles
  std::map<std::string, uint64_t> workspaces;
  std::set<std::string> read_only;  // tensors that a launch must not write; the simulator reports the line
};

// Cost of a launch in the simulator's model. Absent on real devices.
struct ModelledCost {
  double time_us = 0;
  double dram_bytes = 0;
  double sectors = 0, requests = 0;  // global memory
  double bank_conflicts = 0;         // extra shared-memory cycles
  double accesses = 0;               // observed accesses
  double host_seconds = 0;           // processor time the simulation took, all cores together
  double sampled_block_fraction = 1.0;
  // For a sample of blocks: the share of the outputs that they wrote, divided by their share of the grid. About 1 if
  // the blocks divide the work evenly; -1: not known.
  double written_share = -1;
  // The sampled blocks wrote the values that a launch of the whole grid would have written in the same places (they
  // read nothing that other blocks write, and added to nothing), and `written_share` is plausible.
  bool comparable = false;
  // As `comparable`, but whatever `written_share` is: what was written is right or wrong, even if it is little.
  bool complete = false;
  std::vector<int64_t> written_slices;  // slices that the sampled blocks wrote to, ascending, 4096 at most
  // For a sample of blocks of a plan's only kernel: the bytes of the outputs that each sampled block wrote, divided by
  // the average over all blocks of a launch that writes every output once. Without the blocks at the grid's corners;
  // empty: not known.
  std::vector<double> block_shares;
  double calls_us = 0;  // part of time_us that library calls take, by the model (sim::ModelProduct)
};

enum class LaunchStatus { kOk, kLaunchError, kResourceLimit, kCrashed, kTimedOut, kRuleViolation, kUnsupported };

struct LaunchOutcome {
  LaunchStatus status = LaunchStatus::kOk;
  std::string detail;             // the driver's or the simulator's words, with what was launched
  std::vector<Finding> findings;  // from the simulator: races, out-of-bounds, …; kCrashed or kRuleViolation come with
                                  // one
  std::optional<ModelledCost> cost;
};

// Says how many blocks a secret sample runs (LaunchRequest::sample_key): `most` of them, but no further one begins after
// `accesses` observed accesses, unless fewer than `least` have begun and less than `accesses_at_most` were observed.
// Counts, and not seconds, so that a verdict does not depend on the machine's speed.
struct SampleSize {
  int most = 64;
  int least = 1;
  double accesses = 1e7;
  double accesses_at_most = 1e8;
};

struct LaunchRequest {
  const ResolvedPlan* plan = nullptr;
  const Bindings* bindings = nullptr;
  double limit_seconds = 10;
  bool trusted = false;        // the launch is the oracle's: all blocks run
  // Simulator: a stratified sample of blocks is enough (outputs are then partial), and library calls are not computed
  // unless `sample_key` is set.
  bool sample_blocks = false;
  uint64_t sample_key = 0;     // simulator: a secret that selects blocks other than those whose cost gives the time
  SampleSize sample_size;      // simulator, with `sample_key`
  uint64_t block_key = 0;      // simulator: selects the blocks whose cost gives the time; 0: a function of the grid
                               // alone
};

// Compiled modules loaded on the device. Must be destroyed before its session.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  // Returns resources of each kernel, filled in by the driver if the compiler did not know them.
  virtual std::vector<KernelResources> Resources() const = 0;
  // Returns how many blocks of `block_threads` threads and `shared_bytes` of dynamic shared memory one SM can hold at a
  // time; an error when the program has no such kernel.
  virtual Result<int64_t> Occupancy(const std::string& kernel, const std::string& binding_key, int64_t block_threads,
                                    int64_t shared_bytes) const = 0;
  // Returns the bytes of writable device globals (`__device__` variables) in the modules.
  virtual int64_t WritableGlobalBytes() const = 0;
};

// One timed sample: `sets.size()` plan executions, set after set, in one interval.
struct SampleRequest {
  LoadedProgram* program = nullptr;
  const ResolvedPlan* plan = nullptr;
  std::vector<const Bindings*> sets;
  CacheState cache = CacheState::kCold;
  double limit_seconds = 10;
  // In host mode (programs with host code of their own): the host code is Hone's (a library's call), so that its work
  // may be recorded before the interval begins.
  bool trusted = false;
  uint64_t block_key = 0;  // simulator: selects the blocks whose cost gives the time; 0: a function of the grid alone
  // The contents of these views right after the interval, in stream order, are compared with their contents once the
  // device is idle (SampleOutcome::changed_after_end). Devices that run one thing at a time need not compare.
  std::vector<TensorView> watched;
};

struct SampleOutcome {
  LaunchOutcome launch;     // kOk, or the error
  bool changed_after_end = false;  // a watched view was still being written when the interval had ended
  double us_per_plan = 0;   // interval / sets.size()
  double sm_clock_mhz = 0;  // 0: not known
};

// One execution of a plan, counted kernel by kernel.
struct ProfileRequest {
  LoadedProgram* program = nullptr;
  const ResolvedPlan* plan = nullptr;
  const Bindings* bindings = nullptr;
  // Restores the buffers' state before a launch. Called before each of the executions that a device needs: counters are
  // few, so a GPU runs the same work many times.
  std::function<Status()> prepare;
  double limit_seconds = 10;  // limit on each execution
};

struct ProfileOutcome {
  LaunchOutcome launch;
  std::string source;                  // simulator | cupti | ncu
  std::string unavailable;             // not empty: nothing was counted; one sentence with the remedy
  std::vector<KernelProfile> kernels;  // one per launched kernel, in order
};

// The device's state around a timing, as reported by the device. Numbers are 0 if not known.
struct DeviceCondition {
  double sm_clock_mhz = 0;
  std::string throttle;     // empty: none active
  int other_processes = 0;  // computing on the same device
};

class DeviceSession {
 public:
  virtual ~DeviceSession() = default;

  virtual const DeviceFacts& facts() const = 0;
  virtual bool lost() const = 0;

  // --- programs ---
  // A candidate that does not load (shared memory, unresolved symbol) is an outcome, not a Status.
  struct LoadOutcome {
    std::unique_ptr<LoadedProgram> program;  // null: see launch
    LaunchOutcome launch;
  };
  virtual Result<LoadOutcome> Load(const CompiledProgram& program) = 0;
  // Returns whether the last launch left a writable global different from its initial image, to which globals are set
  // back before every Launch and TimeSample.
  virtual Result<bool> GlobalsChanged(LoadedProgram& program) = 0;

  // --- memory ---
  virtual Result<std::unique_ptr<Arena>> Allocate(const std::vector<BlockRequest>& blocks, uint64_t gap_key) = 0;
  // Returns the first damaged gap as a sentence ("12 bytes written 40 bytes past block 3"); nullopt when intact.
  // Repairs the gaps.
  virtual Result<std::optional<std::string>> CheckGaps(Arena& arena) = 0;
  virtual int64_t FreeBytes() const = 0;
  // Moves blocks that lie apart to other places in their memory, and some of them to other addresses, chosen by `key`.
  // Their contents are lost and Arena::address changes. false: the blocks do not lie apart, and nothing changed.
  virtual Result<bool> Rearrange(Arena& arena, uint64_t key) {
    (void)arena;
    (void)key;
    return false;
  }
  // Returns the address at which a candidate's launch sees the memory that every other call names `address`.
  virtual uint64_t LaunchAddress(uint64_t address) const { return address; }

  // --- data ---
  virtual Status Draw(const DrawRequest& request) = 0;
  // Sets every addressed byte of the view to the poison pattern of its dtype: a NaN with a known payload, or a fixed
  // odd integer. Bytes between strided rows are set too.
  virtual Status Poison(const TensorView& view) = 0;
  // Fills the view with contents chosen by a secret. Compare counts kNan's elements as not written, whatever their
  // payload; the other kinds' elements are wrong like any other number.
  virtual Status FillWith(const TensorView& view, const FillSpec& fill) = 0;
  virtual Status Fill(uint64_t address, int64_t bytes, uint8_t value) = 0;
  virtual Result<bool> IsZero(uint64_t address, int64_t bytes) = 0;
  virtual Status CopyFromHost(uint64_t address, const void* source, int64_t bytes) = 0;
  virtual Status CopyToHost(void* destination, uint64_t address, int64_t bytes) = 0;
  // Makes at least `bytes` of device memory that another process of the judge maps too. kResourceExhausted: there is too
  // little memory now; kUnavailable: this device or system does not share memory.
  virtual Result<std::unique_ptr<SharedBlock>> Share(int64_t bytes) {
    (void)bytes;
    return Status::Unavailable("this device does not share memory between processes");
  }
  // Returns whether `block` is this session's, and the device is not lost.
  virtual bool Shares(const SharedBlock& block) const {
    (void)block;
    return false;
  }
  // Copies between memory of this session, shared memory included. Does not wait; later work of the session, such as
  // Compare, meets the copy done. Another process must not look before WaitForCopies.
  virtual Status CopyOnDevice(uint64_t destination, uint64_t source, int64_t bytes) {
    (void)destination, (void)source, (void)bytes;
    return Status::Internal("this device copies to and from the host only");
  }
  // Waits until all copies are done.
  virtual Status WaitForCopies() { return Status::Ok(); }
  // Copies the listed slices of `source`, dense and row-major, to `destination` (slices.size() long on the slice axis).
  // A tensor without a slice axis is copied whole.
  virtual Status GatherSlices(const TensorView& source, const TensorView& destination,
                              const std::vector<int64_t>& slices) = 0;

  // Copies a part of `source`: the listed indices of every axis that `kept_indices` names, and all of the other axes.
  // `destination` is dense, row-major, and as long on each axis as the number of indices kept. Only the simulated GPU
  // and fakes can do this.
  virtual Status GatherBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices) {
    (void)source;
    (void)destination;
    (void)kept_indices;
    return Status::Internal("this device copies slices only");
  }
  // Returns the runs of memory of an output that the last launch has written, as [first, last) in elements from the
  // view's address, ascending. A device that runs whole grids returns the whole view.
  virtual Result<ElementRuns> Written(const TensorView& view) {
    return ElementRuns{{0, view.span_bytes / std::max<int64_t>(1, DTypeBytes(view.dtype))}};
  }

  // --- launches ---
  virtual Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) = 0;

  // --- checking ---
  // `reference`: dense row-major doubles of the same shape.
  virtual Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) = 0;
  // Returns one 64-bit keyed digest per slice (values/slice_digest.h) of the elements' bits: NaN payloads and the sign
  // of zero make a difference.
  virtual Result<std::vector<uint64_t>> Digest(const TensorView& view, uint64_t key) = 0;
  // Returns the digests of each view, in order. A device may do this in one round trip: with many small buffer sets,
  // round trips dominate the cost of checking.
  virtual Result<std::vector<std::vector<uint64_t>>> DigestMany(const std::vector<TensorView>& views, uint64_t key) {
    std::vector<std::vector<uint64_t>> digests;
    for (const TensorView& view : views) {
      HONE_ASSIGN_OR_RETURN(std::vector<uint64_t> digest, Digest(view, key));
      digests.push_back(std::move(digest));
    }
    return digests;
  }

  // --- timing ---
  //
  // Puts caches into the requested state, then times. The judge has drawn inputs and poisoned outputs before.
  virtual Result<SampleOutcome> TimeSample(const SampleRequest& request) = 0;
  // Times a kernel that streams `traffic` (bytes read and written), by TimeSample's protocol, and returns the floor:
  // the microseconds of one execution. A sample has `sets` executions, each on a part of memory of its own where those
  // fit.
  virtual Result<double> TimeFloor(const Traffic& traffic, int sets, CacheState cache) = 0;
  virtual Result<DeviceCondition> Condition() = 0;
  // Announces that `count` processes of the judge hold the device and are idle while it times: they are not counted as
  // other processes.
  virtual void ExpectProcesses(int count) { (void)count; }

  // --- profiling ---
  //
  // Counts with cold caches; times are not comparable with TimeSample's. Sets `unavailable` if the device has no
  // counters.
  virtual Result<ProfileOutcome> Profile(const ProfileRequest& request) {
    (void)request;
    ProfileOutcome outcome;
    outcome.unavailable = "this device has no counters that Hone can read";
    return outcome;
  }
};

}  // namespace hone
