// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/loader/c_api.h"

#include <memory>
#include <utility>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/loader/device_loader.h"
#include "gnn/loader/c_errors.h"

using hone::Result;
using hone::Status;
using hone::gnn::Guarded;
using hone::gnn::ReportStatus;
using hone::gnn::Tables;
using hone::gnn::cuda::CudaStatus;
using hone::gnn::cuda::DeviceBatch;
using hone::gnn::cuda::DeviceLoader;
using hone::gnn::cuda::DeviceLoaderOptions;

struct HoneCudaLoader {
  int32_t device = 0;
  std::unique_ptr<DeviceLoader> loader;
};

namespace {

// Makes the device current while `work` runs and then restores the previous one, because the thread belongs to the
// caller, and all copies of the runtime in a process share the current device.
template <typename Work>
int32_t OnDevice(int32_t device, char* error, Work work) {
  int device_before = device;
  Status status = CudaStatus(cudaGetDevice(&device_before), "cudaGetDevice");
  if (status.ok() && device_before != device) status = CudaStatus(cudaSetDevice(device), "cudaSetDevice");
  if (!status.ok()) return ReportStatus(status, error);
  const int32_t code = Guarded(error, work);
  if (device_before != device) cudaSetDevice(device_before);
  return code;
}

cudaStream_t StreamOf(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

int32_t hone_cuda_loader_abi() { return 1000 * HONE_CUDA_LOADER_ABI + HONE_LOADER_ABI; }

int32_t hone_cuda_loader_make(const HoneCudaLoaderOptions* options, HoneCudaLoader** loader, char* error) {
  return OnDevice(options->device, error, [&] {
    Result<std::unique_ptr<DeviceLoader>> loader_or_error =
        DeviceLoader::Make({.row_offsets = options->row_offsets,
                            .columns = options->columns,
                            .edge_ids = options->edge_ids,
                            .nodes = options->nodes,
                            .edges = options->edges,
                            .fanouts = {options->fanouts, options->fanouts + options->hops},
                            .batch = options->batch,
                            .node_tables = Tables(options->node_tables, options->num_node_tables),
                            .edge_tables = Tables(options->edge_tables, options->num_edge_tables),
                            .ahead = options->ahead});
    if (!loader_or_error.ok()) return ReportStatus(loader_or_error.status(), error);
    *loader = new HoneCudaLoader{options->device, std::move(*loader_or_error)};
    return int32_t{HONE_OK};
  });
}

int32_t hone_cuda_loader_ahead(const HoneCudaLoader* loader) { return loader->loader->ahead(); }

void hone_cuda_loader_free(HoneCudaLoader* loader) {
  if (loader == nullptr) return;
  char error[HONE_ERROR_BYTES];
  OnDevice(loader->device, error, [&] {
    loader->loader.reset();
    return int32_t{HONE_OK};
  });
  delete loader;
}

int32_t hone_cuda_loader_start(HoneCudaLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed,
                               uint32_t epoch, int32_t shuffle, int32_t drop_last, int64_t first_step, char* error) {
  return OnDevice(loader->device, error, [&] {
    return ReportStatus(loader->loader->Start({.seeds = {seeds, static_cast<size_t>(count)},
                                               .seed = seed,
                                               .epoch = epoch,
                                               .shuffle = shuffle != 0,
                                               .drop_last = drop_last != 0,
                                               .first_step = first_step}),
                        error);
  });
}

int32_t hone_cuda_loader_sample(HoneCudaLoader* loader, void* stream, char* error) {
  return OnDevice(loader->device, error, [&] {
    const Result<bool> sampled = loader->loader->Sample(StreamOf(stream));
    if (!sampled.ok()) return ReportStatus(sampled.status(), error);
    return int32_t{*sampled ? HONE_OK : HONE_END};
  });
}

int32_t hone_cuda_loader_sample_these(HoneCudaLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed,
                                      uint32_t epoch, uint32_t step, void* stream, char* error) {
  return OnDevice(loader->device, error, [&] {
    return ReportStatus(
        loader->loader->SampleThese({seeds, static_cast<size_t>(count)}, seed, epoch, step, StreamOf(stream)), error);
  });
}

int32_t hone_cuda_loader_take(HoneCudaLoader* loader, HoneBatchView* view, char* error) {
  return OnDevice(loader->device, error, [&] {
    const Result<const DeviceBatch*> loaded_batch = loader->loader->Take();
    if (!loaded_batch.ok()) return ReportStatus(loaded_batch.status(), error);
    const DeviceBatch& batch = **loaded_batch;
    *view = {.batch = nullptr,
             .block = nullptr,
             .block_bytes = batch.block_bytes,
             .step = batch.step,
             .seeds = batch.seeds,
             .nodes = batch.nodes,
             .edges = batch.edges,
             .hops = static_cast<int32_t>(batch.hop_edges.size()),
             .has_edge_ids = 1,
             .hop_nodes = batch.hop_nodes.data(),
             .hop_edges = batch.hop_edges.data(),
             .nodes_at = batch.nodes_at,
             .input_at = batch.input_at,
             .sources_at = batch.sources_at,
             .destinations_at = batch.destinations_at,
             .edge_ids_at = batch.edge_ids_at,
             .trees_at = -1,
             .node_rows_at = batch.node_rows_at.data(),
             .edge_rows_at = batch.edge_rows_at.data()};
    return int32_t{HONE_OK};
  });
}

int32_t hone_cuda_loader_write(HoneCudaLoader* loader, void* block, void* stream, char* error) {
  return OnDevice(loader->device, error,
                  [&] { return ReportStatus(loader->loader->Write(block, StreamOf(stream)), error); });
}
