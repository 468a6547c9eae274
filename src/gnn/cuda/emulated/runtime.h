// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The emulated CUDA runtime runs the engine's kernels and its step on a machine without a GPU and without a toolkit.
//
// The engine's sources are compiled unchanged, with the headers in include/ in place of the toolkit's. A kernel's
// threads are fibers on the calling OS thread; device memory is host memory. The runtime tests correctness only: its
// times mean nothing. docs/design/0011-emulated-cuda-runtime.md states what it shows and what it does not.
//
// This header declares what a test may ask for beyond CUDA's own interface. The state is one per process, that of one
// device. Calls of several OS threads take turns, each until it returns.
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
//   0  Blocks, warps and lanes run by number, and work is done when it is enqueued, like on an infinitely fast GPU.
//   n  Everything is drawn from the seed n. Several blocks are in progress at once, warps and lanes run in any order,
//      and threads are interrupted at atomics. Streams run behind the host and against each other, only as far as
//      something waits for them, and the nodes of a graph run in any order that their dependencies allow.
// The call first waits for all work. The same seed and the same calls give the same order.
void SetOrder(uint64_t seed);

// Sets the size of the device's memory in bytes, initially 16 GiB. Allocations beyond it fail with
// cudaErrorMemoryAllocation.
void SetDeviceMemory(size_t bytes);

// Return the number and the bytes of device allocations that are alive; tests find leaks by them.
size_t LiveAllocations();
size_t AllocatedBytes();

// Says what this process's GPU can do with the GPUs of other processes: read their memory, see but not read it, or not
// see them. SetMemorySharing says whether its own memory can be shared with them.
enum class Peers { kReadable, kApart, kInvisible };
void SetPeers(Peers peers);
void SetMemorySharing(bool possible);

// Lets another process run. A kernel that waits for another process calls this.
void GiveWay();

// Returns the text of cudaGetErrorString; empty if no fault has happened. ClearFault restores the state of a new
// process.
std::string Fault();
void ClearFault();

// Enqueues host work that replaces a kernel of a library. The work runs in the stream's order and is captured like a
// kernel. A dump of captured work shows `arguments`, which are numbers and addresses, next to `name`.
cudaError_t Enqueue(cudaStream_t stream, const char* name, std::function<void()> work,
                    std::span<const uint64_t> arguments = {});

}  // namespace hone::gnn::cuda::emulated
