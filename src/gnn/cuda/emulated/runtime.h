// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The emulated CUDA runtime: the engine's kernels and its step on a machine without a GPU and without a toolkit.
//
// The engine's sources are compiled as they are, against the headers in include/, which stand in the place of the
// toolkit's. A kernel's threads are fibers on the calling OS thread; device memory is host memory. It is for
// correctness only: its times mean nothing. docs/design/0011-emulated-cuda-runtime.md says what it shows and what not.
//
// What a test may ask for beyond CUDA's own interface is here. State is one per process, as a device's is; calls come
// from one OS thread at a time.
//
// A fault (a barrier that not all threads reach, a shuffle from a lane that is not there, bytes written outside an
// allocation) ends the kernel, and from then on every call of the runtime gives cudaErrorLaunchFailure or
// cudaErrorIllegalAddress, as a GPU's context does; cudaGetErrorString then tells what happened, where and in which
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cuda_runtime_api.h"

namespace hone::gnn::cuda::emulated {

// The order in which things happen that CUDA leaves open.
//   0  blocks, warps and lanes by number, and work is done when it is enqueued: a GPU that is infinitely fast.
//   n  all of it drawn from the seed n: several blocks in progress at once, warps and lanes in any order, threads
//      interrupted at atomics; streams run behind the host and against each other, only as far as somebody waits, and
//      the nodes of a graph in any order that their dependencies allow.
// Everything is waited for first. The same seed and the same calls give the same order.
void SetOrder(uint64_t seed);

// Size of the device; allocations beyond it fail with cudaErrorMemoryAllocation. 16 GiB at the start.
void SetDeviceMemory(size_t bytes);

// Device allocations alive; a test finds leaks by it.
size_t LiveAllocations();
size_t AllocatedBytes();

// What this process's GPU can do with those of others: read their memory, not read it, or not even see them. And whether
// its memory can be given to them.
enum class Peers { kReadable, kApart, kInvisible };
void SetPeers(Peers peers);
void SetMemorySharing(bool possible);

// Lets another process run: of a kernel that waits for one.
void GiveWay();

// What cudaGetErrorString tells; empty when no fault has happened. ClearFault is as a new process.
std::string Fault();
void ClearFault();

// Work of the host that stands for a kernel of a library: runs in the stream's order, is captured like a kernel.
// `arguments`, numbers and addresses, are what a dump of the captured work tells besides its name.
cudaError_t Enqueue(cudaStream_t stream, const char* name, std::function<void()> work,
                    std::span<const uint64_t> arguments = {});

}  // namespace hone::gnn::cuda::emulated
