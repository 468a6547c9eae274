// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/feature_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gnn/dist/agreement.h"

namespace hone::gnn {
namespace {

constexpr const char* kPlaces[] = {"device", "peers", "host"};

int PlaceNumber(const FeaturePlace& place) { return place.host ? 2 : place.peers ? 1 : 0; }

// Gives every rank the `place` of rank 0.
Status TakeRank0s(Communicator& ranks, FeaturePlace& place) {
  std::string text = fmt::format("{} {} {}", PlaceNumber(place), place.presampled ? 1 : 0, place.cache_rows);
  HONE_RETURN_IF_ERROR(ranks.Broadcast("where features are", text, 0));
  place.host = text[0] == '2';
  place.peers = text[0] == '1';
  place.presampled = text[2] == '1';
  place.cache_rows = std::stoll(text.substr(4));
  return Status::Ok();
}

// Gives every rank the place that is furthest from the device on any of them.
Status TakeFurthest(Communicator& ranks, const FeatureRequest& requested, const FeaturesHeld& held,
                    FeaturePlace& place) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                        ranks.AllGather("where features are", kPlaces[PlaceNumber(place)]));
  int furthest = 0;
  for (const std::string& name : all) {
    furthest = std::max(furthest, static_cast<int>(std::find(kPlaces, kPlaces + 3, name) - kPlaces));
  }
  Status status = Status::Ok();
  if (PlaceNumber(place) != furthest) {
    FeatureRequest further = requested;
    further.where = kPlaces[furthest];
    const Result<FeaturePlace> found = held(further);
    if (found.ok()) place = *found;
    status = found.status();
  }
  return AgreeOnStatus(ranks, "where features are", status);
}

}  // namespace

Result<FeaturePlace> AgreeOnFeatures(Communicator& ranks, const FeatureRequest& requested, const FeaturePlace& mine,
                                     bool by_rank0, const FeaturesHeld& held, const MemoryShared& shared) {
  FeaturePlace place = mine;
  if (ranks.size() == 1) return place;
  FeatureRequest tried = requested;
  for (;;) {
    HONE_RETURN_IF_ERROR(by_rank0 ? TakeRank0s(ranks, place) : TakeFurthest(ranks, tried, held, place));
    if (!place.peers) return place;
    const Status share = shared(ranks);
    if (share.ok()) return place;
    if (tried.where == "peers" || tried.peers < 2) return share;
    tried.peers = 1;
    Status status = Status::Ok();
    if (!by_rank0 || ranks.rank() == 0) {
      const Result<FeaturePlace> found = held(tried);
      if (found.ok()) place = *found;
      status = found.status();
    }
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "where features are", status));
  }
}

}  // namespace hone::gnn
