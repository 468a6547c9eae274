// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the collective operations, all by Exchange; see hone/gnn/communicator.h.
#include "hone/gnn/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace hone::gnn {
namespace {

using Sources = std::vector<std::span<const std::byte>>;
using Targets = std::vector<std::span<std::byte>>;

// Sums in two rounds: rank k adds up slice k of all ranks' values, in rank order, and sends it to all.
template <typename T>
Status SumInRankOrder(Communicator& ranks, std::string_view what, std::span<T> values,
                      std::vector<std::byte>& scratch) {
  const auto size = static_cast<size_t>(ranks.size());
  const auto own_rank = static_cast<size_t>(ranks.rank());
  if (size == 1) return ranks.Barrier(what);
  const auto slice = [&](size_t r) {
    const size_t begin = values.size() * r / size;
    return values.subspan(begin, values.size() * (r + 1) / size - begin);
  };
  const size_t slice_size = slice(own_rank).size();
  scratch.resize(size * slice_size * sizeof(T));
  Sources to(size);
  Targets from(size);
  for (size_t r = 0; r < size; ++r) {
    to[r] = std::as_bytes(slice(r));
    from[r] = std::span(scratch).subspan(r * slice_size * sizeof(T), slice_size * sizeof(T));
  }
  HONE_RETURN_IF_ERROR(ranks.Exchange(what, to, from));
  T* sum = slice(own_rank).data();
  const auto* parts = reinterpret_cast<const T*>(scratch.data());
  std::copy(parts, parts + slice_size, sum);
  for (size_t r = 1; r < size; ++r) {
    for (size_t i = 0; i < slice_size; ++i) sum[i] += parts[r * slice_size + i];
  }
  for (size_t r = 0; r < size; ++r) {
    to[r] = r == own_rank ? std::span<const std::byte>() : std::as_bytes(slice(own_rank));
    from[r] = r == own_rank ? std::span<std::byte>() : std::as_writable_bytes(slice(r));
  }
  return ranks.Exchange(what, to, from);
}

class SoloCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string Name(int) const override { return "rank 0"; }
  Status Exchange(std::string_view, std::span<const std::span<const std::byte>> to,
                  std::span<const std::span<std::byte>> from) override {
    const std::lock_guard lock(mutex_);
    if (!abort_reason_.ok()) return abort_reason_;
    HONE_CHECK(to[0].size() == from[0].size(), "a rank sends itself what it expects");
    if (!to[0].empty()) std::memcpy(from[0].data(), to[0].data(), to[0].size());
    return Status::Ok();
  }
  void Abort(const Status& why) override {
    const std::lock_guard lock(mutex_);
    if (abort_reason_.ok()) abort_reason_ = why;
  }

 private:
  std::mutex mutex_;
  Status abort_reason_;
};

}  // namespace

Status Communicator::AllReduceSum(std::string_view what, std::span<float> values) {
  return SumInRankOrder(*this, what, values, scratch_);
}

Status Communicator::AllReduceSum(std::string_view what, std::span<double> values) {
  return SumInRankOrder(*this, what, values, scratch_);
}

Status Communicator::Broadcast(std::string_view what, std::span<std::byte> bytes, int root) {
  Sources to(static_cast<size_t>(size()));
  Targets from(to.size());
  if (rank() == root) {
    std::fill(to.begin(), to.end(), bytes);
    to[static_cast<size_t>(root)] = {};
  } else {
    from[static_cast<size_t>(root)] = bytes;
  }
  return Exchange(what, to, from);
}

Status Communicator::Broadcast(std::string_view what, std::string& bytes, int root) {
  uint64_t length = bytes.size();
  HONE_RETURN_IF_ERROR(Broadcast(what, std::as_writable_bytes(std::span(&length, 1)), root));
  bytes.resize(length);
  return Broadcast(what, std::as_writable_bytes(std::span(bytes)), root);
}

Result<std::vector<std::string>> Communicator::AllGather(std::string_view what, const std::string& own_string) {
  const auto count = static_cast<size_t>(size());
  const uint64_t length = own_string.size();
  std::vector<uint64_t> lengths(count);
  Sources to(count, std::as_bytes(std::span(&length, 1)));
  Targets from(count);
  for (size_t r = 0; r < count; ++r) from[r] = std::as_writable_bytes(std::span(&lengths[r], 1));
  HONE_RETURN_IF_ERROR(Exchange(what, to, from));
  std::vector<std::string> strings(count);
  for (size_t r = 0; r < count; ++r) {
    strings[r].resize(lengths[r]);
    to[r] = std::as_bytes(std::span(own_string));
    from[r] = std::as_writable_bytes(std::span(strings[r]));
  }
  HONE_RETURN_IF_ERROR(Exchange(what, to, from));
  return strings;
}

Status Communicator::Barrier(std::string_view what) {
  const Sources to(static_cast<size_t>(size()));
  const Targets from(to.size());
  return Exchange(what, to, from);
}

Status Communicator::Agree(std::string_view what, uint64_t value) {
  std::vector<uint64_t> values(static_cast<size_t>(size()));
  const Sources to(values.size(), std::as_bytes(std::span(&value, 1)));
  Targets from(values.size());
  for (size_t r = 0; r < values.size(); ++r) from[r] = std::as_writable_bytes(std::span(&values[r], 1));
  HONE_RETURN_IF_ERROR(Exchange(what, to, from));
  std::string differing;
  for (size_t r = 1; r < values.size(); ++r) {
    if (values[r] == values[0]) continue;
    differing += fmt::format("{}{} ({:#x})", differing.empty() ? "" : ", ", Name(static_cast<int>(r)), values[r]);
  }
  if (differing.empty()) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("the ranks do not agree on {}: {} ({:#x}) and {} differ", what, Name(0), values[0], differing));
}

std::unique_ptr<Communicator> MakeSoloCommunicator() { return std::make_unique<SoloCommunicator>(); }

}  // namespace hone::gnn
