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

// The places of features, the nearest to the GPU's cores first.
constexpr const char* kPlacesByDistance[] = {"device", "peers", "host"};

int PlaceNumber(const FeaturePlace& place) { return place.host ? 2 : place.peers ? 1 : 0; }

// Gives every rank the `place` of rank 0.
Status TakeRank0Place(Communicator& ranks, FeaturePlace& place) {
  std::string text = fmt::format("{} {} {}", PlaceNumber(place), place.presampled ? 1 : 0, place.cache_rows);
  HONE_RETURN_IF_ERROR(ranks.Broadcast("where features are", text, 0));
  place.host = text[0] == '2';
  place.peers = text[0] == '1';
  place.presampled = text[2] == '1';
  place.cache_rows = std::stoll(text.substr(4));
  return Status::Ok();
}

// Gives every rank the place that is furthest from the device on any of them.
Status TakeFurthestPlace(Communicator& ranks, const FeatureRequest& requested, const FeaturesHeld& held,
                         FeaturePlace& place) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> place_names,
                        ranks.AllGather("where features are", kPlacesByDistance[PlaceNumber(place)]));
  int furthest = 0;
  for (const std::string& name : place_names) {
    furthest = std::max(
        furthest, static_cast<int>(std::find(kPlacesByDistance, kPlacesByDistance + 3, name) - kPlacesByDistance));
  }
  Status status = Status::Ok();
  if (PlaceNumber(place) != furthest) {
    FeatureRequest further = requested;
    further.place = kPlacesByDistance[furthest];
    const Result<FeaturePlace> found_place = held(further);
    if (found_place.ok()) place = *found_place;
    status = found_place.status();
  }
  return AgreeOnStatus(ranks, "where features are", status);
}

}  // namespace

Result<FeaturePlace> AgreeOnFeatures(Communicator& ranks, const FeatureRequest& requested,
                                     const FeaturePlace& own_place, bool by_rank0, const FeaturesHeld& held,
                                     const MemoryShared& shared) {
  FeaturePlace place = own_place;
  if (ranks.size() == 1) return place;
  FeatureRequest request = requested;
  for (;;) {
    HONE_RETURN_IF_ERROR(by_rank0 ? TakeRank0Place(ranks, place) : TakeFurthestPlace(ranks, request, held, place));
    if (!place.peers) return place;
    const Status share_status = shared(ranks);
    if (share_status.ok()) return place;
    if (request.place == "peers" || request.peers < 2) return share_status;
    // The GPUs cannot read one another's memory, so the place is sought again without peers.
    request.peers = 1;
    Status status = Status::Ok();
    if (!by_rank0 || ranks.rank() == 0) {
      const Result<FeaturePlace> found_place = held(request);
      if (found_place.ok()) place = *found_place;
      status = found_place.status();
    }
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "where features are", status));
  }
}

}  // namespace hone::gnn
