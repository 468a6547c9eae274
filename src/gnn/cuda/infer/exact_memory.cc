// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/infer/exact_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gnn/cuda/graph/generate_features.h"
#include "gnn/cuda/graph/staging_kernels.h"
#include "gnn/cuda/infer/exact_ranks.h"

namespace hone::gnn::cuda {

namespace {

constexpr int64_t kIdsAtOnce = int64_t{1} << 20;  // ids of rows that are copied at once when the device's part is
                                                  // filled

Result<ExactMemory> Divide(const ExactSizes& sizes, int64_t available) {
  const int64_t free = available - sizes.fixed_bytes;
  if (free < 0) {
    return Status::ResourceExhausted(fmt::format(
        "exact inference needs {} bytes of device memory for the graph's structure, the weights and blocks of {} rows, "
        "and {} are there: run it on the CPU, or on a larger GPU",
        sizes.fixed_bytes, sizes.block_rows, available));
  }
  const auto tables = sizes.row_bytes.size();
  const auto table_bytes = [&](size_t t) { return sizes.nodes * sizes.row_bytes[t]; };
  std::vector<int64_t> bytes(tables + 1, 0);
  if (sizes.all_first && table_bytes(0) > free) {
    return Status::ResourceExhausted(
        fmt::format("exact inference with all features in device memory needs {} bytes of it, and {} are there: leave "
                    "a part of them in "
                    "the host's memory, where they are read",
                    sizes.fixed_bytes + table_bytes(0), available));
  }
  // Returns the bytes that a table may take on the device: for the first table, those of the requested rows at most.
  const auto most_of = [&](size_t t) {
    return t == 0 && sizes.most_first_rows >= 0 ? std::min(sizes.nodes, sizes.most_first_rows) * sizes.row_bytes[0]
                                                : table_bytes(t);
  };
  for (size_t t = 0; t < tables; ++t)
    bytes[t] = t == 0 && sizes.all_first ? table_bytes(0) : std::min(most_of(t), free / 2);
  for (size_t t = 0; t < tables; ++t) {
    if (t == 0 && sizes.all_first) {
      bytes[1] = std::min(bytes[1], free - bytes[0]);
      continue;
    }
    const int64_t previous_table_bytes = t == 0 ? 0 : bytes[t - 1];
    bytes[t] = std::min(most_of(t), free - std::max(previous_table_bytes, bytes[t + 1]));
  }
  ExactMemory plan;
  const auto rows_of = [&](int64_t room, int64_t row_bytes) { return std::min(sizes.nodes, room / row_bytes); };
  int64_t most = 0, most_host = 0;
  for (size_t t = 0; t < tables; ++t) {
    plan.on_device.push_back(rows_of(bytes[t], sizes.row_bytes[t]));
    bytes[t] = plan.on_device[t] * sizes.row_bytes[t];
    plan.split = plan.split || plan.on_device[t] < sizes.nodes;
  }
  for (size_t t = 0; t < tables; ++t) {
    most = std::max(most, bytes[t] + bytes[t + 1]);
    const int64_t next_table_bytes = t + 1 < tables ? table_bytes(t + 1) - bytes[t + 1] : 0;
    // If the device does not hold all features, all of them are on the host.
    const int64_t host = t > 0 ? table_bytes(t) - bytes[t] : plan.on_device[0] < sizes.nodes ? table_bytes(0) : 0;
    most_host = std::max(most_host, host + next_table_bytes);
  }
  if (sizes.sums_row_bytes > 0) {
    plan.sums_on_device = rows_of(free - most, sizes.sums_row_bytes);
    most += plan.sums_on_device * sizes.sums_row_bytes;
    most_host += (sizes.nodes - plan.sums_on_device) * sizes.sums_row_bytes;
    plan.split = plan.split || plan.sums_on_device < sizes.nodes;
  }
  plan.device_bytes = sizes.fixed_bytes + most;
  plan.host_bytes = most_host;
  return plan;
}

}  // namespace

Result<ExactMemory> PlanExactMemory(const ExactSizes& sizes, int64_t available) {
  HONE_ASSIGN_OR_RETURN(ExactMemory plan, Divide(sizes, available));
  if (!plan.split || sizes.ranks_bytes == 0) return plan;
  ExactSizes with_ranks = sizes;
  with_ranks.fixed_bytes += sizes.ranks_bytes;
  with_ranks.ranks_bytes = 0;
  return Divide(with_ranks, available);
}

Status MappedBytes::Allocate(int64_t bytes, const char* what_for) {
  Free();
  if (bytes == 0) return Status::Ok();
  void* host = nullptr;
  if (cudaHostAlloc(&host, static_cast<size_t>(bytes), cudaHostAllocMapped) != cudaSuccess) {
    (void)cudaGetLastError();
    return Status::ResourceExhausted(
        fmt::format("no {} bytes of pinned host memory for {}, which device memory cannot hold", bytes, what_for));
  }
  host_ = static_cast<unsigned char*>(host);
  void* device = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, host, 0));
  device_ = static_cast<unsigned char*>(device);
  return Status::Ok();
}

void MappedBytes::Free() {
  if (host_ != nullptr) cudaFreeHost(host_);
  host_ = device_ = nullptr;
}

RowTable SplitTable::view() const {
  RowTable table{.device = device_.get(), .on_device = static_cast<int32_t>(on_device_), .host_by_id = host_by_id_, .stride_bytes = row_bytes_};
  if (host_ == nullptr) return table;
  table.host = static_cast<unsigned char*>(const_cast<void*>(host_->device()));
  table.ranks = ranks_;
  return table;
}

Status SplitTable::Make(int64_t rows, int64_t row_bytes, int64_t on_device, const Order& order, const char* what_for) {
  Free();
  rows_ = rows;
  row_bytes_ = row_bytes;
  on_device_ = on_device;
  HONE_RETURN_IF_ERROR(device_.Allocate(on_device * row_bytes));
  if (is_on_device()) return Status::Ok();
  ranks_ = order.ranks;
  host_by_id_ = false;
  host_ = std::make_unique<HostRows>();
  const int64_t bytes = (rows - on_device) * row_bytes;
  HONE_RETURN_IF_ERROR(host_->Allocate(bytes).WithContext(fmt::format("{} bytes of the host's memory for {}", bytes, what_for)));
  host_->CreatePages();
  return host_->Ready();
}

// Copies the rows that belong on the device from the host.
Status SplitTable::FillDevice(const Order& order) {
  ranks_ = order.ranks;
  host_by_id_ = true;
  HONE_RETURN_IF_ERROR(device_.Allocate(on_device_ * row_bytes_));
  const std::vector<NodeId> nodes = FirstByRank(order.places, on_device_);
  DeviceArray<int32_t> ids;
  for (int64_t first = 0; first < on_device_; first += kIdsAtOnce) {
    const int64_t count = std::min(kIdsAtOnce, on_device_ - first);
    HONE_RETURN_IF_ERROR(ids.Upload(nodes.data() + first, count));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyRows(ids.get(), count, static_cast<int32_t>(row_bytes_ / 16), host_->device(),
                                              device_.get() + first * row_bytes_, nullptr));
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());  // before the next ids overwrite these
  }
  return Status::Ok();
}

Status SplitTable::Open(const FeatureView& rows, int64_t on_device, const Order& order) {
  Free();
  rows_ = rows.num_rows;
  row_bytes_ = rows.stride_bytes;
  on_device_ = on_device;
  if (is_on_device()) return device_.Upload(reinterpret_cast<const unsigned char*>(rows.rows), on_device * row_bytes_);
  host_ = std::make_unique<HostRows>();
  HONE_RETURN_IF_ERROR(host_->Open(rows));
  return FillDevice(order);
}

Status SplitTable::Generate(const SyntheticRequest& request, int64_t on_device, const Order& order) {
  Free();
  const FeatureView shape = FeaturesOf(request);
  rows_ = shape.num_rows;
  row_bytes_ = shape.stride_bytes;
  on_device_ = on_device;
  FeatureGenerator generator(request);
  if (is_on_device()) {
    HONE_RETURN_IF_ERROR(device_.Allocate(rows_ * row_bytes_));
    HONE_RETURN_IF_ERROR(generator.Enqueue(0, rows_, device_.get()));
    HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
    return Status::Ok();
  }
  host_ = std::make_unique<HostRows>();
  HONE_RETURN_IF_ERROR(host_->Allocate(rows_ * row_bytes_));
  HONE_RETURN_IF_ERROR(generator.FillHost(*host_));
  return FillDevice(order);
}

Status SplitTable::Download(int64_t v, std::span<std::byte> values) const {
  if (!is_on_device()) {
    std::memcpy(values.data(), host_->own() + v * row_bytes_, values.size());
    return Status::Ok();
  }
  HONE_CUDA_RETURN_IF_ERROR(
      cudaMemcpy(values.data(), device_.get() + v * row_bytes_, values.size(), cudaMemcpyDeviceToHost));
  return Status::Ok();
}

void SplitTable::Free() {
  device_ = {};
  host_.reset();
}

LongRowList LongRowList::Of(const CsrView& graph, std::span<const NodeId> ids) {
  LongRowList list;
  list.first_pieces.push_back(0);
  const int64_t count = ids.empty() ? graph.num_nodes : static_cast<int64_t>(ids.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t degree = graph.Degree(ids.empty() ? static_cast<NodeId>(i) : ids[static_cast<size_t>(i)]);
    if (degree <= kPieceNeighbors) continue;
    const int64_t pieces = (degree + kPieceNeighbors - 1) / kPieceNeighbors;
    list.piece_rows.insert(list.piece_rows.end(), static_cast<size_t>(pieces),
                           static_cast<int32_t>(list.positions.size()));
    list.positions.push_back(static_cast<int32_t>(i));
    list.first_pieces.push_back(list.first_pieces.back() + pieces);
  }
  return list;
}

int64_t LongRowList::LowerBound(int64_t position) const {
  return std::lower_bound(positions.begin(), positions.end(), position) - positions.begin();
}

int64_t LongRowList::MostPieces(int64_t block) const {
  int64_t most = 0;
  for (size_t from = 0; from < positions.size();) {
    const int64_t end = (positions[from] / block + 1) * block;
    const auto until = static_cast<size_t>(LowerBound(end));
    most = std::max(most, first_pieces[until] - first_pieces[from]);
    from = until;
  }
  return most;
}

}  // namespace hone::gnn::cuda
