// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs ranks as threads whose GPUs have room for different places, and checks where their features are and which errors
// they get.
#include "hone-gnn/feature_agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gnn/dist/test_ranks.h"

namespace hone::gnn {
namespace {

// The nearest place for which a rank's GPU has room, whatever is requested; "nowhere": an error.
struct Room {
  std::string nearest;
};

FeaturePlace Place(const std::string& name) {
  constexpr int64_t kSomeCachedRows = 7;  // a place other than the GPU keeps some rows there
  return {.host = name == "host", .peers = name == "peers", .cache_rows = name == "device" ? 0 : kSomeCachedRows};
}

Result<FeaturePlace> Held(const Room& room, const FeatureRequest& requested) {
  const std::vector<std::string> order = {"device", "peers", "host"};
  const auto nearest = std::find(order.begin(), order.end(), room.nearest);
  for (auto place = nearest; place != order.end(); ++place) {
    if (*place == "peers" && requested.peers < 2) continue;
    if (requested.place == "auto" || requested.place == *place) return Place(*place);
  }
  return Status::ResourceExhausted("no room");
}

class AgreeOnFeaturesTest : public testing::Test {
 protected:
  // Returns the result of each rank: the name of a place, or the text of an error.
  std::vector<std::string> Ended(const std::vector<Room>& rooms, const FeatureRequest& requested,
                                 bool by_rank0 = false) {
    std::vector<std::unique_ptr<Communicator>> ranks = ConnectedRanks(static_cast<int>(rooms.size()));
    std::vector<std::string> ended(rooms.size());
    OnEachRank(static_cast<int>(rooms.size()), [&](int r) {
      const auto rank = static_cast<size_t>(r);
      const bool knows = !by_rank0 || r == 0;
      const FeaturesHeld held = [&](const FeatureRequest& asked) -> Result<FeaturePlace> {
        if (!knows) return Status::Internal("this rank does not know the run");
        return Held(rooms[rank], asked);
      };
      const FeaturePlace mine = knows ? Held(rooms[rank], requested).value() : FeaturePlace{};
      const MemoryShared shared = [&](Communicator&) {
        return shares_ ? Status::Ok() : Status::InvalidArgument("the GPUs are apart");
      };
      const Result<FeaturePlace> place = AgreeOnFeatures(*ranks[rank], requested, mine, by_rank0, held, shared);
      ended[rank] = !place.ok() ? place.status().message() : place->name() + std::string(place->cache_rows == 7 ? " 7" : "");
    });
    return ended;
  }
  using Names = std::vector<std::string>;
  const FeatureRequest auto_{.peers = 3};
  bool shares_ = true;
};

TEST_F(AgreeOnFeaturesTest, TheRankWithTheLeastRoomDecides) {
  EXPECT_EQ(Ended({{"device"}, {"device"}, {"device"}}, auto_), (Names{"device", "device", "device"}));
  EXPECT_EQ(Ended({{"device"}, {"peers"}, {"device"}}, auto_), (Names{"peers 7", "peers 7", "peers 7"}));
  EXPECT_EQ(Ended({{"host"}, {"peers"}, {"device"}}, auto_), (Names{"host 7", "host 7", "host 7"}));
}

TEST_F(AgreeOnFeaturesTest, GpusThatDoNotShareUseTheHostUnlessTheyWereToShare) {
  shares_ = false;
  EXPECT_EQ(Ended({{"device"}, {"peers"}, {"device"}}, auto_), (Names{"host 7", "host 7", "host 7"}));
  FeatureRequest peers = auto_;
  peers.place = "peers";
  EXPECT_EQ(Ended({{"device"}, {"peers"}}, peers), (Names{"the GPUs are apart", "the GPUs are apart"}));
}

TEST_F(AgreeOnFeaturesTest, OfAResumedRunRank0Decides) {
  EXPECT_EQ(Ended({{"peers"}, {"device"}, {"host"}}, auto_, /*by_rank0=*/true),
            (Names{"peers 7", "peers 7", "peers 7"}));
  shares_ = false;
  EXPECT_EQ(Ended({{"peers"}, {"device"}, {"host"}}, auto_, /*by_rank0=*/true), (Names{"host 7", "host 7", "host 7"}));
}

TEST_F(AgreeOnFeaturesTest, OneRankAloneTakesWhatItHas) {
  EXPECT_EQ(Ended({{"host"}}, {}), (Names{"host 7"}));
}

}  // namespace
}  // namespace hone::gnn
