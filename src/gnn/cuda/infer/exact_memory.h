// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans where exact inference keeps its rows, before anything is allocated, and makes the tables of the plan.
//
// A layer reads one table (the previous layer's output for every node; the features at first) and writes another. Both
// lie in device memory where they fit. Otherwise the most-read rows do (exact_ranks.h), and the others lie in host
// memory as HostRows makes it, and are written and read row by row through the bus: on an H200 at 51 GB/s either way,
// where the driver's copies into such memory reach 15, and rows of plainly pinned memory come at 7.6 GB/s out of 28 GB.
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
  int64_t block_rows = 0;  // for error messages
  std::vector<int64_t> row_bytes;  // bytes of a row of each layer's input table
  int64_t sums_row_bytes = 0;      // bytes of a row of partial logits; 0: there are none
  int64_t fixed_bytes = 0;         // structure, weights and workspaces
  int64_t ranks_bytes = 0;         // additional fixed bytes where a table does not fit
  int64_t most_first_rows = -1;    // most rows of the first table in device memory; below 0: as many as fit
  bool all_first = false;          // all rows of the first table must be there
};

struct ExactMemory {
  std::vector<int64_t> on_device;  // rows of each layer's input table
  int64_t sums_on_device = 0;
  int64_t device_bytes = 0;  // the most at any time
  int64_t host_bytes = 0;    // the most at any time; if some features are not on the device, includes all features
  bool split = false;        // some table is partly in host memory
};

// Plans memory. Two neighboring tables are alive at a time. Each gets half of `available` (less the fixed bytes), and
// what its neighbors leave over; the sums, read once per layer and in order, get the rest. kResourceExhausted, with
// both figures, when the fixed part alone, or together with a first table that must be on the device, does not fit.
Result<ExactMemory> PlanExactMemory(const ExactSizes& sizes, int64_t available);

// Pinned host memory that is mapped for the device.
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

// Rows of all nodes, on the device or in two parts.
class SplitTable {
 public:
  // The order in which rows are chosen for the device; null: all rows are there. Borrowed as long as tables with this
  // order.
  struct Order {
    const int32_t* ranks = nullptr;   // [nodes], on the device
    std::span<const int32_t> places;  // the same, on the host
  };
  // Makes a table to be written.
  Status Make(int64_t rows, int64_t row_bytes, int64_t on_device, const Order& order, const char* what_for);
  // Makes a read-only table of the features. Rows outside the device are as HostRows keeps them, possibly in place, so
  // `rows` must outlive this object.
  Status Open(const FeatureView& rows, int64_t on_device, const Order& order);
  // Does the same for a synthetic graph, whose features are generated here.
  Status Generate(const SyntheticRequest& request, int64_t on_device, const Order& order);
  // Copies the first bytes of a row of a generated table to the host.
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

  // Lists the long rows of `ids`, the pass's nodes; empty: all nodes.
  static LongRowList Of(const CsrView& graph, std::span<const NodeId> ids);
  // Returns the index of the first long row at or past a position.
  int64_t LowerBound(int64_t position) const;
  // Returns the most pieces of any `block` consecutive positions that start at a multiple of `block`.
  int64_t MostPieces(int64_t block) const;
};

}  // namespace hone::gnn::cuda
