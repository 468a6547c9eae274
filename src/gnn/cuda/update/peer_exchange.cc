// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/update/peer_exchange.h"

#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/graph/peer_rows.h"
#include "gnn/cuda/update/peer_exchange_kernels.h"
#include "gnn/dist/agreement.h"

namespace hone::gnn::cuda {
namespace {

int64_t BytesOf(DeviceElement element) {
  switch (element) {
    case DeviceElement::kFloat32:
    case DeviceElement::kInt32:
      return 4;
    case DeviceElement::kFloat64:
    case DeviceElement::kInt64:
      return 8;
    case DeviceElement::kUInt8:
      return 1;
  }
  return 1;
}

class PeerExchange final : public GradientExchange, public PeerRooms {
 public:
  explicit PeerExchange(Communicator& ranks) : ranks_(ranks) {}

  Status Make() {
    if (ranks_.size() > kMostPeers) {
      return Status::InvalidArgument(
          fmt::format("{} ranks exchange by their GPUs' memory; at most {} can", ranks_.size(), kMostPeers));
    }
    HONE_RETURN_IF_ERROR(CheckPeers(ranks_));
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks_, "the exchange of the GPUs", stop_.Make()));
    return MakeRoom(16, 1).status();  // any obstacle is reported here, before the first step
  }

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  PeerRooms* rooms() override { return this; }

  Status AllGather(const void* in, void* out, int64_t count, DeviceElement element, CUstream_st* stream) override {
    if (aborted_) return Status::Unavailable("the GPUs' exchange was aborted");
    const int64_t bytes = count * BytesOf(element);
    if (bytes % 16 != 0) return Status::InvalidArgument(fmt::format("a gather of {} bytes: no multiple of 16", bytes));
    if (gathers_.slot_bytes < bytes) {
      cudaStreamCaptureStatus capture{};
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamIsCapturing(stream, &capture));
      if (capture != cudaStreamCaptureStatusNone) return Status::Internal("the first gather of so many bytes is captured");
      HONE_ASSIGN_OR_RETURN(gathers_, MakeRoom(bytes, GatherSlices(bytes)));
    }
    HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherFromPeers(gathers_, in, out, bytes, stream));
    return Status::Ok();
  }
  Status Poll() override { return Status::Ok(); }
  void Abort() override {
    aborted_ = true;
    if (stop_.host() != nullptr) *stop_.host() = 1;
  }

  Result<ExchangeOnDevice> MakeRoom(int64_t slot_bytes, int slices) override {
    auto room = std::make_unique<Room>();
    const int64_t room_bytes = RoomBytes(slot_bytes, slices, size());
    HONE_RETURN_IF_ERROR(room->memory.MakeOneEach(ranks_, room_bytes));
    const int64_t stride = room->memory.layout().piece;
    const auto clear = [&]() -> Status {
      HONE_RETURN_IF_ERROR(room->turns.Allocate(slices));
      HONE_CUDA_RETURN_IF_ERROR(cudaMemset(room->memory.get() + rank() * stride, 0, static_cast<size_t>(room_bytes)));
      HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
      return Status::Ok();
    };
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks_, "the exchange of the GPUs", clear()));
    rooms_.push_back(std::move(room));
    return ExchangeOnDevice{.rank = rank(),
                            .ranks = size(),
                            .rooms = rooms_.back()->memory.get(),
                            .room_stride = stride,
                            .slot_bytes = slot_bytes,
                            .slices = slices,
                            .turns = rooms_.back()->turns.get(),
                            .stop = stop_.device()};
  }

 private:
  struct Room {
    PeerRows memory;              // the rooms of all ranks
    DeviceArray<uint32_t> turns;  // ExchangeOnDevice::turns
  };

  Communicator& ranks_;
  MappedValue<uint32_t> stop_;  // ExchangeOnDevice::stop of all rooms
  std::atomic<bool> aborted_{false};
  std::vector<std::unique_ptr<Room>> rooms_;  // captured graphs go on using the room with which they were captured
  ExchangeOnDevice gathers_;                  // used by AllGather
};

}  // namespace

Result<std::shared_ptr<GradientExchange>> MakePeerExchange(Communicator& ranks) {
  auto exchange = std::make_shared<PeerExchange>(ranks);
  HONE_RETURN_IF_ERROR(exchange->Make());
  return std::shared_ptr<GradientExchange>(std::move(exchange));
}

}  // namespace hone::gnn::cuda
