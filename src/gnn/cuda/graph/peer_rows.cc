// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/graph/peer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/numbers/rounding.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/peer_sockets.h"
#include "gnn/dist/agreement.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kPiece = int64_t{16} << 20;
constexpr int64_t kPiecesARank = 8;  // at least so many per rank, if there are enough bytes
constexpr int64_t kMostPieces = 4096;

// Returns the GPU's PCI bus id, such as "0000:1b:00.0", which is the same in every process of the host, whatever the
// GPU's index there.
Result<std::string> BusId() {
  int device = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  char id[32] = {};
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceGetPCIBusId(id, static_cast<int>(sizeof(id)), device));
  return std::string(id);
}

Status CanRead(Communicator& ranks, int rank, const std::string& bus_id) {
  int device = 0, peer = 0, can = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  if (cudaDeviceGetByPCIBusId(&peer, bus_id.c_str()) != cudaSuccess) {
    cudaGetLastError();  // clears the error, which this function reports itself
    return Status::InvalidArgument(
        fmt::format("{} does not see the GPU of {} ({}), whose memory it is to read: let every rank see all of them "
                    "(CUDA_VISIBLE_DEVICES; with --gpus N they do), or use --features device or host",
                    ranks.Name(ranks.rank()), ranks.Name(rank), bus_id));
  }
  if (peer == device) return Status::Ok();  // both ranks use one GPU
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceCanAccessPeer(&can, device, peer));
  if (can != 0) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("the GPU of {} cannot read the memory of the GPU of {} ({}): `nvidia-smi topo -p2p r` shows which can; "
                  "choose among those (CUDA_VISIBLE_DEVICES), or use --features device or host",
                  ranks.Name(ranks.rank()), ranks.Name(rank), bus_id));
}

// Returns the largest granularity of the ranks' GPUs. All granularities are powers of two, so it is a multiple of each.
Result<int64_t> CommonGranularity(Communicator& ranks) {
  const Result<int64_t> granularity = PeerMemoryGranularity();
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "memory that GPUs share", granularity.status()));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> granularity_texts,
                        ranks.AllGather("the granularity of GPUs' memory", std::to_string(*granularity)));
  int64_t largest_granularity = *granularity;
  for (const std::string& granularity_text : granularity_texts)
    largest_granularity = std::max<int64_t>(largest_granularity, std::stoll(granularity_text));
  return largest_granularity;
}

}  // namespace

PeerLayout LayOutOverPeers(int64_t bytes, int64_t granularity, int ranks) {
  const int64_t piece_bytes = std::min(bytes / (kPiecesARank * ranks), kPiece);
  const int64_t least = std::max<int64_t>((bytes + kMostPieces - 1) / kMostPieces, 1);
  return {.bytes = bytes, .piece = RoundUp(std::max(piece_bytes, least), granularity), .ranks = ranks};
}

Status CheckPeers(Communicator& ranks) {
  if (ranks.size() < 2) {
    return Status::InvalidArgument(
        "features shared by several GPUs need several ranks, one for each (--gpus N); one rank keeps them itself: "
        "--features device or host");
  }
  HONE_RETURN_IF_ERROR(CheckOneHost(ranks));
  const Result<std::string> own_bus_id = BusId();
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the GPUs of the ranks", own_bus_id.status()));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> ids, ranks.AllGather("the GPUs of the ranks", *own_bus_id));
  Status status = Status::Ok();
  for (size_t r = 0; r < ids.size() && status.ok(); ++r) {
    if (static_cast<int>(r) != ranks.rank()) status = CanRead(ranks, static_cast<int>(r), ids[r]);
  }
  // The message names both ranks already.
  const std::string text = status.ok() ? "" : status.message();
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> peer_texts, ranks.AllGather("which GPUs read which", text));
  const auto refused =
      std::find_if(peer_texts.begin(), peer_texts.end(), [](const std::string& t) { return !t.empty(); });
  return refused == peer_texts.end() ? Status::Ok() : Status::InvalidArgument(*refused);
}

Status PeerRows::Make(Communicator& ranks, int64_t bytes) {
  if (bytes < 1) return Status::InvalidArgument("there are no bytes for GPUs to share");
  HONE_RETURN_IF_ERROR(CheckPeers(ranks));
  HONE_RETURN_IF_ERROR(ranks.Agree("the bytes that GPUs share", static_cast<uint64_t>(bytes)));
  HONE_ASSIGN_OR_RETURN(const int64_t granularity, CommonGranularity(ranks));
  layout_ = LayOutOverPeers(bytes, granularity, ranks.size());
  return Share(ranks);
}

Status PeerRows::MakeOneEach(Communicator& ranks, int64_t bytes) {
  HONE_RETURN_IF_ERROR(CheckPeers(ranks));
  HONE_RETURN_IF_ERROR(ranks.Agree("the bytes of a GPU", static_cast<uint64_t>(bytes)));
  HONE_ASSIGN_OR_RETURN(const int64_t granularity, CommonGranularity(ranks));
  const int64_t piece = RoundUp(std::max<int64_t>(bytes, 1), granularity);
  layout_ = {.bytes = piece * ranks.size(), .piece = piece, .ranks = ranks.size()};
  return Share(ranks);
}

Status PeerRows::Share(Communicator& ranks) {
  rank_ = ranks.rank();
  std::vector<PeerMemory> own;
  const auto make = [&]() -> Status {
    HONE_RETURN_IF_ERROR(range_.Reserve(layout_.pieces() * layout_.piece));
    for (int64_t number = rank_; number < layout_.pieces(); number += layout_.ranks) {
      Result<PeerMemory> piece = PeerMemory::Make(layout_.piece);
      if (!piece.ok()) {
        return piece.status().WithContext(fmt::format("{} bytes of memory, this GPU's part of {}",
                                                      layout_.BytesOf(rank_), layout_.bytes));
      }
      HONE_RETURN_IF_ERROR(range_.Map(number * layout_.piece, *piece));
      own.push_back(std::move(*piece));
    }
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "memory that GPUs share", make()));

  HONE_ASSIGN_OR_RETURN(PeerSockets sockets, PeerSockets::Connect(ranks));
  const auto at_once = static_cast<int64_t>(sockets.most());
  const int64_t rounds = (layout_.BytesOf(0) / layout_.piece + at_once - 1) / at_once;
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<UniqueFd> exported;
    std::vector<int> descriptors;
    const auto export_own = [&]() -> Status {
      const auto end = std::min<int64_t>((round + 1) * at_once, static_cast<int64_t>(own.size()));
      for (int64_t i = round * at_once; i < end; ++i) {
        HONE_ASSIGN_OR_RETURN(UniqueFd descriptor, own[static_cast<size_t>(i)].Export());
        descriptors.push_back(descriptor.get());
        exported.push_back(std::move(descriptor));
      }
      return Status::Ok();
    };
    const auto map = [&](const std::vector<std::vector<UniqueFd>>& received) -> Status {
      for (int r = 0; r < ranks.size(); ++r) {
        const std::vector<UniqueFd>& descriptors_of_rank = received[static_cast<size_t>(r)];
        for (size_t i = 0; i < descriptors_of_rank.size(); ++i) {
          const int64_t number = (round * at_once + static_cast<int64_t>(i)) * layout_.ranks + r;
          if (number >= layout_.pieces()) return Status::Internal("a rank sent more of its memory than it has");
          Result<PeerMemory> piece = PeerMemory::Import(descriptors_of_rank[i].get(), layout_.piece);
          Status mapped = piece.ok() ? range_.Map(number * layout_.piece, *piece) : piece.status();
          if (!mapped.ok()) return mapped.WithContext("memory of " + ranks.Name(r));
        }
      }
      return Status::Ok();
    };
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "memory of the ranks", export_own()));
    HONE_ASSIGN_OR_RETURN(const std::vector<std::vector<UniqueFd>> received, sockets.Exchange(descriptors));
    HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "memory of the ranks", map(received)));
  }
  return AgreeOnStatus(ranks, "memory of the ranks", range_.Open());
}

Status PeerRows::Download(int64_t at, std::span<std::byte> to) const {
  while (!to.empty()) {
    const int64_t piece_bytes_left = layout_.piece - at % layout_.piece;
    const size_t bytes = std::min(to.size(), static_cast<size_t>(piece_bytes_left));
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(to.data(), get() + at, bytes, cudaMemcpyDeviceToHost));
    at += static_cast<int64_t>(bytes);
    to = to.subspan(bytes);
  }
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
