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
constexpr int kMinShift = 12;
}

EdgeBuckets::EdgeBuckets(int64_t num_nodes, int64_t memory_bytes, std::string spill_beside)
    : num_nodes_(num_nodes), memory_bytes_(memory_bytes), shift_(kMinShift), spill_beside_(std::move(spill_beside)) {
  while (((num_nodes - 1) >> shift_) >= kMaxBuckets) ++shift_;
  buckets_.resize(static_cast<size_t>(((num_nodes - 1) >> shift_) + 1));
  for (Bucket& bucket : buckets_) bucket.open.resize(kPieceEdges);
}

int64_t EdgeBuckets::EndNode(int64_t bucket) const { return std::min(num_nodes_, (bucket + 1) << shift_); }

Status EdgeBuckets::ClosePiece(Bucket& bucket) {
  Piece piece;
  piece.edges = std::move(bucket.open);
  bucket.pieces.push_back(std::move(piece));
  bucket.open = std::vector<BucketedEdge>(kPieceEdges);
  bucket.open_count = 0;
  held_bytes_ += kPieceEdges * static_cast<int64_t>(sizeof(BucketedEdge));
  return held_bytes_ >= memory_bytes_ ? Spill() : Status::Ok();
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
      if (piece.edges.empty()) continue;
      std::span<const std::byte> bytes = std::as_bytes(std::span(piece.edges));
      piece.offset = spilled_bytes_;
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
      std::vector<BucketedEdge>().swap(piece.edges);
    }
  }
  held_bytes_ = 0;
  return Status::Ok();
}

Status EdgeBuckets::Read(int64_t index, std::vector<BucketedEdge>& out) const {
  const Bucket& bucket = buckets_[static_cast<size_t>(index)];
  out.resize(static_cast<size_t>(bucket.total));
  size_t at = 0;
  for (const Piece& piece : bucket.pieces) {
    if (!piece.edges.empty()) {
      std::copy(piece.edges.begin(), piece.edges.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      std::span<std::byte> bytes = std::as_writable_bytes(std::span(out).subspan(at, kPieceEdges));
      int64_t offset = piece.offset;
      while (!bytes.empty()) {
        const ssize_t n = pread(spill_.get(), bytes.data(), bytes.size(), offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return Status::Io(ErrnoMessage("read sorted edges beside", spill_beside_, n < 0 ? errno : EIO));
        offset += n;
        bytes = bytes.subspan(static_cast<size_t>(n));
      }
    }
    at += kPieceEdges;
  }
  std::copy(bucket.open.begin(), bucket.open.begin() + bucket.open_count, out.begin() + static_cast<std::ptrdiff_t>(at));
  return Status::Ok();
}

void EdgeBuckets::Release(int64_t index) {
  Bucket& bucket = buckets_[static_cast<size_t>(index)];
  std::vector<Piece>().swap(bucket.pieces);
  std::vector<BucketedEdge>().swap(bucket.open);
}

}  // namespace hone::gnn
