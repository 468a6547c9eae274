// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/features/miss_path.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/graph/staging_kernels.h"
#include "gnn/cuda/kernels/sample_mean.h"
#include "gnn/sample/index_permutation.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kRows = 16384;  // rows that each measurement copies
constexpr uint64_t kSeed = 1;
constexpr size_t kRepeats = 5;  // measurements, of which the median counts

}  // namespace

Result<MissTimes> MeasureMissPaths(DeviceGraph& graph, int fanout) {
  if (graph.staging_rows() == 0) return Status::InvalidArgument("a graph without room for staged rows");
  const bool staged_before = graph.view().staging.rows > 0;
  const int64_t num_nodes = graph.view().num_nodes;
  const int64_t count = std::min(num_nodes, kRows);
  std::vector<int32_t> ids;
  const IndexPermutation order(kSeed, 0, num_nodes);  // a random order, as the nodes of batches have
  for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<int32_t>(order(i)));
  BatchHeader header{};
  header.valid = 1;
  header.hop_nodes[0] = static_cast<int32_t>(count);
  const RunState state{};
  DeviceArray<int32_t> nodes;
  DeviceArray<BatchHeader> device_header;
  DeviceArray<RunState> device_state;
  DeviceArray<float> out;
  Stream stream;
  HONE_RETURN_IF_ERROR(nodes.Upload(ids.data(), count));
  HONE_RETURN_IF_ERROR(device_header.Upload(&header, 1));
  HONE_RETURN_IF_ERROR(device_state.Upload(&state, 1));
  HONE_RETURN_IF_ERROR(out.Allocate(count * 16 * graph.view().feature_vectors));
  HONE_RETURN_IF_ERROR(stream.Make());
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());

  const auto measure = [&](bool staged) -> Result<double> {
    graph.SetStaging(staged);
    std::array<double, kRepeats> times{};
    for (size_t i = 0; i <= kRepeats; ++i) {  // run 0 loads the kernels and is not timed
      HONE_CUDA_RETURN_IF_ERROR(EnqueueUnstage(graph.view(), stream.handle));
      HONE_CUDA_RETURN_IF_ERROR(EnqueueCollectMisses(graph.view(), 0, fanout, static_cast<int32_t>(count),
                                                     device_state.get(), device_header.get(), nodes.get(), {},
                                                     stream.handle));
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
      const auto started = std::chrono::steady_clock::now();
      HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyMisses(graph.view(), stream.handle));
      if (staged) HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
      const std::chrono::duration<double, std::milli> copied = std::chrono::steady_clock::now() - started;
      HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleMean(graph.view(), graph.feature_element(), 0, fanout,
                                                  static_cast<int32_t>(count), device_state.get(), device_header.get(),
                                                  nodes.get(), Element::kFloat32, out.get(), stream.handle));
      HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;
      if (i > 0) times[i - 1] = staged ? copied.count() : took.count();
    }
    std::sort(times.begin(), times.end());
    return times[kRepeats / 2];
  };
  const Result<double> zero_copy = measure(/*staged=*/false), staged = measure(/*staged=*/true);
  graph.SetStaging(true);
  int32_t rows = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(&rows, graph.view().staging.count, sizeof(rows), cudaMemcpyDeviceToHost));
  rows = std::min(rows, graph.view().staging.rows);
  HONE_CUDA_RETURN_IF_ERROR(EnqueueUnstage(graph.view(), stream.handle));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
  graph.SetStaging(staged_before);
  HONE_RETURN_IF_ERROR(zero_copy.status());
  HONE_RETURN_IF_ERROR(staged.status());
  return MissTimes{*zero_copy, *staged, rows};
}

}  // namespace hone::gnn::cuda
