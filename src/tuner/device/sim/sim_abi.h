// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the C interface between device code compiled for the simulated GPU and its runtime.
//
// The CUDA subset in sim/cuda/ calls these functions; the child process (sim_child.cc) exports them, and an image
// resolves them when it is loaded. Plain C linkage and plain types, because the two sides are built by different
// compilers with different flags. Ordinary loads and stores need no call: the compiler's -fsanitize=thread hooks
// report them to the same runtime.
//
// Every function is called on the stack of one simulated thread (a fiber). Those that wait switch to another fiber
// and return when the wait is over; a launch that has failed never returns from one. The runtime names the source
// line by the return address, so wrappers must be inlined into the candidate's code (always_inline, artificial).
//
// None of them is `leaf`: the compiler must assume that memory changes across every call but the const ones.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// --- indices -------------------------------------------------------------------------------------------------

// Values are returned by const functions, so that a compiler may keep them in registers across barriers, as a GPU does.
enum {
  HONE_SIM_THREAD_X, HONE_SIM_THREAD_Y, HONE_SIM_THREAD_Z,
  HONE_SIM_BLOCK_X, HONE_SIM_BLOCK_Y, HONE_SIM_BLOCK_Z,
  HONE_SIM_BLOCK_DIM_X, HONE_SIM_BLOCK_DIM_Y, HONE_SIM_BLOCK_DIM_Z,
  HONE_SIM_GRID_DIM_X, HONE_SIM_GRID_DIM_Y, HONE_SIM_GRID_DIM_Z,
  HONE_SIM_LANE,            // 0 to 31
  HONE_SIM_WARP,            // within the block
  HONE_SIM_LINEAR_THREAD,   // within the block, x fastest
  HONE_SIM_DYNAMIC_SHARED,  // bytes of dynamic shared memory of the launch
  HONE_SIM_STATIC_SHARED,   // bytes of static shared memory of the image
  HONE_SIM_SM_ID,           // modelled: the block's number modulo the SM count
  HONE_SIM_SM_COUNT,
  HONE_SIM_INDEX_COUNT
};
__attribute__((const)) uint32_t hone_sim_index(uint32_t which);

// Returns the same values as an array of HONE_SIM_INDEX_COUNT. The array is on the fiber's own stack: reads are not
// reported.
__attribute__((const)) const uint32_t* hone_sim_thread(void);

// Key of the launch's displacements of approximate functions (detail/fast_math.h). Every image has its own, and the
// runtime sets it before each launch. The variable is constant for device code, so that reading it is no access.
extern __attribute__((visibility("hidden"))) const uint32_t hone_sim_displacement;

// --- block and grid barriers ------------------------------------------------------------------------------------

// Waits for all threads of the block that have not exited. Orders memory.
void hone_sim_syncthreads(void);

// Waits likewise, and combines the `predicate` of all these threads. HONE_SIM_COUNT returns how many are not zero.
// HONE_SIM_AND and HONE_SIM_OR return 1 if all, or any, are not zero, and otherwise 0.
enum { HONE_SIM_COUNT, HONE_SIM_AND, HONE_SIM_OR };
int hone_sim_syncthreads_reduce(int kind, int predicate);

// Waits at, or only arrives at, a named barrier (PTX barrier.sync, barrier.arrive). `threads` 0 means all of the block;
// else a multiple of 32. `wait` 0 only arrives. barrier 0 with threads 0 is hone_sim_syncthreads.
void hone_sim_named_barrier(uint32_t barrier, uint32_t threads, int wait);

// Waits for all threads of a cooperative launch; ends any other launch as "unsupported".
void hone_sim_grid_sync(void);
// Waits for the launches before this one. They are over, so it returns at once, unless the launch is run to see what its
// threads read before they wait (LaunchSpec::before_wait).
void hone_sim_grid_dependency_wait(void);
int hone_sim_grid_is_cooperative(void);

// --- warp collectives -------------------------------------------------------------------------------------------
// All wait until every lane of `mask` that has not exited has arrived with the same mask and the same function.
// The caller's own bit must be in `mask`. Only hone_sim_syncwarp orders memory.

void hone_sim_syncwarp(uint32_t mask);

// `value` holds up to 8 bytes, low-order first. `width` is a power of two up to 32. A source lane that is absent
// from `mask` or has exited gives a poison value, as CUDA leaves it undefined; a source out of the segment gives the
// caller's own value, as CUDA defines. `in_range` (may be null) receives PTX's predicate: 1 when the source is in
// range. `argument` is the source lane, the delta or the lane mask.
enum { HONE_SIM_SHUFFLE_INDEX, HONE_SIM_SHUFFLE_UP, HONE_SIM_SHUFFLE_DOWN, HONE_SIM_SHUFFLE_XOR };
uint64_t hone_sim_shuffle(int kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width, int* in_range);

// Returns the lanes whose predicate holds (ballot); 1 or 0 for all and any; for uni 1 if the predicate is the same in
// all lanes.
enum { HONE_SIM_VOTE_BALLOT, HONE_SIM_VOTE_ALL, HONE_SIM_VOTE_ANY, HONE_SIM_VOTE_UNI };
uint32_t hone_sim_vote(int kind, uint32_t mask, int predicate);

// Implements match.any and match.all. match.any: the lanes with the caller's value. match.all: `mask` when all are
// equal, else 0; `all_equal` may be null.
uint32_t hone_sim_match_any(uint32_t mask, uint64_t value);
uint32_t hone_sim_match_all(uint32_t mask, uint64_t value, int* all_equal);

// Implements redux.sync over 32-bit values.
enum {
  HONE_SIM_REDUCE_ADD, HONE_SIM_REDUCE_MIN_S32, HONE_SIM_REDUCE_MAX_S32, HONE_SIM_REDUCE_MIN_U32,
  HONE_SIM_REDUCE_MAX_U32, HONE_SIM_REDUCE_AND, HONE_SIM_REDUCE_OR, HONE_SIM_REDUCE_XOR
};
uint32_t hone_sim_warp_reduce(int kind, uint32_t mask, uint32_t value);

// Returns the lanes that run together here: those that reach this call before any other event in the warp.
uint32_t hone_sim_activemask(void);

// Implements the general collective under mma.sync, wmma and ldmatrix: copies `bytes` (at most 256) from every lane of
// `mask` into `all`, lane l at all + l * bytes; absent lanes read as zero bytes. `mine` and `all` must be on the
// caller's stack. `tag` (any number naming the instruction) must be the same in all lanes of the group.
void hone_sim_warp_gather(uint32_t mask, uint32_t tag, const void* mine, size_t bytes, void* all);

// Implements the general collective without copies: when every lane of `mask` has arrived, calls `apply` once for all
// of them, with lane l's two pointers in mine[l] and out[l] (null where the lane is absent or has exited), and resumes
// the lanes when it has returned. `mine` and `out` point into the callers' stacks; `apply` reads `mine` and writes
// `out`, is not instrumented, calls nothing of this interface, and needs at most 16 KiB of stack. `tag` as for the
// gather. Counts as one warp operation.
typedef void (*hone_sim_warp_function)(const void* const* mine, void* const* out);
void hone_sim_warp_apply(uint32_t mask, uint32_t tag, const void* mine, void* out, hone_sim_warp_function apply);

// --- memory -----------------------------------------------------------------------------------------------------

enum { HONE_SIM_RELAXED, HONE_SIM_ACQUIRE, HONE_SIM_RELEASE, HONE_SIM_ACQ_REL };
enum { HONE_SIM_SCOPE_BLOCK, HONE_SIM_SCOPE_DEVICE, HONE_SIM_SCOPE_SYSTEM };
enum { HONE_SIM_READ, HONE_SIM_WRITE, HONE_SIM_UPDATE };

// Implements __threadfence_block, __threadfence and __threadfence_system: acquire and release.
void hone_sim_fence(int scope);

// Announces an atomic access of 1, 2, 4, 8 or 16 bytes before it is done: checks the address, informs the race
// detector, counts, and lets other fibers run when a thread spins. The caller then does the arithmetic in code that is
// not instrumented, with a real atomic instruction (blocks may run on several OS threads).
void hone_sim_atomic(const volatile void* address, uint32_t bytes, int access, int order, int scope);

// Announces an ordinary access that the compiler's hooks cannot see, because the caller performs it in code that is
// not instrumented (ldmatrix, wmma loads, streaming loads). Checks, counts and races as for a plain access.
void hone_sim_access(const volatile void* address, uint32_t bytes, int access);

// Announces volatile or PTX relaxed loads and stores of code that is not instrumented: atomic for the race detector
// when the threads are in different warps, and a point where a spinning thread lets others run.
void hone_sim_volatile(const volatile void* address, uint32_t bytes, int access);

// cp.async: copies `source_bytes` from global to shared memory and zeroes the rest up to `bytes` (4, 8 or 16).
// The copy becomes visible to the caller at the wait, and to others at a barrier after it.
void hone_sim_cp_async(void* shared_destination, const void* global_source, uint32_t bytes, uint32_t source_bytes);
void hone_sim_cp_async_commit(void);
void hone_sim_cp_async_wait(uint32_t groups_left);  // at most `groups_left` of the newest groups stay in flight
void hone_sim_cp_async_wait_all(void);              // uncommitted copies included

// wgmma. Tensor cores read shared memory through the async proxy: what a thread writes is seen there only after a
// fence.proxy.async of the writer, or of the reader after a barrier. They may read until the wait.
void hone_sim_fence_proxy_async(void);
void hone_sim_wgmma_fence(void);
// Called before the reads of an instruction: whole warp groups of 128 threads, after a fence. Returns the size in bytes
// of the segment that holds shared memory, in which the static arrays of all kernels stand before dynamic memory.
uint32_t hone_sim_wgmma_begin(void);
void hone_sim_wgmma_read(const void* shared);  // 16 bytes that the instruction reads, until the wait for its group
void hone_sim_wgmma_commit(void);
void hone_sim_wgmma_wait(uint32_t groups_left);  // at most `groups_left` of the newest groups stay in flight

// These functions convert to and from 32-bit shared addresses (cvta.to.shared). hone_sim_from_shared also takes
// addresses computed from one. hone_sim_to_shared of an address that is not in shared memory ends the launch as out of
// bounds.
__attribute__((pure)) uint32_t hone_sim_to_shared(const void* generic);
__attribute__((pure)) void* hone_sim_from_shared(uint32_t address);
__attribute__((pure)) int hone_sim_is_shared(const void* generic);
__attribute__((pure)) int hone_sim_is_global(const void* generic);

// --- counting ---------------------------------------------------------------------------------------------------

// Counts the multiply-adds of one instruction on the tensor cores; called once per warp.
void hone_sim_count_mma(uint64_t multiply_adds);

// --- other functions --------------------------------------------------------------------------------------------

uint64_t hone_sim_clock(void);      // grows by one with every call; never a measurement
uint64_t hone_sim_globaltimer(void);
void hone_sim_nanosleep(uint32_t nanoseconds);  // lets other threads run
__attribute__((noreturn)) void hone_sim_trap(void);
__attribute__((noreturn)) void hone_sim_assert_fail(const char* expression, const char* file, uint32_t line,
                                                    const char* function);
// Ends the launch with the verdict `unsupported` and this sentence, for features that the simulator cannot run; never a
// guess.
__attribute__((noreturn)) void hone_sim_unsupported(const char* what);

#ifdef __cplusplus
}  // extern "C"
#endif
