// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans where exact inference keeps its rows, before anything is allocated, and makes the tables of the plan.
//
// A layer reads one table (the previous layer's output for every node; the features at first) and writes another. Both
// lie in device memory if they fit. Otherwise the most-read rows do (exact_ranks.h), and the others lie in host memory
// that HostRows makes. Kernels read and write those row by row through the bus, on an H200 at 51 GB/s in either
// direction. The driver's copies into such memory reach 15 GB/s, and rows out of 28 GB of plainly pinned memory come at
// 7.6 GB/s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/cuda/infer/exact_kernels.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

struct ExactSizes {
  int64_t nodes = 0;
  int64_t block_rows = 0;  // for error messages
  std::vector<int64_t> row_bytes;  // bytes of a row of each layer's input table
  int64_t sums_row_bytes = 0;      // bytes of a row of partial logits; 0: there are none
  int64_t fixed_bytes = 0;         // structure, weights and workspaces
  int64_t ranks_bytes = 0;         // additional fixed bytes if a table does not fit
  int64_t most_first_rows = -1;    // limit of the first table's rows in device memory; below 0: none
  bool all_first = false;          // whether all rows of the first table must be in device memory
};

struct ExactMemory {
  std::vector<int64_t> on_device;  // how many rows of each layer's input table are in device memory
  int64_t sums_on_device = 0;      // how many rows of partial logits are
  int64_t device_bytes = 0;  // the most at any time
  int64_t host_bytes = 0;    // the most at any time; includes all features unless all are on the device
  bool split = false;        // whether a table is partly in host memory
};

// Plans memory. A table and the next one are alive at the same time. Each table gets half of `available` (less the
// fixed bytes), and what the tables before and after it leave over. The sums, which are read once per layer and in
// order, get the rest. Returns kResourceExhausted, with both figures, if the fixed part does not fit, alone or together
// with a first table that must be on the device.
Result<ExactMemory> PlanExactMemory(const ExactSizes& sizes, int64_t available);

// Pinned host memory that is mapped for the device.
class MappedBytes {
 public:
  MappedBytes() = default;
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes() { Free(); }
  // Errors name what the memory is for.
  Status Allocate(int64_t bytes, const char* what_for);
  void Free();
  unsigned char* host() const { return host_; }
  unsigned char* device() const { return device_; }

 private:
  unsigned char* host_ = nullptr;
  unsigned char* device_ = nullptr;
};

// A table of all nodes' rows, on the device or in two parts.
class SplitTable {
 public:
  // The order in which rows are chosen for the device; null if all rows are there. Borrowed: it must outlive the tables
  // made with it.
  struct Order {
    const int32_t* ranks = nullptr;   // [nodes] place of each node, on the device
    std::span<const int32_t> places;  // place of each node, on the host
  };
  // Makes a table of `rows` rows to be written, of which `on_device` are on the device.
  Status Make(int64_t rows, int64_t row_bytes, int64_t on_device, const Order& order, const char* what_for);
  // Makes a read-only table of the features. HostRows keeps the rows that are not on the device, possibly in place, so
  // `rows` must outlive this object.
  Status Open(const FeatureView& rows, int64_t on_device, const Order& order);
  // Makes a read-only table of a synthetic graph's features, which this function generates.
  Status Generate(const SyntheticRequest& request, int64_t on_device, const Order& order);
  // Copies the first values.size() bytes of row `v` of a generated table to the host.
  Status Download(int64_t v, std::span<std::byte> values) const;
  void Free();
  RowTable view() const;
  // Returns whether all rows are on the device.
  bool is_on_device() const { return on_device_ == rows_; }

 private:
  // Copies the rows that belong on the device from the host.
  Status FillDevice(const Order& order);
  int64_t rows_ = 0, row_bytes_ = 0, on_device_ = 0;
  const int32_t* ranks_ = nullptr;
  DeviceArray<unsigned char> device_;
  std::unique_ptr<HostRows> host_;
  bool host_by_id_ = false;
};

// The rows of a pass that are cut into pieces, as arrays of LongRows (exact_kernels.h).
struct LongRowList {
  std::vector<int32_t> positions;
  std::vector<int64_t> first_pieces;  // [positions + 1]
  std::vector<int32_t> piece_rows;

  // Lists the long rows of `ids`, the pass's nodes; empty: all nodes.
  static LongRowList Of(const CsrView& graph, std::span<const NodeId> ids);
  // Returns the index of the first long row at or past a position.
  int64_t LowerBound(int64_t position) const;
  // Returns the largest number of pieces in `block` consecutive positions that start at a multiple of `block`.
  int64_t MostPieces(int64_t block) const;
};

}  // namespace hone::gnn::cuda
