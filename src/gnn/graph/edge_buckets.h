// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups a stream of edges by ranges of destinations, in bounded memory: the first half of building a CSR.
//
// Each edge goes to the bucket of its destination's range, with a row of bytes if edges have features. A bucket is a
// list of pieces of about 64 KiB in memory. When all pieces together reach the limit, they are written to one unlinked
// file, and the memory is used again. Each bucket is small enough to be sorted in a processor's cache. Add is not
// thread-safe; different buckets may be read concurrently.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

struct BucketedEdge {
  NodeId destination;
  NodeId source;
};

class EdgeBuckets {
 public:
  // `spill_beside`: path of the output, in whose folder the spill file is made. `memory_bytes` bounds the pieces.
  // `row_bytes`: size of the row of each edge; 0: edges have none.
  EdgeBuckets(int64_t num_nodes, int64_t memory_bytes, std::string spill_beside, int64_t row_bytes = 0);

  // Adds an edge to the bucket of its destination, with a copy of its row (row_bytes; unused if these are 0). kIo: the
  // temporary file could not be written.
  Status Add(NodeId source, NodeId destination, const std::byte* row = nullptr) {
    Bucket& bucket = buckets_[static_cast<size_t>(destination) >> shift_];
    if (row_bytes_ > 0) {
      std::memcpy(bucket.open.rows.data() + bucket.open_count * row_bytes_, row, static_cast<size_t>(row_bytes_));
    }
    bucket.open.edges[static_cast<size_t>(bucket.open_count++)] = {destination, source};
    ++bucket.total;
    return bucket.open_count == piece_edges_ ? ClosePiece(bucket) : Status::Ok();
  }

  int64_t num_buckets() const { return static_cast<int64_t>(buckets_.size()); }
  // Return the range of nodes [FirstNode, EndNode) whose in-edges the bucket has, and the number of these edges.
  int64_t FirstNode(int64_t bucket) const { return bucket << shift_; }
  int64_t EndNode(int64_t bucket) const;
  int64_t Size(int64_t bucket) const { return buckets_[static_cast<size_t>(bucket)].total; }
  bool spilled() const { return spill_.valid(); }
  // Edges with their rows: the row of edges[i] begins at rows[i * row_bytes].
  struct Edges {
    std::vector<BucketedEdge> edges;
    std::vector<std::byte> rows;
  };
  // Reads all edges of a bucket, in the order of adding. Call after the last Add.
  Status Read(int64_t bucket, Edges& out) const;
  // Frees a bucket's memory.
  void Release(int64_t bucket);

 private:
  struct Piece {
    Edges held;          // empty when spilled
    int64_t offset = 0;  // offset in the spill file, of the edges; their rows follow
  };
  struct Bucket {
    Edges open;
    int64_t open_count = 0;
    int64_t total = 0;
    std::vector<Piece> pieces;
  };
  Edges EmptyPiece() const;
  Status ClosePiece(Bucket& bucket);
  Status Spill();
  Status WriteSpilled(std::span<const std::byte> bytes);
  Status ReadSpilled(int64_t offset, std::span<std::byte> bytes) const;

  int64_t num_nodes_, memory_bytes_, row_bytes_, held_bytes_ = 0, spilled_bytes_ = 0;
  int64_t piece_edges_;  // edges of a full piece
  int shift_;            // 2^shift_ nodes per bucket
  std::string spill_beside_;
  UniqueFd spill_;
  std::vector<Bucket> buckets_;
};

}  // namespace hone::gnn
