// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the emulated runtime itself: correct kernels give their results in every order, and faulty kernels are
// detected.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/emulated/emulator_test_kernels.h"
#include "gnn/cuda/emulated/runtime.h"

namespace hone::gnn::cuda {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

std::vector<int> Count(int n) {
  std::vector<int> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// Runs each test in the order by number, and in two random orders.
class Emulator : public testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override { emulated::SetOrder(GetParam()); }
  void TearDown() override { emulated::ClearFault(); }
  template <typename T>
  static DeviceArray<T> Upload(const std::vector<T>& values) {
    DeviceArray<T> array;
    EXPECT_TRUE(array.Upload(values.data(), static_cast<int64_t>(values.size())).ok());
    return array;
  }
  template <typename T>
  static std::vector<T> Download(const DeviceArray<T>& array) {
    std::vector<T> values;
    const Status status = array.Download(values);
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, Emulator, testing::Values(0, 1, 2));

TEST_P(Emulator, ThreadsOfABlockMeetAtBarriersAndShareMemory) {
  const std::vector<int> in = Count(5 * 64);
  const DeviceArray<int> from = Upload(in);
  for (const bool dynamic : {false, true}) {
    const DeviceArray<int> to = Upload(std::vector<int>(in.size()));
    ASSERT_EQ(EnqueueReverse(from.get(), to.get(), 5, true, dynamic, nullptr), cudaSuccess);
    std::vector<int> expected = in;
    for (auto block = expected.begin(); block != expected.end(); block += 64) std::reverse(block, block + 64);
    EXPECT_EQ(Download(to), expected);
  }
}

TEST_P(Emulator, AForgottenBarrierShowsInTheResult) {
  const std::vector<int> in = Count(5 * 64);
  const DeviceArray<int> from = Upload(in);
  const DeviceArray<int> to = Upload(std::vector<int>(in.size()));
  ASSERT_EQ(EnqueueReverse(from.get(), to.get(), 5, false, false, nullptr), cudaSuccess);
  EXPECT_THAT(Download(to), testing::Contains(-1));  // no thread has written this memory, and each of its bytes is 0xff
}

TEST_P(Emulator, LanesExchangeVoteAndReduce) {
  std::vector<int> in;
  for (int i = 0; i < 128; ++i) in.push_back(i * 7 % 12);
  const DeviceArray<int> from = Upload(in);
  const DeviceArray<WarpFacts> to = Upload(std::vector<WarpFacts>(in.size()));
  ASSERT_EQ(EnqueueWarpFacts(from.get(), to.get(), 4, nullptr), cudaSuccess);
  const std::vector<WarpFacts> facts = Download(to);
  for (size_t i = 0; i < in.size(); ++i) {
    const auto warp = in.begin() + static_cast<ptrdiff_t>(i / 32 * 32);
    unsigned odd = 0, like_first = 0;
    for (int lane = 0; lane < 32; ++lane) {
      odd |= warp[lane] % 2 != 0 ? 1u << lane : 0;
      like_first |= warp[lane] == warp[0] ? 1u << lane : 0;
    }
    EXPECT_EQ(facts[i].sum, std::accumulate(warp, warp + 32, 0));
    EXPECT_EQ(facts[i].smallest, *std::min_element(warp, warp + 32));
    EXPECT_EQ(facts[i].odd, odd);
    EXPECT_EQ(facts[i].like_first, like_first);
    EXPECT_EQ(facts[i].next, in[i % 32 == 31 ? i : i + 1]);
  }
}

TEST_P(Emulator, AtomicsLoseNothingAndAreInterruptedInDrawnOrders) {
  const DeviceArray<int> from = Upload(Count(1000));
  const DeviceArray<unsigned> bins = Upload(std::vector<unsigned>(8));
  ASSERT_EQ(EnqueueHistogram(from.get(), 1000, bins.get(), 8, nullptr), cudaSuccess);
  EXPECT_THAT(Download(bins), Each(125u));

  const DeviceArray<unsigned> counter = Upload(std::vector<unsigned>(1)), retries = Upload(std::vector<unsigned>(1));
  ASSERT_EQ(EnqueueCompareAndSwap(counter.get(), retries.get(), nullptr), cudaSuccess);
  EXPECT_EQ(Download(counter)[0], 256u);
  if (GetParam() == 0) {
    EXPECT_EQ(Download(retries)[0], 0u);
  } else {
    EXPECT_GT(Download(retries)[0], 0u);  // another thread ran between reading and exchanging
  }
}

TEST_P(Emulator, TheSeedGivesTheOrder) {
  const auto arrivals = [] {
    const DeviceArray<unsigned> counter = Upload(std::vector<unsigned>(1)), order = Upload(std::vector<unsigned>(256));
    EXPECT_EQ(EnqueueArrivals(counter.get(), order.get(), 4, nullptr), cudaSuccess);
    return Download(order);
  };
  const std::vector<unsigned> first = arrivals(), second = arrivals();
  emulated::SetOrder(GetParam());
  EXPECT_EQ(arrivals(), first);
  EXPECT_EQ(std::is_sorted(first.begin(), first.end()), GetParam() == 0);
  EXPECT_EQ(first == second, GetParam() == 0);  // every launch has another order
  std::vector<unsigned> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(sorted[i], i);
}

TEST_P(Emulator, ABlockMayWaitForALaterOneAndForNothingForEver) {
  const DeviceArray<unsigned> flag = Upload(std::vector<unsigned>(1));
  ASSERT_EQ(EnqueueWaitForFlag(flag.get(), 8, true, nullptr), cudaSuccess);
  EXPECT_EQ(Download(flag)[0], 1u);
  ASSERT_EQ(cudaMemset(flag.get(), 0, sizeof(unsigned)), cudaSuccess);
  EnqueueWaitForFlag(flag.get(), 2, /*raise=*/false, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_THAT(emulated::Fault(), AllOf(HasSubstr("WaitForFlagKernel"), HasSubstr("for ever")));
}

TEST_P(Emulator, MistakesAreToldWithKernelThreadAndLine) {
  const std::vector<std::pair<Mistake, std::vector<std::string>>> cases = {
      {Mistake::kBarrierInBranch, {"BarrierInBranchKernel", "at the block's barrier", "48 have left the kernel"}},
      {Mistake::kDifferentBarriers, {"DifferentBarriersKernel", "different barriers", "thread (32, 0, 0)"}},
      {Mistake::kLaneLeft, {"LaneLeftKernel", "left the kernel"}},
      {Mistake::kOwnLaneMissing, {"OwnLaneMissingKernel", "thread (31, 0, 0)", "0x7fffffff", "itself (lane 31)"}},
      {Mistake::kOtherLaneMissing, {"OtherLaneMissingKernel", "from lane 20", "0x0000ffff"}},
      {Mistake::kLanesWaitApart, {"LanesWaitApartKernel", "in a warp operation"}},
  };
  for (const auto& [mistake, words] : cases) {
    DeviceArray<int> out;
    ASSERT_TRUE(out.Allocate(64).ok());
    EnqueueMistake(mistake, out.get(), nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorLaunchFailure);
    const std::string text = cudaGetErrorString(cudaErrorLaunchFailure);
    EXPECT_THAT(text, HasSubstr("emulator_test_kernels.cu:"));
    for (const std::string& word : words) EXPECT_THAT(text, HasSubstr(word));
    emulated::ClearFault();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
}

TEST_P(Emulator, LaunchesThatNoGpuTakesAreRefused) {
  DeviceArray<int> out;
  ASSERT_TRUE(out.Allocate(64).ok());
  EXPECT_EQ(EnqueueReverse(out.get(), out.get(), 0, true, false, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

#if defined(__SANITIZE_ADDRESS__)
TEST_P(Emulator, AddressSanitizerTellsTheAccessOutsideAnAllocation) {
  const DeviceArray<int> from = Upload(Count(64)), to = Upload(std::vector<int>(30));
  EXPECT_DEATH(
      {
        EnqueueCopy(from.get(), to.get(), 20, 11, nullptr);
        cudaDeviceSynchronize();
      },
      "use-after-poison[^$]*WRITE of size 4[^$]*CopyKernel");
}
#else
TEST_P(Emulator, BytesWrittenOutsideAnAllocationAreToldWithTheKernel) {
  const DeviceArray<int> from = Upload(Count(64)), to = Upload(std::vector<int>(30));
  ASSERT_EQ(EnqueueCopy(from.get(), to.get(), 0, 30, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EnqueueCopy(from.get(), to.get(), 20, 11, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_THAT(emulated::Fault(), AllOf(HasSubstr("CopyKernel"), HasSubstr("byte 120 of an allocation of 120 bytes")));
  emulated::ClearFault();
  std::fill_n(reinterpret_cast<unsigned char*>(to.get() + 30), 4, static_cast<unsigned char>(0xab));  // restored
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}
#endif

TEST_P(Emulator, FreshMemoryHoldsNothingUseful) {
  void* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 64 * sizeof(float)), cudaSuccess);
  std::vector<float> values(64);
  ASSERT_EQ(cudaMemcpy(values.data(), pointer, 64 * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
  for (const float value : values) EXPECT_TRUE(value != value);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_P(Emulator, MemoryEndsAndCopiesStayInside) {
  const size_t before = emulated::AllocatedBytes();
  emulated::SetDeviceMemory(before + (size_t{1} << 20));
  size_t free_bytes = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
  EXPECT_EQ(free_bytes, size_t{1} << 20);
  DeviceArray<int> fits, more;
  EXPECT_TRUE(fits.Allocate(200'000).ok());
  const Status status = more.Allocate(200'000);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.message();
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  emulated::SetDeviceMemory(size_t{16} << 30);
  EXPECT_TRUE(more.Allocate(200'000).ok());

  std::vector<int> host(10);
  EXPECT_EQ(cudaMemcpy(host.data(), fits.get() + 199'995, 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(fits.get() + 199'995, 0, 40), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(fits.get() + 199'990, 0, 40), cudaSuccess);
  cudaGetLastError();
}

TEST_P(Emulator, HostMemoryThatIsMappedIsTheDevicesToo) {
  void* host = nullptr;
  void* device = nullptr;
  ASSERT_EQ(cudaHostAlloc(&host, 4, cudaHostAllocMapped), cudaSuccess);
  ASSERT_EQ(cudaHostGetDevicePointer(&device, host, 0), cudaSuccess);
  *static_cast<int*>(host) = 5;
  ASSERT_EQ(EnqueueStep(static_cast<int*>(device), 2, 1, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*static_cast<int*>(host), 11);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

// Captures a graph that sets x to 1 on `main`, then doubles it on `side` and adds 10 on `main`. `wait`: main adds only
// after side has doubled. `join`: main waits for side at the end.
Status CaptureFork(cudaStream_t main, cudaStream_t side, int* x, bool join, bool wait, cudaGraphExec_t* exec) {
  Event fork, joined;
  HONE_RETURN_IF_ERROR(fork.Make());
  HONE_RETURN_IF_ERROR(joined.Make());
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal));
  const auto record = [&]() -> Status {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueStep(x, 0, 1, main));
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(fork.handle, main));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(side, fork.handle, 0));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueStep(x, 2, 0, side));
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(joined.handle, side));
    if (wait) HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(main, joined.handle, 0));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueStep(x, 1, 10, main));
    if (join) HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(main, joined.handle, 0));
    return Status::Ok();
  };
  const Status status = record();
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(main, &graph);
  HONE_RETURN_IF_ERROR(status);
  HONE_CUDA_RETURN_IF_ERROR(ended);
  const cudaError_t made = cudaGraphInstantiate(exec, graph, 0);
  cudaGraphDestroy(graph);
  HONE_CUDA_RETURN_IF_ERROR(made);
  return Status::Ok();
}

TEST_P(Emulator, ACaptureWithTwoBranchesReplaysInAnOrderThatItsEventsAllow) {
  const DeviceArray<int> x = Upload(std::vector<int>{100});
  Stream main, side;
  ASSERT_TRUE(main.Make().ok() && side.Make().ok());
  GraphExec ordered, racing, unjoined;
  ASSERT_TRUE(CaptureFork(main.handle, side.handle, x.get(), /*join=*/true, /*wait=*/true, &ordered.handle).ok());
  EXPECT_EQ(Download(x)[0], 100);  // the work was recorded and not done
  std::vector<int> seen;
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(cudaGraphLaunch(ordered.handle, main.handle), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(main.handle), cudaSuccess);
    EXPECT_EQ(Download(x)[0], 12);
  }
  // The fork is captured again, without the wait. CUDA allows both orders then, so both must occur in random orders.
  ASSERT_TRUE(CaptureFork(main.handle, side.handle, x.get(), /*join=*/true, /*wait=*/false, &racing.handle).ok());
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(cudaGraphLaunch(racing.handle, main.handle), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(main.handle), cudaSuccess);
    seen.push_back(Download(x)[0]);
  }
  EXPECT_THAT(seen, Each(testing::AnyOf(12, 22)));
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 22) > 0, GetParam() != 0);
  EXPECT_GT(std::count(seen.begin(), seen.end(), 12), 0);

  const Status status =
      CaptureFork(main.handle, side.handle, x.get(), /*join=*/false, /*wait=*/false, &unjoined.handle);
  EXPECT_THAT(status.message(), HasSubstr("StreamCaptureUnjoined"));
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureUnjoined);
}

TEST_P(Emulator, WhatACaptureCannotHoldEndsIt) {
  const DeviceArray<int> x = Upload(std::vector<int>{1});
  Stream main;
  ASSERT_TRUE(main.Make().ok());
  const auto captured = [&](auto&& call) {
    EXPECT_EQ(cudaStreamBeginCapture(main.handle, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(EnqueueStep(x.get(), 1, 1, main.handle), cudaSuccess);
    EXPECT_NE(call(), cudaSuccess);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(main.handle, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    cudaGetLastError();
  };
  void* pointer = nullptr;
  int host = 0;
  captured([&] { return cudaStreamSynchronize(main.handle); });
  captured([&] { return cudaMalloc(&pointer, 4); });
  captured([&] { return cudaMemcpy(&host, x.get(), 4, cudaMemcpyDeviceToHost); });
  EXPECT_EQ(Download(x)[0], 1);
}

TEST_P(Emulator, StreamsRunBehindTheHostAndEventsHoldThem) {
  const DeviceArray<int> x = Upload(std::vector<int>{0});
  Stream first, second;
  Event ready;
  ASSERT_TRUE(first.Make().ok() && second.Make().ok() && ready.Make().ok());
  ASSERT_EQ(EnqueueStep(x.get(), 1, 3, first.handle), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(ready.handle, first.handle), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second.handle, ready.handle, 0), cudaSuccess);
  ASSERT_EQ(EnqueueStep(x.get(), 10, 0, second.handle), cudaSuccess);
  // The default stream, by which Download copies, and the engine's streams do not wait for each other. So this reads the
  // old value, unless the emulator runs work as soon as it is enqueued (parameter 0).
  EXPECT_EQ(Download(x)[0], GetParam() == 0 ? 30 : 0);
  EXPECT_EQ(cudaStreamQuery(second.handle), GetParam() == 0 ? cudaSuccess : cudaErrorNotReady);
  ASSERT_EQ(cudaStreamSynchronize(second.handle), cudaSuccess);
  EXPECT_EQ(Download(x)[0], 30);
  EXPECT_EQ(cudaEventQuery(ready.handle), cudaSuccess);
}

}  // namespace
}  // namespace hone::gnn::cuda
