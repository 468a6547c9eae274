/* SPDX-FileCopyrightText: 2026 The Hone Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loader whose batches are made on a GPU (device_loader.h), in plain C for other languages, as gnn/loader/c_api.h
 * is for the one on the host's threads: results, errors, tables and the view of a batch are that header's.
 *
 * A library of its own, for it needs the CUDA toolkit to be built. It works in the primary context of its device, where
 * PyTorch works too; `stream` is a cudaStream_t, null for the default one. Batches are sampled on one stream and
 * written on one, which may be another, the same in all calls of an epoch. A loader is used by one thread at a time.
 * HONE_CUDA_LOADER_ABI stands for both headers.
 */
#ifndef HONE_GNN_CUDA_LOADER_C_API_H_
#define HONE_GNN_CUDA_LOADER_C_API_H_

#include "gnn/loader/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_CUDA_LOADER_ABI 2

typedef struct HoneCudaLoader HoneCudaLoader;

/* All arrays lie in memory that the device reads, and are borrowed until the loader is freed; but for `fanouts` and the
 * tables' descriptions, which are read during the call. */
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
  int32_t ahead; /* most batches that are sampled and not written; fewer if their memory would be beyond 1 GiB */
} HoneCudaLoaderOptions;

HONE_EXPORT int32_t hone_cuda_loader_abi(void);

/* Takes the device's memory for the largest batch there can be, and waits for the device. */
HONE_EXPORT int32_t hone_cuda_loader_make(const HoneCudaLoaderOptions* options, HoneCudaLoader** loader, char* error);
/* How many batches may be sampled and not written. */
HONE_EXPORT int32_t hone_cuda_loader_ahead(const HoneCudaLoader* loader);
HONE_EXPORT void hone_cuda_loader_free(HoneCudaLoader* loader);
/* As hone_loader_start. */
HONE_EXPORT int32_t hone_cuda_loader_start(HoneCudaLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed,
                                           uint32_t epoch, int32_t shuffle, int32_t drop_last, int64_t first_step,
                                           char* error);
/* Enqueues the sampling of the epoch's next batch; HONE_END when there is none. */
HONE_EXPORT int32_t hone_cuda_loader_sample(HoneCudaLoader* loader, void* stream, char* error);
/* Drops what was sampled, and samples these seeds, read during the call. */
HONE_EXPORT int32_t hone_cuda_loader_sample_these(HoneCudaLoader* loader, const int64_t* seeds, int64_t count,
                                                  uint64_t seed, uint32_t epoch, uint32_t step, void* stream,
                                                  char* error);
/* Waits for the sizes of what was sampled first and not taken. `view` has no batch and no block; its lists hold until
 * the next call. */
HONE_EXPORT int32_t hone_cuda_loader_take(HoneCudaLoader* loader, HoneBatchView* view, char* error);
/* Enqueues what fills the `block` of what was taken last, view.block_bytes of device memory at a multiple of 256. */
HONE_EXPORT int32_t hone_cuda_loader_write(HoneCudaLoader* loader, void* block, void* stream, char* error);

#ifdef __cplusplus
}
#endif

#endif /* HONE_GNN_CUDA_LOADER_C_API_H_ */
