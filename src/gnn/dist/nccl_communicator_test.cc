// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how NCCL is loaded and called, with a fake library; NCCL itself needs GPUs.
#include "gnn/dist/nccl_communicator.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gnn/dist/socket.h"
#include "gnn/dist/test_ranks.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

TEST(NcclCommunicator, ExchangesTheUniqueIdEnqueuesAndEndsOnAnAsynchronousError) {
  UniqueFd listener = std::move(ListenOn("127.0.0.1", 0)).value();
  const int port = BoundPort(listener.get());
  const int inherited = listener.Release();
  OnEachRank(2, [&](int r) {
    GroupOptions options;
    options.place = {.rank = r, .size = 2, .job = "nccl", .master_address = "127.0.0.1", .ports = {port}};
    options.place.listener = r == 0 ? inherited : -1;
    options.heartbeat_timeout = 300;  // no test waits for silence
    Result<std::unique_ptr<ProcessGroup>> group = ProcessGroup::Join(std::move(options));
    ASSERT_TRUE(group.ok()) << group.status().message();
    Result<std::shared_ptr<NcclCommunicator>> communicator_or_error = MakeNcclCommunicator(**group, HONE_FAKE_NCCL);
    ASSERT_TRUE(communicator_or_error.ok()) << communicator_or_error.status().message();
    NcclCommunicator& comm = **communicator_or_error;
    EXPECT_EQ(comm.version(), "2.28.9");
    EXPECT_EQ(comm.rank(), r);
    auto* stream = reinterpret_cast<CUstream_st*>(&comm);  // any address: the fake library only checks for null
    std::vector<float> values = {1, 2.5};
    EXPECT_TRUE(comm.AllReduceSum(values.data(), values.data(), 2, DeviceElement::kFloat32, stream).ok());
    EXPECT_EQ(values, (std::vector<float>{2, 5}));
    const std::vector<int> in = {7, 8};
    std::vector<int> out(4);
    EXPECT_TRUE(comm.AllGather(in.data(), out.data(), 2, DeviceElement::kInt32, stream).ok());
    EXPECT_EQ(out, (std::vector<int>{7, 8, 7, 8}));
    EXPECT_TRUE(comm.Broadcast(out.data(), 16, DeviceElement::kUInt8, 0, stream).ok());
    const Status refused = comm.AllReduceSum(values.data(), values.data(), 2, DeviceElement::kFloat64, stream);
    EXPECT_EQ(refused.code(), StatusCode::kDevice);
    EXPECT_THAT(refused.message(), HasSubstr("ncclAllReduce: invalid argument: the fake's own words"));

    // The loss also ends what a rank does before the fault: rank 1 signals when it has nothing left to do.
    StoreClient& store = *(*group)->store();
    if (r == 1) {
      ASSERT_TRUE(store.Set("rank 1 waits", "for the fault").ok());
    } else {
      ASSERT_TRUE(store.Get("rank 1 waits", 120).ok());
      void* library = dlopen(HONE_FAKE_NCCL, RTLD_NOW);
      reinterpret_cast<void (*)(int)>(dlsym(library, "FakeNcclSetAsyncError"))(6);
    }
    const Status lost = store.WaitForLoss(120);
    EXPECT_EQ(lost.code(), StatusCode::kDevice);
    EXPECT_THAT(lost.message(), HasSubstr("remote process exited"));
    // The abort runs on a separate thread; afterwards nothing can be enqueued.
    Status after;
    while ((after = comm.AllReduceSum(values.data(), values.data(), 2, DeviceElement::kFloat32, stream)).ok()) {
    }
    EXPECT_THAT(after.message(), HasSubstr("aborted"));
  });
}

TEST(NcclCommunicator, AMissingLibrarySaysWhatToInstall) {
  const std::unique_ptr<ProcessGroup> alone = std::move(ProcessGroup::Join({})).value();
  const Status missing = MakeNcclCommunicator(*alone, "/nowhere/libnccl.so.2").status();
  EXPECT_EQ(missing.code(), StatusCode::kUnavailable);
  EXPECT_THAT(missing.message(), HasSubstr("libnccl2"));
  const Status other = MakeNcclCommunicator(*alone, "libm.so.6").status();
  EXPECT_EQ(other.code(), StatusCode::kUnavailable);
  EXPECT_THAT(other.message(), HasSubstr("lacks ncclGetVersion"));
}

}  // namespace
}  // namespace hone::gnn
