// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the feature row of a node in a kernel, by storage tier (feature_storage.h).
//
// A kernel that reads features is a template over one of these classes. The lane that has a node's id asks once for the
// row's place and passes the place to the other lanes. Lanes that read ask for the address of a place. If everything is
// on the device, the place is the id itself, and both steps compile to nothing.
#pragma once

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/device_math.cuh"

namespace hone::gnn::cuda {

// Multiplies by one instruction; a compiler that has widened `b` before a loop would use four.
__device__ inline int64_t WideProduct(int32_t a, int32_t b) {
#if defined(__CUDA_ARCH__) && !defined(HONE_SIM)
  int64_t product;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return int64_t{a} * b;
#endif
}

// The rows if all are in device memory, by id. Ids keep their type, because an unsigned id takes fewer registers to
// form an address.
template <typename T>
struct DeviceRows {
  const T* rows;
  int32_t stride;  // elements

  explicit DeviceRows(const GraphOnDevice& graph)
      : rows(static_cast<const T*>(graph.features)), stride(static_cast<int32_t>(graph.feature_stride)) {}
  template <typename Id>
  __device__ Id Place(Id node) const {
    return node;
  }
  // Returns the place that lane `from` asked for. The lanes have exchanged node ids already, and a place is an id.
  template <typename Id>
  __device__ static Id HandRound(Id node, Id, int) {
    return node;
  }
  template <typename Id>
  __device__ const T* At(Id row_place) const {
    return rows + WideProduct(static_cast<int32_t>(row_place), stride);
  }
};

// The rows if only some are in device memory; the others are read in place from host memory, through the bus.
template <typename T>
struct CachedRows {
  const T* cache;
  const T* host;
  const int32_t* places;
  int32_t stride;

  explicit CachedRows(const GraphOnDevice& graph)
      : cache(static_cast<const T*>(graph.features)),
        host(static_cast<const T*>(graph.host_features)),
        places(graph.feature_places),
        stride(static_cast<int32_t>(graph.feature_stride)) {}
  // Returns the place of the node's row: a row of the cache or, below zero, ~node.
  __device__ int32_t Place(uint32_t node) const {
    const int32_t row_place = __ldg(places + node);
    return row_place >= 0 ? row_place : ~static_cast<int32_t>(node);
  }
  __device__ static int32_t HandRound(uint32_t, int32_t row_place, int from) {
    return __shfl_sync(kFullWarp, row_place, from);
  }
  __device__ const T* At(int32_t row_place) const {
    return row_place >= 0 ? cache + WideProduct(row_place, stride) : host + WideProduct(~row_place, stride);
  }
};

// The rows in either tier, for kernels whose instances are better few than a little faster.
template <typename T>
struct RowsOfAnyTier : CachedRows<T> {
  using CachedRows<T>::CachedRows;
  __device__ int32_t Place(uint32_t node) const {
    return this->places != nullptr ? CachedRows<T>::Place(node) : static_cast<int32_t>(node);
  }
};

// Calls `with` with the graph's rows of type T, whichever tier they are in.
template <typename T, typename With>
cudaError_t WithRows(const GraphOnDevice& graph, const With& with) {
  return graph.feature_places == nullptr ? with(DeviceRows<T>(graph)) : with(CachedRows<T>(graph));
}

}  // namespace hone::gnn::cuda
