// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gathers random rows with both kinds of stores and several prefetch distances, and prints JSON. The defaults of
// SliceRows were chosen with this program. Times are processor time of one thread, the median of seven.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/batch/slice_rows.h"
#include "gnn/sample/huge_buffer.h"

namespace hone::gnn {
namespace {

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Status Run() {
  constexpr int64_t kStride = 256;
  nlohmann::json results = nlohmann::json::array();
  Rng rng(1);
  for (const auto& [table_rows, count] : {std::pair<int64_t, int64_t>{2'449'029, 540'000}, {169'343, 86'000}, {2'449'029, 20'000}}) {
    HONE_ASSIGN_OR_RETURN(const HugeBuffer table, HugeBuffer::Allocate(static_cast<size_t>(table_rows * kStride)));
    HONE_ASSIGN_OR_RETURN(const HugeBuffer out, HugeBuffer::Allocate(static_cast<size_t>(count * kStride)));
    std::memset(table.data(), 1, table.bytes());
    std::memset(out.data(), 1, out.bytes());
    const FeatureView features{table.data(), FeatureDtype::kFloat16, table_rows, kStride / 2, kStride};
    std::vector<NodeId> nodes(static_cast<size_t>(count));
    for (const RowStores stores : {RowStores::kPlain, RowStores::kStreaming}) {
      for (const int64_t ahead : {256, 1024, 2048, 4096, 8192, 16384}) {
        std::vector<double> seconds;
        for (int trial = 0; trial < 7; ++trial) {
          for (NodeId& node : nodes) node = static_cast<NodeId>(rng.Below(static_cast<uint64_t>(table_rows)));
          const double start = ThreadSeconds();
          SliceRows(features, nodes, out.data(), {.stores = stores, .ahead_bytes = ahead});
          seconds.push_back(ThreadSeconds() - start);
        }
        std::sort(seconds.begin(), seconds.end());
        results.push_back({{"table_rows", table_rows}, {"rows", count}, {"row_bytes", kStride},
                           {"stores", stores == RowStores::kPlain ? "plain" : "streaming"}, {"ahead_bytes", ahead},
                           {"median_ms", 1e3 * seconds[3]}, {"min_ms", 1e3 * seconds[0]},
                           {"gb_per_second", 1e-9 * static_cast<double>(count * kStride) / seconds[3]}});
      }
    }
  }
  std::printf("%s\n", nlohmann::json{{"benchmark", "slice_rows_sweep"}, {"results", results}}.dump(1).c_str());
  return Status::Ok();
}

}  // namespace
}  // namespace hone::gnn

int main() {
  const hone::Status status = hone::gnn::Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "slice_rows_sweep: %s\n", status.message().c_str());
  return 3;
}
