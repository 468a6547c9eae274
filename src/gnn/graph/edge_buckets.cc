// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See edge_buckets.h.
#include "gnn/graph/edge_buckets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace hone::gnn {
namespace {
constexpr int64_t kMaxBuckets = 512;
constexpr int kMinShift = 12;  // a bucket has the edges into at least 2^12 nodes
constexpr int64_t kPieceBytes = int64_t{64} << 10;
}  // namespace

EdgeBuckets::EdgeBuckets(int64_t num_nodes, int64_t memory_bytes, std::string spill_beside, int64_t row_bytes)
    : num_nodes_(num_nodes),
      memory_bytes_(memory_bytes),
      row_bytes_(row_bytes),
      piece_edges_(std::max<int64_t>(1, kPieceBytes / (static_cast<int64_t>(sizeof(BucketedEdge)) + row_bytes))),
      shift_(kMinShift),
      spill_beside_(std::move(spill_beside)) {
  while (((num_nodes - 1) >> shift_) >= kMaxBuckets) ++shift_;
  buckets_.resize(static_cast<size_t>(((num_nodes - 1) >> shift_) + 1));
  for (Bucket& bucket : buckets_) bucket.open = EmptyPiece();
}

int64_t EdgeBuckets::EndNode(int64_t bucket) const { return std::min(num_nodes_, (bucket + 1) << shift_); }

EdgeBuckets::Edges EdgeBuckets::EmptyPiece() const {
  return {std::vector<BucketedEdge>(static_cast<size_t>(piece_edges_)),
          std::vector<std::byte>(static_cast<size_t>(piece_edges_ * row_bytes_))};
}

Status EdgeBuckets::ClosePiece(Bucket& bucket) {
  Piece piece;
  piece.held = std::move(bucket.open);
  bucket.pieces.push_back(std::move(piece));
  bucket.open = EmptyPiece();
  bucket.open_count = 0;
  held_bytes_ += piece_edges_ * (static_cast<int64_t>(sizeof(BucketedEdge)) + row_bytes_);
  return held_bytes_ >= memory_bytes_ ? Spill() : Status::Ok();
}

Status EdgeBuckets::WriteSpilled(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(spill_.get(), bytes.data(), bytes.size(), spilled_bytes_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return Status::Io(ErrnoMessage("write sorted edges beside", spill_beside_, errno) +
                        "; nothing was left behind; free some space, or give more --memory");
    }
    spilled_bytes_ += n;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return Status::Ok();
}

Status EdgeBuckets::ReadSpilled(int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = pread(spill_.get(), bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status::Io(ErrnoMessage("read sorted edges beside", spill_beside_, n < 0 ? errno : EIO));
    offset += n;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return Status::Ok();
}

Status EdgeBuckets::Spill() {
  if (!spill_.valid()) {
    const std::filesystem::path parent = std::filesystem::path(spill_beside_).parent_path();
    if (!parent.empty()) HONE_RETURN_IF_ERROR(MakeDirectories(parent.string()));
    std::string name = spill_beside_ + ".edges-XXXXXX";
    spill_.Reset(mkostemp(name.data(), O_CLOEXEC));
    if (!spill_.valid()) return Status::Io(ErrnoMessage("create", name, errno));
    unlink(name.c_str());  // without a name, the file is deleted when the process ends, however it ends
  }
  for (Bucket& bucket : buckets_) {
    for (Piece& piece : bucket.pieces) {
      if (piece.held.edges.empty()) continue;
      piece.offset = spilled_bytes_;
      HONE_RETURN_IF_ERROR(WriteSpilled(std::as_bytes(std::span(piece.held.edges))));
      HONE_RETURN_IF_ERROR(WriteSpilled(piece.held.rows));
      piece.held = Edges();
    }
  }
  held_bytes_ = 0;
  return Status::Ok();
}

Status EdgeBuckets::Read(int64_t index, Edges& out) const {
  const Bucket& bucket = buckets_[static_cast<size_t>(index)];
  out.edges.resize(static_cast<size_t>(bucket.total));
  out.rows.resize(static_cast<size_t>(bucket.total * row_bytes_));
  int64_t at = 0;
  const auto copy = [&](const Edges& from, int64_t count) {
    std::copy_n(from.edges.begin(), count, out.edges.begin() + at);
    std::copy_n(from.rows.begin(), count * row_bytes_, out.rows.begin() + at * row_bytes_);
  };
  for (const Piece& piece : bucket.pieces) {
    if (!piece.held.edges.empty()) {
      copy(piece.held, piece_edges_);
    } else {
      const auto edges = std::as_writable_bytes(
          std::span(out.edges).subspan(static_cast<size_t>(at), static_cast<size_t>(piece_edges_)));
      HONE_RETURN_IF_ERROR(ReadSpilled(piece.offset, edges));
      HONE_RETURN_IF_ERROR(ReadSpilled(piece.offset + static_cast<int64_t>(edges.size()),
                                       std::span(out.rows).subspan(static_cast<size_t>(at * row_bytes_),
                                                                   static_cast<size_t>(piece_edges_ * row_bytes_))));
    }
    at += piece_edges_;
  }
  copy(bucket.open, bucket.open_count);
  return Status::Ok();
}

void EdgeBuckets::Release(int64_t index) {
  Bucket& bucket = buckets_[static_cast<size_t>(index)];
  std::vector<Piece>().swap(bucket.pieces);
  bucket.open = Edges();
}

}  // namespace hone::gnn
