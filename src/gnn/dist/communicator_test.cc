// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the communicator's guarantees: one order of summing, equal results on all ranks, and errors that name the rank.
#include "hone/gnn/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/numbers/random.h"
#include "gnn/dist/agreement.h"
#include "gnn/dist/test_ranks.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

// Returns numbers of very different sizes, so that another order of adding gives other bits.
float SpreadNumber(int rank, size_t i) {
  Rng rng = Rng(static_cast<uint64_t>(rank) * 1000003 + i);
  return static_cast<float>(rng.Normal() * std::exp2(static_cast<double>(rng.Below(40)) - 20));
}

TEST(Communicator, AddsInTheOrderOfTheRanks) {
  for (const int count : {1, 2, 3, 5}) {
    // Sizes: more than a socket's buffer holds, fewer numbers than ranks, and none.
    for (const size_t size : {size_t{200001}, size_t{2}, size_t{0}}) {
      std::vector<float> expected(size);
      bool order_matters = false;
      for (size_t i = 0; i < size; ++i) {
        float backwards = SpreadNumber(count - 1, i);
        for (int r = count - 2; r >= 0; --r) backwards += SpreadNumber(r, i);
        expected[i] = SpreadNumber(0, i);
        for (int r = 1; r < count; ++r) expected[i] += SpreadNumber(r, i);
        order_matters = order_matters || backwards != expected[i];
      }
      EXPECT_TRUE(order_matters || count < 3 || size < 1000) << "the numbers are too tame to tell orders apart";
      auto ranks = ConnectedRanks(count);
      std::vector<std::vector<float>> sums(static_cast<size_t>(count));
      OnEachRank(count, [&](int r) {
        std::vector<float>& own_sums = sums[static_cast<size_t>(r)];
        for (size_t i = 0; i < size; ++i) own_sums.push_back(SpreadNumber(r, i));
        const Status status = ranks[static_cast<size_t>(r)]->AllReduceSum("numbers", std::span(own_sums));
        EXPECT_TRUE(status.ok()) << status.message();
      });
      for (const std::vector<float>& sum : sums) EXPECT_TRUE(sum == expected) << count << " ranks, " << size;
    }
  }
}

TEST(Communicator, GathersAndBroadcastsWhatDiffersInLength) {
  auto ranks = ConnectedRanks(3);
  OnEachRank(3, [&](int r) {
    Communicator& own_communicator = *ranks[static_cast<size_t>(r)];
    const Result<std::vector<std::string>> texts_by_rank =
        own_communicator.AllGather("names", std::string(static_cast<size_t>(r * 3), 'x'));
    ASSERT_TRUE(texts_by_rank.ok()) << texts_by_rank.status().message();
    EXPECT_EQ(*texts_by_rank, (std::vector<std::string>{"", "xxx", "xxxxxx"}));
    std::string text = r == 1 ? "from one" : "to be replaced by something of another length";
    ASSERT_TRUE(own_communicator.Broadcast("text", text, 1).ok());
    EXPECT_EQ(text, "from one");
    EXPECT_TRUE(own_communicator.Barrier("end").ok());
    EXPECT_TRUE(own_communicator.Agree("the number", 7).ok());
  });
}

TEST(Communicator, DisagreementNamesWhoDiffersOnEveryRank) {
  auto ranks = ConnectedRanks(3);
  OnEachRank(3, [&](int r) {
    const Status status = ranks[static_cast<size_t>(r)]->Agree("the graph", r == 2 ? 0xbeef : 0xf00d);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("the graph"));
    EXPECT_THAT(status.message(), HasSubstr("rank 2 on host h (0xbeef) differ"));
    EXPECT_THAT(status.message(), testing::Not(HasSubstr("rank 1")));
  });
}

TEST(Communicator, SettingsThatDifferAreNamed) {
  auto ranks = ConnectedRanks(3);
  OnEachRank(3, [&](int r) {
    Communicator& own_communicator = *ranks[static_cast<size_t>(r)];
    EXPECT_TRUE(AgreeOnSettings(own_communicator, {{"--lr", "0.1"}, {"--norm", ""}}).ok());
    const Status status = AgreeOnSettings(own_communicator, {{"--lr", "0.1"}, {"--hidden", r == 1 ? "64" : "32"}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("rank 1 on host h has --hidden 64, and rank 0 on host h has 32"));
  });
  auto others = ConnectedRanks(2);
  OnEachRank(2, [&](int r) {
    std::vector<Setting> settings = {{"--lr", "0.1"}};
    if (r == 1) settings.push_back({"--new-in-this-version", "1"});
    EXPECT_EQ(AgreeOnSettings(*others[static_cast<size_t>(r)], settings).code(), StatusCode::kInvalidArgument);
    const std::vector<Setting> differing_names = {{r == 0 ? "--lr" : "--hidden", r == 0 ? "0.1" : "64"}};
    EXPECT_THAT(AgreeOnSettings(*others[static_cast<size_t>(r)], differing_names).message(),
                HasSubstr("has other settings than"));
  });
}

TEST(Communicator, OneRanksFailureIsEverybodys) {
  auto ranks = ConnectedRanks(2);
  OnEachRank(2, [&](int r) {
    Communicator& own_communicator = *ranks[static_cast<size_t>(r)];
    EXPECT_TRUE(AgreeOnStatus(own_communicator, "nothing", Status::Ok()).ok());
    const Status own_status =
        AgreeOnStatus(own_communicator, "the graph", r == 1 ? Status::NotFound("no such file") : Status::Ok());
    EXPECT_EQ(own_status.code(), StatusCode::kNotFound);
    EXPECT_EQ(own_status.message(), "rank 1 on host h: no such file");
    EXPECT_EQ(AgreeOnStatus(own_communicator, "the graph", Status::NotFound("no such file")).message(), "no such file");
  });
}

TEST(Communicator, RanksThatAreOutOfStepSaySo) {
  auto ranks = ConnectedRanks(2);
  OnEachRank(2, [&](int r) {
    std::vector<float> values(static_cast<size_t>(4 + 2 * r));
    const Status status = ranks[static_cast<size_t>(r)]->AllReduceSum("gradients", std::span(values));
    EXPECT_FALSE(status.ok());
    if (status.code() == StatusCode::kInternal) {
      EXPECT_THAT(status.message(), HasSubstr("is out of step at gradients"));
    }
    ranks[static_cast<size_t>(r)].reset();  // the other rank may see this end first
  });
}

TEST(Communicator, AnotherOperationOfTheSameSizeIsOutOfStep) {
  auto ranks = ConnectedRanks(2);
  OnEachRank(2, [&](int r) {
    std::vector<float> values(4);
    Communicator& own_communicator = *ranks[static_cast<size_t>(r)];
    const Status status = own_communicator.AllReduceSum(r == 0 ? "gradients" : "losses", std::span(values));
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(status.message(), HasSubstr("of another kind"));
    EXPECT_EQ(own_communicator.Barrier("after").message(), status.message()) << "who was out of step once stays so";
  });
}

TEST(Communicator, ALaterExchangeOfTheSameOperationIsOutOfStep) {
  SocketPair pair = std::move(MakeSocketPair()).value();
  TcpCommunicatorOptions options;
  options.names = {"rank 0", "rank 1"};
  options.links.resize(2);
  options.links[1] = std::move(pair.ours);
  const std::unique_ptr<Communicator> own_communicator = MakeTcpCommunicator(std::move(options));
  std::thread peer([&] {
    struct {
      uint32_t magic, operation;
      uint64_t sequence, bytes;
    } header{};
    ASSERT_TRUE(WaitReadable(pair.theirs.get(), 60).value());
    ASSERT_EQ(read(pair.theirs.get(), &header, sizeof(header)), 24);
    ++header.sequence;
    ASSERT_EQ(write(pair.theirs.get(), &header, sizeof(header)), 24);
  });
  const Status status = own_communicator->Barrier("the end");
  peer.join();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("rank 1 is out of step at the end"));
}

TEST(Communicator, ALostRankIsNamed) {
  auto ranks = ConnectedRanks(3);
  ranks[1].reset();
  OnEachRank(3, [&](int r) {
    if (r == 1) return;
    const Status status = ranks[static_cast<size_t>(r)]->Barrier("end");
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("rank 1 on host h was lost"));
  });
}

TEST(Communicator, ARankThatDoesNotComeInTimeIsNamed) {
  auto ranks = ConnectedRanks(2, 0.05);
  const Status status = ranks[0]->Barrier("the end");
  EXPECT_EQ(status.code(), StatusCode::kTimedOut);
  EXPECT_THAT(status.message(), HasSubstr("the end waited"));
  EXPECT_THAT(status.message(), HasSubstr("rank 1 on host h"));
}

TEST(Communicator, AbortWakesWhoeverWaitsWithTheFirstReason) {
  auto ranks = ConnectedRanks(2);
  std::thread waiting([&] {
    std::vector<double> values(1000);
    const Status status = ranks[0]->AllReduceSum("gradients", std::span(values));
    EXPECT_EQ(status.message(), "the reason");
  });
  ranks[0]->Abort(Status::Unavailable("the reason"));
  ranks[0]->Abort(Status::Unavailable("a later reason"));
  waiting.join();
  EXPECT_EQ(ranks[0]->Barrier("after").message(), "the reason");
  const std::unique_ptr<Communicator> solo = MakeSoloCommunicator();
  EXPECT_TRUE(solo->Barrier("before").ok());
  solo->Abort(Status::Unavailable("the reason"));
  EXPECT_EQ(solo->Barrier("after").message(), "the reason");
}

}  // namespace
}  // namespace hone::gnn
