// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where exact inference keeps its rows: planned before anything is allocated, and the tables that follow the plan.
//
// A layer reads one table (what the layer before it left of every node; the features at first) and writes another. Both
// lie in device memory where they fit. Otherwise the rows that are read most do (exact_ranks.h), and the others lie in the
// host's memory as HostRows makes it, and are written and read row by row through the bus: on an H200 at 51 GB/s either way,
// where the driver's copies into such memory reach 15, and rows of plainly pinned memory come at 7.6 out of 28 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/cuda/infer/exact_kernels.h"
#include "gnn/graph/synthetic_shape.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

struct ExactSizes {
  int64_t nodes = 0;
  int64_t block_rows = 0;  // for what a refusal says
  std::vector<int64_t> row_bytes;  // of each layer's input table
  int64_t sums_row_bytes = 0;      // of the partial logits; 0: none
  int64_t fixed_bytes = 0;         // structure, weights and working memory
  int64_t ranks_bytes = 0;         // what is fixed too, where a table does not fit
  int64_t most_first_rows = -1;    // of the first table, in device memory; below 0: as fit
  bool all_first = false;          // all of it there, whatever that leaves the others
};

struct ExactMemory {
  std::vector<int64_t> on_device;  // rows of each layer's input table
  int64_t sums_on_device = 0;
  int64_t device_bytes = 0;  // the most at any time
  int64_t host_bytes = 0;    // likewise; of features that are not all on the device, all
  bool split = false;        // some table is in the host's memory too
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

// The rows of all nodes, on the device or in two parts.
class SplitTable {
 public:
  // The order by which the device has rows; null: it has all. Borrowed as long as tables of it.
  struct Order {
    const int32_t* ranks = nullptr;   // [nodes], on the device
    std::span<const int32_t> places;  // the same, on the host
  };
  // To be written.
  Status Make(int64_t rows, int64_t row_bytes, int64_t on_device, const Order& order, const char* what_for);
  // To be read only: the features. Those that the device does not have are as HostRows has them, which may be where they
  // lie, so they must outlive this.
  Status Open(const FeatureView& rows, int64_t on_device, const Order& order);
  // Likewise, of a synthetic graph, made here.
  Status Generate(const SyntheticRequest& request, int64_t on_device, const Order& order);
  // The first bytes of a row of Generate's, to the host.
  Status Download(int64_t v, std::span<std::byte> values) const;
  void Free();
  RowTable view() const;
  bool whole() const { return on_device_ == rows_; }

 private:
  Status FillDevice(const Order& order);
  int64_t rows_ = 0, row_bytes_ = 0, on_device_ = 0;
  const int32_t* ranks_ = nullptr;
  DeviceArray<unsigned char> device_;
  std::unique_ptr<HostRows> host_;
  bool host_by_id_ = false;
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
