/* SPDX-FileCopyrightText: 2026 The Hone Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Declares the batch loader for other languages, in plain C, so that one library serves every version of Python
 * (python/hone/gnn).
 *
 * Calls return HONE_OK or another code below. After an error, `error` (HONE_ERROR_BYTES long) holds a sentence about
 * it. One thread at a time may use a loader. Batches may be freed on any thread, also after their loader. Pointers into
 * a batch are valid until hone_batch_free. The interface may change at any time: its only user is the Python package
 * that comes with it, which checks HONE_LOADER_ABI.
 */
#ifndef HONE_GNN_LOADER_C_API_H_
#define HONE_GNN_LOADER_C_API_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_LOADER_ABI 3
#define HONE_ERROR_BYTES 1024
#define HONE_EXPORT __attribute__((visibility("default")))

enum {
  HONE_OK = 0,
  HONE_END = 1,              /* the epoch has no further batch */
  HONE_PENDING = 2,          /* the next batch is not ready yet; call again */
  HONE_INVALID_ARGUMENT = 3, /* `error` names the argument and the remedy */
  HONE_NO_MEMORY = 4,
  HONE_FAILED = 5
};

typedef struct HoneGraph HoneGraph;
typedef struct HoneLoader HoneLoader;
typedef struct HoneBatch HoneBatch;

typedef struct {
  const void* rows; /* borrowed until the loader is freed */
  int64_t count;
  int64_t row_bytes;    /* bytes of a row that are copied */
  int64_t stride_bytes; /* bytes from one row to the next */
} HoneRowTable;

typedef struct {
  const int32_t* fanouts; /* [hops], the first next to the seeds; -1 takes all neighbors */
  int32_t hops;
  int32_t threads; /* 0: all that this process may use */
  int32_t queue;   /* most batches in preparation or waiting; 0: threads + 2 */
  int32_t edge_ids;
  int64_t batch;
  const HoneRowTable* node_tables;
  const HoneRowTable* edge_tables;
  int32_t num_node_tables;
  int32_t num_edge_tables;
  int32_t replace, disjoint, induced;
  const double* weights; /* [edges], read only while the loader is made; null: all equal */
} HoneLoaderOptions;

/* A batch: the lengths of its arrays, and where they begin in its block (the fields ending in _at, in bytes). All ids
 * are int64. */
typedef struct {
  HoneBatch* batch;
  void* block;
  int64_t block_bytes;
  int64_t step;
  int64_t seeds, nodes, edges;
  int32_t hops;
  int32_t has_edge_ids;
  const int64_t* hop_nodes; /* [hops + 1] */
  const int64_t* hop_edges; /* [hops]; null if batches are induced */
  int64_t nodes_at, input_at, sources_at, destinations_at, edge_ids_at;
  int64_t trees_at;            /* -1 unless batches are disjoint */
  const int64_t* node_rows_at; /* [num_node_tables] */
  const int64_t* edge_rows_at; /* [num_edge_tables] */
} HoneBatchView;

HONE_EXPORT int32_t hone_loader_abi(void);

/* Makes a graph. sources, destinations: [edges] node ids, read during the call only. */
HONE_EXPORT int32_t hone_graph_make(const int64_t* sources, const int64_t* destinations, int64_t edges, int64_t nodes,
                                    int32_t threads, HoneGraph** graph, char* error);
/* Returns the edges sorted by destination; the pointers are valid until the graph is freed. row_offsets [nodes + 1];
 * columns [edges], the sources of each node's in-edges, ascending; edge_ids [edges], each edge's position in the list.
 */
HONE_EXPORT void hone_graph_arrays(const HoneGraph* graph, const int64_t** row_offsets, const int32_t** columns,
                                   const int64_t** edge_ids);
HONE_EXPORT void hone_graph_free(HoneGraph* graph); /* its loaders stay valid */

HONE_EXPORT int32_t hone_loader_make(const HoneGraph* graph, const HoneLoaderOptions* options, HoneLoader** loader,
                                     char* error);
HONE_EXPORT void hone_loader_free(HoneLoader* loader);
/* Begins an epoch. seeds: [count] node ids, distinct unless batches are disjoint; borrowed until hone_loader_next has
 * returned HONE_END, or hone_loader_cancel returned. */
HONE_EXPORT int32_t hone_loader_start(HoneLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed,
                                      uint32_t epoch, int32_t shuffle, int32_t drop_last, int64_t first_step,
                                      char* error);
/* Waits up to `seconds` for the next batch. Returns HONE_OK, HONE_PENDING, HONE_END or an error. */
HONE_EXPORT int32_t hone_loader_next(HoneLoader* loader, double seconds, HoneBatchView* view, char* error);
HONE_EXPORT void hone_loader_cancel(HoneLoader* loader);
/* Makes one batch of these seeds on the calling thread. */
HONE_EXPORT int32_t hone_loader_load(HoneLoader* loader, const int64_t* seeds, int64_t count, uint64_t seed,
                                     uint32_t epoch, uint32_t step, HoneBatchView* view, char* error);
HONE_EXPORT void hone_batch_free(HoneBatch* batch);

#ifdef __cplusplus
}
#endif

#endif /* HONE_GNN_LOADER_C_API_H_ */
