// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that contents and descriptors of frames arrive whole, and that peers which lie, send slowly, stall or die are
// distinguished.
#include "base/process/frames.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct RawPrefix {
  uint32_t magic = 0x31464e48;
  uint32_t header_bytes = 0, blobs = 0, fds = 0;
};

TEST(Frames, HeaderBlobsAndDescriptorsArriveWhole) {
  auto pair = MakeSocketPair();
  ASSERT_TRUE(pair.ok());
  // The text is larger than any socket buffer, so both sides must wait for each other.
  std::string large(20 << 20, '\0');
  for (size_t i = 0; i < large.size(); i += 997) large[i] = static_cast<char>(i);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread sender([&] {
    EXPECT_TRUE(SendFrame(pair->ours.get(), R"({"a":1})", {"", large, std::string("\0x", 2)}, {ends[1]}).ok());
    EXPECT_TRUE(SendFrame(pair->ours.get(), "", {}).ok());
  });
  auto frame = ReceiveFrame(pair->theirs.get(), 300);
  ASSERT_TRUE(frame.ok()) << frame.status().message();
  EXPECT_EQ(frame->header, R"({"a":1})");
  ASSERT_EQ(frame->blobs.size(), 3u);
  EXPECT_TRUE(frame->blobs[1] == large);
  EXPECT_EQ(frame->blobs[2].size(), 2u);
  ASSERT_EQ(frame->fds.size(), 1u);
  EXPECT_TRUE(fcntl(frame->fds[0].get(), F_GETFD) & FD_CLOEXEC);
  ASSERT_EQ(write(frame->fds[0].get(), "hi", 2), 2);
  char text[2];
  ASSERT_EQ(read(ends[0], text, 2), 2);
  EXPECT_EQ(std::string(text, 2), "hi");
  auto second = ReceiveFrame(pair->theirs.get(), 300);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(second->header.empty() && second->blobs.empty() && second->fds.empty());
  sender.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(Frames, APeerThatEndsIsToldApartBetweenAndInsideFrames) {
  auto pair = MakeSocketPair();
  pair->ours.Reset();
  auto between = ReceiveFrame(pair->theirs.get(), 5);
  EXPECT_EQ(between.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(between.status().message(), HasSubstr("has ended"));
  EXPECT_EQ(SendFrame(pair->theirs.get(), "{}").code(), StatusCode::kUnavailable);

  auto again = MakeSocketPair();
  RawPrefix prefix;
  prefix.header_bytes = 10;
  ASSERT_EQ(write(again->ours.get(), &prefix, sizeof(prefix)), 16);
  again->ours.Reset();
  EXPECT_THAT(ReceiveFrame(again->theirs.get(), 5).status().message(), HasSubstr("in the middle"));
}

TEST(Frames, ADrippingPeerDoesNotOutlastTheDeadline) {
  auto pair = MakeSocketPair();
  // The peer sends single bytes until the test is done, but never enough: without a deadline for the whole frame this
  // test would not end.
  std::atomic<bool> done{false};
  std::thread dripper([&done, fd = pair->ours.get()] {
    RawPrefix prefix;
    prefix.header_bytes = 1000;
    (void)!write(fd, &prefix, sizeof(prefix));
    for (int i = 0; i < 999 && !done; ++i) {
      (void)!send(fd, "x", 1, MSG_NOSIGNAL);
      for (int wait = 0; wait < 50 && !done; ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  auto frame = ReceiveFrame(pair->theirs.get(), 0.3);
  EXPECT_EQ(frame.status().code(), StatusCode::kTimedOut);
  done = true;
  dripper.join();
}

TEST(Frames, AReceiverThatTakesNothingTimesTheSenderOut) {
  auto pair = MakeSocketPair();
  EXPECT_EQ(SendFrame(pair->ours.get(), "{}", {std::string(50 << 20, 'x')}, {}, 0.2).code(), StatusCode::kTimedOut);
}

TEST(Frames, LyingLengthsAreRefusedBeforeAnythingIsAllocated) {
  const auto receive = [](const RawPrefix& prefix, const std::vector<uint64_t>& lengths) {
    auto pair = MakeSocketPair();
    EXPECT_EQ(write(pair->ours.get(), &prefix, sizeof(prefix)), 16);
    if (!lengths.empty()) {
      EXPECT_GT(write(pair->ours.get(), lengths.data(), 8 * lengths.size()), 0);
    }
    return ReceiveFrame(pair->theirs.get(), 5, 1 << 20).status();
  };
  RawPrefix garbage;
  garbage.magic = 0x20544547;
  EXPECT_EQ(receive(garbage, {}).code(), StatusCode::kInternal);
  RawPrefix header;
  header.header_bytes = 0xffffffff;
  EXPECT_EQ(receive(header, {}).code(), StatusCode::kInternal);
  RawPrefix blob;
  blob.blobs = 1;
  EXPECT_EQ(receive(blob, {uint64_t{1} << 60}).code(), StatusCode::kInternal);
  RawPrefix wrap;  // the lengths sum to 0 modulo 2^64
  wrap.blobs = 2;
  EXPECT_EQ(receive(wrap, {uint64_t{1} << 63, uint64_t{1} << 63}).code(), StatusCode::kInternal);
  EXPECT_EQ(receive(wrap, {4096, uint64_t{0} - 4096}).code(), StatusCode::kInternal);
  RawPrefix many;
  many.blobs = 1u << 30;
  EXPECT_EQ(receive(many, {}).code(), StatusCode::kInternal);
  RawPrefix fds;
  fds.fds = 2;
  EXPECT_THAT(receive(fds, {}).message(), HasSubstr("announced 2"));
}

TEST(Frames, WaitingTellsTimeFromData) {
  auto pair = MakeSocketPair();
  EXPECT_FALSE(WaitReadable(pair->theirs.get(), 0.01).value());
  ASSERT_EQ(write(pair->ours.get(), "x", 1), 1);
  EXPECT_TRUE(WaitReadable(pair->theirs.get(), 0.01).value());
}

}  // namespace
}  // namespace hone
