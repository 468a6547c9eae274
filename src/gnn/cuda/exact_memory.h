// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where exact inference keeps its rows: planned before anything is allocated, and the tables that follow the plan.
//
// A layer reads one table (what the layer before it left of every node; the features at first) and writes another. Both
// lie in device memory where they fit. Otherwise their first rows do and the others lie in the host's memory, pinned: written
// in blocks by the copy engine, read row by row through the bus. Features, which nobody writes, lie there as HostRows has
// them, from where they come several times as fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/cuda/cuda_support.h"
#include "gnn/cuda/exact_kernels.h"
#include "gnn/cuda/host_rows.h"
#include "gnn/graph/synthetic_shape.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

struct ExactSizes {
  int64_t nodes = 0;
  int64_t block_rows = 0;
  std::vector<int64_t> row_bytes;  // of each layer's input table
  int64_t sums_row_bytes = 0;      // of the partial logits; 0: none
  int64_t fixed_bytes = 0;         // structure, weights and working memory
  int64_t most_first_rows = -1;    // of the first table, in device memory; below 0: as fit
  bool all_first = false;          // all of it there, whatever that leaves the others
};

struct ExactMemory {
  std::vector<int64_t> on_device;  // rows of each layer's input table; but of the first one all, or a multiple of the block
  int64_t sums_on_device = 0;
  int64_t device_bytes = 0;  // the most at any time
  int64_t host_bytes = 0;    // pinned, likewise
};

// Two neighboring tables are alive at a time. Each gets half of `available` (less what is fixed), and what its
// neighbors leave over; the sums, which are read once a layer and in order, get the rest. kResourceExhausted when the
// fixed part alone, or with it a first table that must be there, does not fit, with both figures.
Result<ExactMemory> PlanExactMemory(const ExactSizes& sizes, int64_t available);

// Pinned host memory that the device sees too.
class MappedBytes {
 public:
  MappedBytes() = default;
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes() { Free(); }
  Status Allocate(int64_t bytes, const char* what_for);
  void Free();
  unsigned char* host() const { return host_; }
  unsigned char* device() const { return device_; }

 private:
  unsigned char* host_ = nullptr;
  unsigned char* device_ = nullptr;
};

// The rows of all nodes, in two parts.
class SplitTable {
 public:
  // To be written.
  Status Make(int64_t rows, int64_t row_bytes, int64_t on_device, const char* what_for);
  // To be read only: the features. Those in the host's memory are as HostRows has them, which may be where they lie, so
  // they must outlive this.
  Status Open(const FeatureView& rows, int64_t on_device);
  // Likewise, of a synthetic graph, made here. kResourceExhausted where the host has no room for its part.
  Status Generate(const SyntheticRequest& request, int64_t on_device);
  // The first bytes of a row of Generate's, to the host.
  Status Download(int64_t v, std::span<std::byte> values) const;
  void Free();
  RowTable view() const {
    return {.device = device_.get(), .host = HostPart(), .on_device = on_device_, .stride_bytes = row_bytes_};
  }
  bool whole() const { return on_device_ == rows_; }
  int64_t on_device() const { return on_device_; }
  // Row `v` >= on_device, for copies.
  unsigned char* HostRow(int64_t v) const { return host_.host() + (v - on_device_) * row_bytes_; }

 private:
  // As the device sees it.
  unsigned char* HostPart() const {
    if (opened_ == nullptr) return host_.device();
    return static_cast<unsigned char*>(const_cast<void*>(opened_->device()));
  }
  int64_t rows_ = 0, row_bytes_ = 0, on_device_ = 0;
  DeviceArray<unsigned char> device_;
  MappedBytes host_;
  std::unique_ptr<HostRows> opened_;  // of Open and Generate, instead
};

// The rows of a pass that are cut into pieces (exact_kernels.h).
struct LongRowList {
  std::vector<int32_t> positions;
  std::vector<int64_t> first_pieces;  // [positions + 1]
  std::vector<int32_t> piece_rows;

  // `ids`: the pass's nodes; empty: all.
  static LongRowList Of(const CsrView& graph, std::span<const NodeId> ids);
  // Indexes of the first long row at or past a position.
  int64_t LowerBound(int64_t position) const;
  // The most pieces of `block` consecutive positions from a multiple of it on.
  int64_t MostPieces(int64_t block) const;
};

}  // namespace hone::gnn::cuda
