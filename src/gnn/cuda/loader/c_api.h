/* SPDX-FileCopyrightText: 2026 The Hone Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Declares, in plain C for other languages, the loader whose batches are made on a GPU (device_loader.h).
 * gnn/loader/c_api.h declares the loader that works on the host's threads, and also the results, errors, tables and the
 * view of a batch that both use.
 *
 * The loader is in a separate library, because that needs the CUDA toolkit to be built. It works in the primary context
 * of its device, where PyTorch works too; `stream` is a cudaStream_t, null for the default stream. All batches of an
 * epoch must be sampled on one stream, and written on one, which may be another. A loader is used by one thread at a
 * time. HONE_CUDA_LOADER_ABI is the version of both headers.
 */
#ifndef HONE_GNN_CUDA_LOADER_C_API_H_
#define HONE_GNN_CUDA_LOADER_C_API_H_

#include "gnn/loader/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_CUDA_LOADER_ABI 2

typedef struct HoneCudaLoader HoneCudaLoader;

/* All arrays lie in memory that the device can read, and are borrowed until the loader is freed. `fanouts` and the
 * tables' descriptions are only read during the call. */
typedef struct {
  int32_t device;
  int32_t hops;
  const int32_t* fanouts; /* -1 takes all neighbors */
  int64_t batch;
  int64_t nodes, edges;
  const int64_t* row_offsets; /* as hone_graph_arrays gives them */
  const int32_t* columns;
  const int64_t* edge_ids;
  const HoneRowTable* node_tables;
  const HoneRowTable* edge_tables;
  int32_t num_node_tables;
  int32_t num_edge_tables;
  int32_t ahead; /* limit of batches sampled and not yet written; lower if their memory would exceed 1 GiB */
} HoneCudaLoaderOptions;

HONE_EXPORT int32_t hone_cuda_loader_abi(void);

/* Makes a loader: allocates device memory for the largest possible batch, and waits for the device. */
HONE_EXPORT int32_t hone_cuda_loader_make(const HoneCudaLoaderOptions* options, HoneCudaLoader** loader, char* error);
/* Returns how many batches may be sampled and not yet written. */
HONE_EXPORT int32_t hone_cuda_loader_ahead(const HoneCudaLoader* loader);
HONE_EXPORT void hone_cuda_loader_free(HoneCudaLoader* loader);
/* Begins an epoch, with the arguments and errors of hone_loader_start. */
HONE_EXPORT int32_t hone_cuda_loader_start(HoneCudaLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed,
                                           uint32_t epoch, int32_t shuffle, int32_t drop_last, int64_t first_step,
                                           char* error);
/* Enqueues the sampling of the epoch's next batch; returns HONE_END if there is none. */
HONE_EXPORT int32_t hone_cuda_loader_sample(HoneCudaLoader* loader, void* stream, char* error);
/* Drops all sampled batches, and samples a batch of `seeds` [count], which are read during the call. */
HONE_EXPORT int32_t hone_cuda_loader_sample_these(HoneCudaLoader* loader, const int64_t* seeds, int64_t count,
                                                  uint64_t seed, uint32_t epoch, uint32_t step, void* stream,
                                                  char* error);
/* Waits for the sizes of the oldest batch that is sampled and not yet taken, and writes them to `view`, whose `batch`
 * and `block` are null. The lists in `view` are valid until the next call. */
HONE_EXPORT int32_t hone_cuda_loader_take(HoneCudaLoader* loader, HoneBatchView* view, char* error);
/* Enqueues the work that fills the memory of the batch taken last. `block` has view.block_bytes bytes of device memory,
 * aligned to 256. */
HONE_EXPORT int32_t hone_cuda_loader_write(HoneCudaLoader* loader, void* block, void* stream, char* error);

#ifdef __cplusplus
}
#endif

#endif /* HONE_GNN_CUDA_LOADER_C_API_H_ */
