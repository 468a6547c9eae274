// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs simulated blocks on one OS thread: schedules their fibers, and holds the state that hooks use.
//
// The hooks (hooks.cc, abi.cc) run on a fiber's stack and find their Worker in a thread-local pointer. A block never
// changes its OS thread, because its shared memory is that thread's copy of the image's thread-local segment.
//
// Scheduling: the lanes of a warp run one after another until each waits or exits; then the next warp. Barriers are
// checked only when no thread of the block can run, so a barrier waits for exactly "all others".
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/device/sim/worker/access_counters.h"
#include "tuner/device/sim/worker/access_log.h"
#include "tuner/device/sim/worker/block_owners.h"
#include "tuner/device/sim/worker/block_state.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

// State shared by the workers of one launch.
struct Launch {
  const LaunchSpec* spec = nullptr;
  const ImageLayout* image = nullptr;
  SectorMap* sectors = nullptr;
  BlockOwners* owners = nullptr;  // null: writers are not recorded in this launch

  std::atomic<bool> stop{false};
  std::atomic<uint64_t> next_block{0};
  std::atomic<bool> incomplete{false};  // see LaunchReport
  bool met_in_part = false;             // blocks of a cooperative sample have passed a barrier of the grid without the
                                        // others. Set by the only worker of such a launch
  // progress counts the passes of any worker in which some thread did more than spin. idle_workers counts the workers
  // that have only spun for a while or have no block left. When all workers are idle, nothing can change any more.
  std::atomic<uint64_t> progress{0};
  std::atomic<int> idle_workers{0};

  // For launches in order (LaunchSpec::in_order): blocks are assigned in turn to this many imagined SMs, each with one
  // first-level cache. Only the single worker of such a launch uses these.
  static constexpr uint64_t kPretendedSms = 4;
  std::array<L1Cache, kPretendedSms> caches;
  std::vector<std::pair<uint64_t, uint64_t>> first_writes;  // by finished block: its number, and BlockState::first_writes
  uint64_t spent = 0;  // part of LaunchSpec::access_budget used by finished blocks

  // For cooperative launches: workers meet when all their blocks wait for the grid.
  std::mutex grid_mutex;
  std::condition_variable grid_changed;
  int workers = 1, workers_waiting = 0;
  uint64_t grid_generation = 0;
  int workers_done = 0;

  std::mutex mutex;  // guards the fields below
  LaunchEnd end = LaunchEnd::kOk;
  std::string detail;
  std::vector<RawFinding> findings;
  std::set<std::pair<std::string, uint64_t>> reported;
};

class Worker {
 public:
  // `number`: 0 for the first OS thread. Call on the thread that will run blocks.
  explicit Worker(int number);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs this worker's part of the launch on the calling OS thread. `shared` is that thread's shared-memory segment.
  void Run(Launch& launch, uint8_t* shared);

  // --- called by hooks, on a fiber ---

  // Ends the launch. Never returns.
  [[noreturn]] void End(LaunchEnd end, std::string kind, std::string message, std::vector<uint64_t> pcs);
  // Records a finding that does not end the launch. `pcs` are return addresses.
  void Note(std::string kind, std::string message, std::vector<uint64_t> pcs, bool only_if_lines_differ = false);
  // Suspends the fiber; returns when it may continue.
  void SwitchOut();

  // Waits at a barrier of the whole block. `kind` says how predicates are combined in *result, as in
  // __syncthreads_count.
  void BlockBarrier(int kind, int predicate, uint64_t pc, int* result);
  // Waits at, or (`wait` false) only arrives at, a named barrier. `threads`: how many it is for; 0: the whole block.
  void NamedBarrierWait(uint32_t barrier, uint32_t threads, bool wait, uint64_t pc);
  void GridBarrier(uint64_t pc);
  // Meets the other lanes of a collective. Operands and the result are in the fiber's record.
  void Meet(Collective collective, uint32_t mask, uint32_t tag, uint64_t pc);
  // Counts an access by which a thread may be spinning, and lets other threads run after kSpinsBeforeYield of them.
  void Spin() {
    if (++fiber->spins >= kSpinsBeforeYield) Yield();
  }
  void Yield();  // lets other threads run
  // Completes a thread's asynchronous copies until at most `groups_left` committed groups are in flight.
  // `uncommitted_too`: also those that no group contains yet.
  void FinishCopies(Fiber& f, uint32_t groups_left, bool uncommitted_too);

  // The products of a warp group, wgmma (worker_warp_group.cc).
  void BeginGroupProduct(uint64_t pc);
  // Records that a product in flight reads 16 bytes of shared memory.
  void ReadForGroup(uint64_t address, uint64_t pc);
  // Ends the reads of all but the latest `groups_left` committed products.
  void FinishGroupReads(Fiber& f, uint32_t groups_left);
  void GroupNotWaitedFor();  // ends the launch: a thread ended before its products did

  std::string WhereText() const;  // "block (0, 0, 0) thread (31, 0, 0)"
  std::string ThreadText(int thread) const;
  std::string AddressText(uint64_t address, uint64_t bytes) const;  // "'x' + 4096 bytes", "16 bytes past the end of 'x'"

  // Slow paths of accesses; see worker_access.h.
  bool IsGuard(uint32_t shared_offset) const;
  // Notes in `site` the bound range that contains the access. Returns false if none contains it whole.
  bool SetRange(Site& site, uint64_t address, uint64_t bytes);
  [[noreturn]] void OutOfBounds(uint64_t pc, uint64_t address, uint64_t bytes, bool writes);
  [[noreturn]] void Misaligned(uint64_t pc, uint64_t address, uint64_t bytes, bool writes);
  // Judges an access outside of the bound tensors: the image's own data, the thread's stack, or nothing that it may
  // touch.
  void OtherAddress(uint64_t address, uint64_t bytes, bool writes, bool atomic, uint64_t pc);
  [[noreturn]] void InputWritten(Site& site, uint64_t address);
  // Notes which block writes, and reports a read of what another block has written without an order between them.
  void OwnedAccess(Site& site, uint64_t address, uint64_t bytes, bool reads, bool writes, Ordering ordering);
  // Lets other blocks run before a thread writes to the address of its last volatile read, once in each block. If
  // nothing keeps other blocks from reading the same value, an update is lost, and the output shows it.
  void LetOthersIn(uint64_t address);
  // Marks the bytes as written, or reports a read of bytes that were not, in a block whose written bytes are recorded.
  void SparseAccess(Site& site, uint64_t address, uint64_t bytes, bool reads, bool writes);
  void UnwrittenGlobal(Site& site, uint64_t address, uint64_t bytes);
  // Reports a race, or a read of unwritten bytes, that the block's shadow of shared memory has found.
  void SharedConflictFound(uint64_t pc, uint32_t offset, uint32_t bytes, bool writes);
  void LogFull(Site& site, uint64_t offset);  // counts an access that the log has no room for
  void CheckRepeatedWrites();                 // reports those of `repeated_writes` that changed memory

  // --- hot state, read by every hook ---
  uint64_t shared_begin = 0, shared_bytes = 0;
  uint64_t stack_begin = 0, stack_bytes = 0;
  uint64_t stack_write_bytes = 0;  // the part that the thread may write: the record of its fiber lies above
  uint64_t* log_cursor = nullptr;
  uint64_t* log_limit = nullptr;
  int self = 0;                 // thread within the block
  Fiber* fiber = nullptr;
  BlockState* block = nullptr;
  AccessCounters counters;
  Launch* launch = nullptr;
  uint32_t static_shared = 0, dynamic_begin = 0, dynamic_end = 0;
  bool several_workers = false;
  uint64_t ticks = 0;           // number of reads of hone_sim_clock
  // A write that raced with another thread's write. It is harmless if it stores the value that is there, as redundant
  // writes by all lanes do. This is checked when the thread next waits.
  struct RepeatedWrite {
    uint64_t address = 0;
    uint32_t bytes = 0;
    uint8_t before[16] = {};
    RawFinding finding;
    uint64_t pc = 0;
  };
  std::vector<RepeatedWrite> repeated_writes;

 private:
  static constexpr uint32_t kMaxGatherBytes = 256;
  enum class Stop { kDone, kGrid, kSpinning, kAborted };
  static constexpr uint32_t kSpinsBeforeYield = 128;  // volatile reads in a row before a thread lets others run
  static constexpr int kSpinRounds = 200;          // rounds of a block in which its running threads only spin, until
                                                   // other blocks run
  static constexpr int kSpinRoundsOfMany = 10;     // the same while other blocks of this OS thread wait to go on
  static constexpr int kStuckRounds = 20 * kSpinRounds;  // rounds without progress after which a launch is ended
  static constexpr size_t kMaxResident = 128;            // most blocks in progress on one OS thread, begun to release
                                                         // one that spins: enough for any sample

  // Makes the initial contents of blocks' shared and local memory, unique to this launch: random bytes, NaNs or
  // plausible numbers, depending on the key.
  void MakeFill();
  void BeginBlock(BlockState& state, uint64_t number);  // sets up block `number` of the grid
  // Runs a block until it is done, or until all running threads have only spun for `patience` rounds.
  Stop RunBlock(BlockState& state, int patience);
  bool RunWarp(BlockState& state, int warp, bool* only_yields);
  void Resume(BlockState& state, int thread);
  void NoteExit(BlockState& state, int thread);
  void CompleteGroup(BlockState& state, int warp, size_t group);
  // Returns whether a warp operation waits for the loads before it. On a GPU it waits for its operands. Here operands
  // are register values of unknown origin. But a shuffle whose operands equal those of an earlier one, bit for bit,
  // waits for nothing: indices that are loaded once and then broadcast one after the other do not delay the loads
  // between the broadcasts.
  bool MustWait(BlockState& state, int warp, const WarpGroup& group) const;
  bool CompleteReadyGroups(BlockState& state, int warp);
  bool ReleaseBlockBarrier(BlockState& state);
  bool ReleaseActive(BlockState& state);
  void ReportDeadlock(BlockState& state);
  void ReleaseGrid(BlockState& state);
  void Activate(BlockState* state);  // makes the block's shared memory the active one
  void RunIndependent();
  void RunCooperative();
  void RunCooperativeSample();
  bool MeetGrid();
  void Leave();
  std::unique_ptr<BlockState> MakeBlock() const;
  void AddCost();  // adds a finished block's cost to the launch's total
  // Call after a pass over this worker's blocks in which none of them ended: records whether anything changed, and ends
  // the launch when nothing has changed anywhere for kStuckRounds. A count of rounds does not depend on the host's
  // load.
  void NotePass(bool moved, int rounds);

  // Runs one thread of the candidate, on a fiber's stack, from its start to its end.
  static void FiberMain(simt::FiberTransfer transfer);

  int number_;
  uint64_t reported_cost_ = 0;
  uint64_t gathers_ = 0;               // number of lanes that took part in gathers (hone_sim_warp_gather,
                                       // hone_sim_warp_apply)
  AccessLog log_;
  simt::FiberPoint* scheduler_ = nullptr;
  BlockState* active_ = nullptr;       // block whose shared memory is active
  bool yielded_ = false, aborting_ = false;
  bool some_log_filled_ = false;       // in this round of the block, log_filled_ stopped some thread
  bool log_filled_ = false;            // the running thread stopped because its log was full: its warp's logs are read
                                       // before it goes on
  bool let_others_in_ = false;         // the block is to pause although its threads could go on
  bool moved_ = false;                 // a thread did more than spin since RunBlock was called
  bool idle_ = false;                  // counted in Launch::idle_workers
  int idle_rounds_ = 0;
  uint64_t seen_progress_ = 0;
  std::vector<uint8_t> fill_;          // initial contents of blocks' shared and local memory in this launch, stored
                                       // twice
  size_t fill_span_ = 0;               // bytes; the fill of a block starts at some offset below this
  std::unique_ptr<BlockState> primary_;  // kept from launch to launch while the block size stays
};

// The worker that runs a launch on this OS thread, or null: static initialisers of an image call hooks too. constinit
// keeps an initialisation guard off the hooks' path.
extern constinit thread_local Worker* current_worker;

}  // namespace hone::sim
