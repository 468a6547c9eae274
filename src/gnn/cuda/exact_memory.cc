// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/exact_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hone::gnn::cuda {

Result<ExactMemory> PlanExactMemory(const ExactSizes& sizes, int64_t available) {
  const int64_t free = available - sizes.fixed_bytes;
  if (free < 0) {
    return Status::ResourceExhausted(fmt::format(
        "exact inference needs {} bytes of device memory for the graph's structure, the weights and blocks of {} rows, "
        "and {} are there: run it on the CPU, or on a larger GPU",
        sizes.fixed_bytes, sizes.block_rows, available));
  }
  const auto tables = sizes.row_bytes.size();
  const auto whole = [&](size_t t) { return sizes.nodes * sizes.row_bytes[t]; };
  std::vector<int64_t> bytes(tables + 1, 0);
  for (size_t t = 0; t < tables; ++t) bytes[t] = std::min(whole(t), free / 2);
  for (size_t t = 0; t < tables; ++t) {
    const int64_t before = t == 0 ? 0 : bytes[t - 1];
    bytes[t] = std::min(whole(t), free - std::max(before, bytes[t + 1]));
  }
  ExactMemory plan;
  const auto rows_of = [&](int64_t room, int64_t row_bytes) {
    const int64_t rows = std::min(sizes.nodes, room / row_bytes);
    return rows == sizes.nodes ? rows : rows / sizes.block_rows * sizes.block_rows;
  };
  int64_t most = 0, most_host = 0;
  for (size_t t = 0; t < tables; ++t) {
    plan.on_device.push_back(rows_of(bytes[t], sizes.row_bytes[t]));
    bytes[t] = plan.on_device[t] * sizes.row_bytes[t];
  }
  for (size_t t = 0; t < tables; ++t) {
    most = std::max(most, bytes[t] + bytes[t + 1]);
    const int64_t next = t + 1 < tables ? whole(t + 1) - bytes[t + 1] : 0;
    most_host = std::max(most_host, whole(t) - bytes[t] + next);
  }
  if (sizes.sums_row_bytes > 0) {
    plan.sums_on_device = rows_of(free - most, sizes.sums_row_bytes);
    most += plan.sums_on_device * sizes.sums_row_bytes;
    most_host += (sizes.nodes - plan.sums_on_device) * sizes.sums_row_bytes;
  }
  plan.device_bytes = sizes.fixed_bytes + most;
  plan.host_bytes = most_host;
  return plan;
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

Status SplitTable::Make(int64_t rows, int64_t row_bytes, int64_t on_device, const char* what_for) {
  rows_ = rows;
  row_bytes_ = row_bytes;
  on_device_ = on_device;
  HONE_RETURN_IF_ERROR(device_.Allocate(on_device * row_bytes));
  return host_.Allocate((rows - on_device) * row_bytes, what_for);
}

void SplitTable::Adopt(DeviceArray<unsigned char> rows, int64_t count, int64_t row_bytes) {
  Free();
  rows_ = on_device_ = count;
  row_bytes_ = row_bytes;
  device_ = std::move(rows);
}

Status SplitTable::Fill(const FeatureView& rows) {
  if (on_device_ > 0) {
    HONE_RETURN_IF_ERROR(
        device_.Upload(reinterpret_cast<const unsigned char*>(rows.rows), on_device_ * row_bytes_));
  }
  if (!whole()) std::memcpy(host_.host(), rows.Row(on_device_), static_cast<size_t>((rows_ - on_device_) * row_bytes_));
  return Status::Ok();
}

void SplitTable::Free() {
  device_ = {};
  host_.Free();
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
