// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// FlashInfer's decode attention over pages, as a contender (../contender.h): its own host functions, planned once for
// each problem as its wrappers do (the plan is not timed). -DTENSOR_CORES takes the kernel of
// BatchDecodeWithPagedKVCacheWrapper(use_tensor_cores=True), which is the prefill template with a query tile of 16.
//
//   nvcc -shared -Xcompiler -fPIC -std=c++17 -O3 --expt-relaxed-constexpr -gencode arch=compute_90a,code=sm_90a \
//     -I FLASHINFER/data/include -I FLASHINFER/data/cccl/libcudacxx/include -I FLASHINFER/data/cccl/cub \
//     -I FLASHINFER/data/cccl/thrust -I CUTLASS/include -I .. [-DTENSOR_CORES] flashinfer_decode.cu -o
//     flashinfer_decode.so
//
// FLASHINFER is the folder `flashinfer` of its Python package, 0.7.4 when this was written.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/scheduler.cuh>
#include <flashinfer/attention/variants.cuh>
#include <map>
#include <vector>

#include "contender.h"

// Named, because FlashInfer's headers have a namespace without a name in theirs.
namespace adapter {

using namespace flashinfer;
using T = __nv_bfloat16;
using Variant = DefaultAttention<false, false, false, false>;
using DecodeParams = BatchDecodeParams<T, T, T, int32_t>;
using PrefillParams = BatchPrefillPagedParams<T, T, T, int32_t>;
constexpr uint32_t kDim = 128;
constexpr auto kNoRope = PosEncodingMode::kNone;

struct Planned {
  int32_t *indptr, *indices, *last, *q_indptr;  // on the device
  char *floats, *ints;
  DecodePlanInfo decode;
  PrefillPlanInfo prefill;
};
std::map<const void*, Planned> planned;  // keyed by the problem's lengths

constexpr size_t kFloats = size_t{256} << 20, kInts = size_t{8} << 20;

template <typename U>
U* OnDevice(const std::vector<U>& from) {
  U* to = nullptr;
  if (cudaMalloc(&to, from.size() * sizeof(U)) != cudaSuccess) return nullptr;
  cudaMemcpy(to, from.data(), from.size() * sizeof(U), cudaMemcpyHostToDevice);
  return to;
}

}  // namespace adapter
using namespace adapter;

extern "C" const char* contender_task(void) { return "paged_decode_attention"; }

// Dimensions: batch, kv_heads, group, head_dim, page_size, max_pages, pages, min_len. Tensors: q, k, v, table, lengths,
// out.
extern "C" int contender_prepare(const HoneProblem* p) {
  const int64_t batch = p->dims[0], kv_heads = p->dims[1], group = p->dims[2], page_size = p->dims[4],
                most = p->dims[5];
  if (p->dims[3] != kDim) return 1;
  std::vector<int32_t> lengths(batch), table(batch * most), indptr(1, 0), indices, last, q_indptr(1, 0);
  cudaMemcpy(lengths.data(), p->tensors[4], batch * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(table.data(), p->tensors[3], batch * most * 4, cudaMemcpyDeviceToHost);
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t used = (lengths[b] + page_size - 1) / page_size;
    indices.insert(indices.end(), table.begin() + b * most, table.begin() + b * most + used);
    indptr.push_back(static_cast<int32_t>(indices.size()));
    last.push_back(static_cast<int32_t>(lengths[b] - (used - 1) * page_size));
    q_indptr.push_back(static_cast<int32_t>(b + 1));
  }
  static char* pinned = nullptr;
  if (pinned == nullptr && cudaMallocHost(&pinned, kInts) != cudaSuccess) return 2;
  Planned plan{OnDevice(indptr), OnDevice(indices), OnDevice(last), OnDevice(q_indptr), nullptr, nullptr, {}, {}};
  if (cudaMalloc(&plan.floats, kFloats) != cudaSuccess || cudaMalloc(&plan.ints, kInts) != cudaSuccess) return 2;
  cudaError_t status = cudaSuccess;
#ifdef TENSOR_CORES
  status = PrefillPlan<int32_t>(plan.floats, kFloats, plan.ints, pinned, kInts, plan.prefill, q_indptr.data(),
                                indptr.data(), static_cast<uint32_t>(batch), static_cast<uint32_t>(batch),
                                static_cast<uint32_t>(kv_heads * group), static_cast<uint32_t>(kv_heads), kDim, kDim,
                                static_cast<uint32_t>(page_size), false, 2, -1, -1, false, 0, 0, false, nullptr);
#else
  const auto plan_for = [&](auto work) {
    return DecodePlan<kDim, kNoRope, Variant, DecodeParams>(
        plan.floats, kFloats, plan.ints, pinned, kInts, plan.decode, indptr.data(), static_cast<uint32_t>(batch),
        static_cast<uint32_t>(kv_heads * group), static_cast<uint32_t>(page_size), false, nullptr, work);
  };
  if (group == 4) {
    status = plan_for(BatchDecodeWithPagedKVCacheWorkEstimationDispatched<4, kDim, kNoRope, Variant, DecodeParams>);
  } else if (group == 8) {
    status = plan_for(BatchDecodeWithPagedKVCacheWorkEstimationDispatched<8, kDim, kNoRope, Variant, DecodeParams>);
  } else {
    return 1;
  }
#endif
  if (status != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 2;
  planned[p->tensors[4]] = plan;
  return 0;
}

extern "C" int contender_launch(const HoneProblem* p, void* stream) {
  const auto found = planned.find(p->tensors[4]);
  if (found == planned.end()) return 1;
  const Planned& plan = found->second;
  const uint32_t batch = p->dims[0], kv_heads = p->dims[1], heads = kv_heads * p->dims[2], page_size = p->dims[4];
  paged_kv_t<T, int32_t> cache(kv_heads, page_size, kDim, batch, QKVLayout::kNHD, static_cast<T*>(p->tensors[1]),
                               static_cast<T*>(p->tensors[2]), plan.indices, plan.indptr, plan.last);
  T* parts = nullptr;
  float* sums = nullptr;
#ifdef TENSOR_CORES
  const PrefillPlanInfo& info = plan.prefill;
  PrefillParams params(static_cast<T*>(p->tensors[0]), cache, nullptr, plan.q_indptr, nullptr, nullptr,
                       static_cast<T*>(p->tensors[5]), nullptr, nullptr, heads, heads * kDim, kDim, -1, 0.0f, p->eps,
                       1.0f, 1e4f);
  params.qo_tile_indices = GetPtrFromBaseOffset<int32_t>(plan.ints, info.qo_tile_indices_offset);
  if (info.split_kv) params.merge_indptr = GetPtrFromBaseOffset<int32_t>(plan.ints, info.merge_indptr_offset);
  params.max_total_num_rows = info.total_num_rows;
#else
  const DecodePlanInfo& info = plan.decode;
  DecodeParams params(static_cast<T*>(p->tensors[0]), nullptr, cache, static_cast<T*>(p->tensors[5]), nullptr, nullptr,
                      heads, heads * kDim, kDim, -1, 0.0f, p->eps, 1.0f, 1e4f);
#endif
  params.request_indices = GetPtrFromBaseOffset<int32_t>(plan.ints, info.request_indices_offset);
  params.kv_tile_indices = GetPtrFromBaseOffset<int32_t>(plan.ints, info.kv_tile_indices_offset);
  params.o_indptr = GetPtrFromBaseOffset<int32_t>(plan.ints, info.o_indptr_offset);
  params.kv_chunk_size_ptr = GetPtrFromBaseOffset<int32_t>(plan.ints, info.kv_chunk_size_ptr_offset);
  params.padded_batch_size = info.padded_batch_size;
  if (info.split_kv) {
    parts = GetPtrFromBaseOffset<T>(plan.floats, info.v_offset);
    sums = GetPtrFromBaseOffset<float>(plan.floats, info.s_offset);
  }
  const auto on = static_cast<cudaStream_t>(stream);
#ifdef TENSOR_CORES
  if (info.cta_tile_q != 16) return 1;
  const cudaError_t status =
      BatchPrefillWithPagedKVCacheDispatched<true, 16, kDim, kDim, kNoRope, false, MaskMode::kNone, false, Variant>(
          params, parts, sums, true, on);
#else
  const cudaError_t status =
      BatchDecodeWithPagedKVCacheDispatched<kDim, kNoRope, Variant>(params, parts, sums, true, on);
#endif
  return status == cudaSuccess ? 0 : 2;
}
