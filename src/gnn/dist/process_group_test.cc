// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests ranks that join, and all the ways in which a rank may be lost. (Killed and stopped processes:
// tests/gnn/ranks_test.cc.)
#include "gnn/dist/process_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "gnn/dist/test_ranks.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

// Makes ranks of one run on this host. Rank 0 inherits its listening socket, so that no port has to be guessed.
class Groups : public testing::Test {
 protected:
  void SetUp() override {
    listener_ = std::move(ListenOn("127.0.0.1", 0)).value();
    port_ = BoundPort(listener_.get());
  }
  GroupOptions Options(int rank, int size) {
    GroupOptions options;
    options.place = {.rank = rank, .size = size, .job = "job", .master_address = "127.0.0.1", .ports = {port_}};
    if (rank == 0) options.place.listener = listener_.Release();
    options.heartbeat_timeout = 300;  // no test here waits for silence
    return options;
  }
  // Joins all ranks; fails the test if one cannot.
  std::vector<std::unique_ptr<ProcessGroup>> Joined(int size) {
    std::vector<GroupOptions> options;
    for (int r = 0; r < size; ++r) options.push_back(Options(r, size));
    return Joined(std::move(options));
  }
  static std::vector<std::unique_ptr<ProcessGroup>> Joined(std::vector<GroupOptions> options) {
    std::vector<std::unique_ptr<ProcessGroup>> groups(options.size());
    OnEachRank(static_cast<int>(options.size()), [&](int r) {
      Result<std::unique_ptr<ProcessGroup>> group_or_error =
          ProcessGroup::Join(std::move(options[static_cast<size_t>(r)]));
      ASSERT_TRUE(group_or_error.ok()) << group_or_error.status().message();
      groups[static_cast<size_t>(r)] = std::move(*group_or_error);
    });
    return groups;
  }
  // Destroys rank 0's group last: its store waits for the others to close.
  static void End(std::vector<std::unique_ptr<ProcessGroup>>& groups) {
    while (!groups.empty()) groups.pop_back();
  }
  UniqueFd listener_;
  int port_ = 0;
};

TEST_F(Groups, JoinTalkAndLeave) {
  auto groups = Joined(4);
  OnEachRank(4, [&](int r) {
    ProcessGroup& group = *groups[static_cast<size_t>(r)];
    EXPECT_EQ(group.rank(), r);
    EXPECT_EQ(group.ranks_on_this_host(), 4);
    double value = 1 << r;
    ASSERT_TRUE(group.communicator().AllReduceSum("bits", std::span(&value, 1)).ok());
    EXPECT_EQ(value, 15);
    if (r == 3) {
      EXPECT_TRUE(group.store()->Set("key", "value").ok());
    }
    EXPECT_EQ(group.store()->Get("key", 60).value(), "value");
    EXPECT_TRUE(group.Leave().ok());
  });
  EXPECT_EQ(groups[2]->communicator().Name(2), "rank 2 on host " + HostName());
  for (const auto& group : groups) EXPECT_TRUE(group->loss().ok());
  End(groups);
}

TEST_F(Groups, ARankThatGoesWithoutAWordEndsAllOthersByName) {
  auto groups = Joined(3);
  std::thread lost([&] { groups[1].reset(); });
  OnEachRank(3, [&](int r) {
    if (r == 1) return;
    const Status status = groups[static_cast<size_t>(r)]->communicator().Barrier("the next step");
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_EQ(status.message(), "rank 1 on host " + HostName() + " was lost: its connection closed");
  });
  lost.join();
  End(groups);
}

TEST_F(Groups, ARankThatFailsTellsTheOthersWhy) {
  auto groups = Joined(3);
  groups[2]->Fail(Status::Io("rank 2: the disk is full"));
  OnEachRank(3, [&](int r) {
    const Status status = groups[static_cast<size_t>(r)]->communicator().Barrier("the next step");
    EXPECT_EQ(status.code(), StatusCode::kIo);
    EXPECT_EQ(status.message(), "rank 2: the disk is full");
  });
  End(groups);
}

TEST_F(Groups, AThreadThatDoesNotComeBackAfterALossIsGivenUp) {
  std::vector<GroupOptions> options;
  std::promise<std::string> gave_up;
  for (int r = 0; r < 2; ++r) options.push_back(Options(r, 2));
  options[0].grace_seconds = 0.05;
  options[0].give_up = [&](const Status& why) { gave_up.set_value(why.message()); };
  auto groups = Joined(std::move(options));
  groups[1]->Fail(Status::Unavailable("the reason"));
  EXPECT_EQ(gave_up.get_future().get(), "the reason");  // although no function of rank 0 was called
  End(groups);
}

struct Device final : WatchedDevice {
  Status Poll() override { return broken ? Status::Device("the link to GPU 3 is down") : Status::Ok(); }
  void Abort() override { aborted.set_value(); }
  std::atomic<bool> broken{false};
  std::promise<void> aborted;
};

TEST_F(Groups, ADevicesErrorEndsAllRanksAndAbortsTheirDevices) {
  std::vector<GroupOptions> options;
  for (int r = 0; r < 2; ++r) options.push_back(Options(r, 2));
  auto groups = Joined(std::move(options));
  const auto one = std::make_shared<Device>(), two = std::make_shared<Device>();
  groups[0]->Watch(one);
  groups[1]->Watch(two);
  one->broken = true;
  one->aborted.get_future().wait();
  two->aborted.get_future().wait();
  EXPECT_EQ(groups[1]->communicator().Barrier("next").message(), "the link to GPU 3 is down");
  End(groups);
}

TEST_F(Groups, DifferentNumbersOfRanksAreRefusedOnAll) {
  std::vector<Status> status(2);
  std::vector<GroupOptions> options = {Options(0, 2), Options(1, 3)};
  OnEachRank(2, [&](int r) {
    status[static_cast<size_t>(r)] = ProcessGroup::Join(std::move(options[static_cast<size_t>(r)])).status();
  });
  for (const Status& s : status) {
    EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(s.message(), HasSubstr("was started as one of 3 ranks, rank 0 as one of 2"));
  }
}

TEST_F(Groups, WhoIsMissingIsNamed) {
  std::vector<Status> status(2);
  std::vector<GroupOptions> options = {Options(0, 4), Options(2, 4)};
  options[0].join_seconds = 0.5;
  options[1].join_seconds = 5;  // ends the wait soon if rank 0 has already given up
  OnEachRank(2, [&](int r) {
    status[static_cast<size_t>(r)] = ProcessGroup::Join(std::move(options[static_cast<size_t>(r)])).status();
  });
  EXPECT_EQ(status[0].code(), StatusCode::kTimedOut);
  EXPECT_THAT(status[0].message(), HasSubstr("of 4 ranks these did not join"));
  EXPECT_THAT(status[0].message(), HasSubstr(", 3"));
}

TEST_F(Groups, AnotherRunsPortIsPassedByAndStrangersDoNotDisturb) {
  // Another run's store listens at the first port that these ranks try, and a client sends nonsense.
  const auto other_listener = std::move(ListenOn("127.0.0.1", 0)).value();
  const int other_port = BoundPort(other_listener.get());
  StoreServer other({.listener = UniqueFd(dup(other_listener.get())), .job = "another job", .size = 2});
  const UniqueFd stranger = std::move(ConnectTo("127.0.0.1", port_, 30)).value();
  const std::string nonsense = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(send(stranger.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(nonsense.size()));
  std::vector<GroupOptions> options;
  for (int r = 0; r < 3; ++r) {
    options.push_back(Options(r, 3));
    options.back().place.ports = {other_port, port_};
  }
  auto groups = Joined(std::move(options));
  OnEachRank(3, [&](int r) { EXPECT_TRUE(groups[static_cast<size_t>(r)]->Leave().ok()); });
  End(groups);
}

TEST_F(Groups, ATakenPortSaysWhatToDo) {
  GroupOptions options = Options(1, 2);
  options.place.rank = 0;
  const Status status = ProcessGroup::Join(std::move(options)).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("port " + std::to_string(port_)));
  EXPECT_THAT(status.message(), HasSubstr("MASTER_PORT"));
}

TEST_F(Groups, ASecondRankOfTheSameNumberIsRefusedAndTheOthersGoOn) {
  std::vector<std::unique_ptr<ProcessGroup>> groups = Joined(2);
  const Status status = ProcessGroup::Join(Options(1, 2)).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("has joined already"));
  OnEachRank(2, [&](int r) { EXPECT_TRUE(groups[static_cast<size_t>(r)]->Leave().ok()); });
  End(groups);
}

}  // namespace
}  // namespace hone::gnn
