// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The emulated CUDA runtime: runs the engine's kernels and its step on a machine without a GPU and without a toolkit.
//
// The engine's sources are compiled unchanged, with the headers in include/ in place of the toolkit's. A kernel's
// threads are fibers on the calling OS thread; device memory is host memory. It is for correctness only: its times mean
// nothing. docs/design/0011-emulated-cuda-runtime.md states what it shows and what it does not.
//
// This header has what a test may ask for beyond CUDA's own interface. There is one state per process, as of one
// device; calls of several OS threads take turns, each until it returns.
//
// A fault (a barrier that not all threads reach, a shuffle from an absent lane, bytes written outside an allocation)
// ends the kernel, and from then on every call of the runtime returns cudaErrorLaunchFailure or
// cudaErrorIllegalAddress, as after a fault on a GPU; cudaGetErrorString then reports what happened, where and in which
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cuda_runtime_api.h"

namespace hone::gnn::cuda::emulated {

// Selects the order of everything that CUDA leaves open.
//   0  blocks, warps and lanes run by number, and work is done when it is enqueued, like on an infinitely fast GPU.
//   n  everything is drawn from the seed n: several blocks in progress at once, warps and lanes in any order, threads
//      interrupted at atomics; streams run behind the host and against each other, only as far as something waits for
//      them, and the nodes of a graph in any order that their dependencies allow.
// Waits for all work first. The same seed and the same calls give the same order.
void SetOrder(uint64_t seed);

// Sets the size of the device's memory; allocations beyond it fail with cudaErrorMemoryAllocation. Initially 16 GiB.
void SetDeviceMemory(size_t bytes);

// Report the device allocations that are alive; tests find leaks by them.
size_t LiveAllocations();
size_t AllocatedBytes();

// What this process's GPU can do with the GPUs of other processes: read their memory, see but not read it, or not see
// them; and whether its own memory can be shared with them.
enum class Peers { kReadable, kApart, kInvisible };
void SetPeers(Peers peers);
void SetMemorySharing(bool possible);

// Lets another process run; called by a kernel that waits for one.
void GiveWay();

// Returns the text of cudaGetErrorString; empty when no fault has happened. ClearFault restores the state of a new
// process.
std::string Fault();
void ClearFault();

// Enqueues host work that replaces a kernel of a library: it runs in the stream's order and is captured like a kernel.
// A dump of captured work shows `arguments`, numbers and addresses, next to its name.
cudaError_t Enqueue(cudaStream_t stream, const char* name, std::function<void()> work,
                    std::span<const uint64_t> arguments = {});

}  // namespace hone::gnn::cuda::emulated
