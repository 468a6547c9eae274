// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// FlashInfer's attention over a compressed cache (MLA), as a contender (../contender.h): its own host functions,
// planned once for each problem as its BatchMLAPagedAttentionWrapper does (the plan is not timed). -DHOPPER takes the
// kernel of backend="fa3", which is written for Hopper; otherwise that of backend="fa2".
//
//   nvcc -shared -Xcompiler -fPIC -std=c++17 -O3 --expt-relaxed-constexpr -gencode arch=compute_90a,code=sm_90a \
//     -I FLASHINFER/data/include -I FLASHINFER/data/cccl/libcudacxx/include -I FLASHINFER/data/cccl/cub \
//     -I FLASHINFER/data/cccl/thrust -I CUTLASS/include -I .. [-DHOPPER] flashinfer_mla.cu -o flashinfer_mla.so
//
// FLASHINFER is the folder `flashinfer` of its Python package, 0.7.4 when this was written.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <flashinfer/attention/mla_params.cuh>
#include <flashinfer/attention/scheduler.cuh>
#ifdef HOPPER
#include <flashinfer/attention/mla_hopper.cuh>
#else
#include <flashinfer/attention/mla.cuh>
#endif
#include <map>
#include <vector>

#include "contender.h"

// Named, because FlashInfer's headers have a namespace without a name in theirs.
namespace adapter {

using namespace flashinfer;
using T = __nv_bfloat16;
using Params = MLAParams<T, T, T, int32_t>;
constexpr uint32_t kRank = 512, kRope = 64;

struct Planned {
  int32_t* indices;
  char *floats, *ints;
  MLAPlanInfo plan;
};
std::map<const void*, Planned> planned;  // keyed by the problem's lengths

constexpr size_t kFloats = size_t{128} << 20, kInts = size_t{8} << 20;

int32_t* At(const Planned& plan, int64_t offset) { return GetPtrFromBaseOffset<int32_t>(plan.ints, offset); }

}  // namespace adapter
using namespace adapter;

extern "C" const char* contender_task(void) { return "mla_decode_attention"; }

// Dimensions: batch, heads, rank, rope, page_size, max_pages, pages, min_len. Tensors: q, cache, table, lengths, out.
extern "C" int contender_prepare(const HoneProblem* p) {
  const int64_t batch = p->dims[0], page_size = p->dims[4], most = p->dims[5];
  if (p->dims[2] != kRank || p->dims[3] != kRope) return 1;
  std::vector<int32_t> lengths(batch), table(batch * most), q_indptr(1, 0), indptr(1, 0), indices;
  cudaMemcpy(lengths.data(), p->tensors[3], batch * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(table.data(), p->tensors[2], batch * most * 4, cudaMemcpyDeviceToHost);
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t used = (lengths[b] + page_size - 1) / page_size;
    indices.insert(indices.end(), table.begin() + b * most, table.begin() + b * most + used);
    indptr.push_back(static_cast<int32_t>(indices.size()));
    q_indptr.push_back(static_cast<int32_t>(b + 1));
  }
  static char* pinned = nullptr;
  if (pinned == nullptr && cudaMallocHost(&pinned, kInts) != cudaSuccess) return 2;
  Planned made{};
  if (cudaMalloc(&made.indices, indices.size() * 4) != cudaSuccess ||
      cudaMalloc(&made.floats, kFloats) != cudaSuccess || cudaMalloc(&made.ints, kInts) != cudaSuccess) {
    return 2;
  }
  cudaMemcpy(made.indices, indices.data(), indices.size() * 4, cudaMemcpyHostToDevice);
  size_t staged = 0;
  const cudaError_t status = MLAPlan<int32_t>(
      made.floats, kFloats, made.ints, pinned, kInts, made.plan, staged, q_indptr.data(), indptr.data(), lengths.data(),
      static_cast<uint32_t>(batch), static_cast<uint32_t>(p->dims[1]), kRank, false, nullptr);
  if (status != cudaSuccess || cudaMemcpy(made.ints, pinned, kInts, cudaMemcpyHostToDevice) != cudaSuccess) return 2;
  planned[p->tensors[3]] = made;
  return 0;
}

extern "C" int contender_launch(const HoneProblem* p, void* stream) {
  const auto found = planned.find(p->tensors[3]);
  if (found == planned.end()) return 1;
  const Planned& made = found->second;
  const MLAPlanInfo& plan = made.plan;
  const uint32_t heads = static_cast<uint32_t>(p->dims[1]), page_size = static_cast<uint32_t>(p->dims[4]);
  Params params{};
  params.q_nope = static_cast<T*>(p->tensors[0]);
  params.q_pe = params.q_nope + kRank;
  params.ckv = static_cast<T*>(p->tensors[1]);
  params.kpe = params.ckv + kRank;
  params.q_indptr = At(made, plan.q_indptr_offset);
  params.kv_indptr = At(made, plan.kv_indptr_offset);
  params.partial_indptr = At(made, plan.partial_indptr_offset);
  params.kv_indices = made.indices;
  params.q_len = At(made, plan.q_len_offset);
  params.kv_len = At(made, plan.kv_len_offset);
  params.q_start = At(made, plan.q_start_offset);
  params.kv_start = At(made, plan.kv_start_offset);
  params.kv_end = At(made, plan.kv_end_offset);
  params.work_indptr = At(made, plan.work_indptr_offset);
  params.merge_packed_offset_start = At(made, plan.merge_packed_offset_start_offset);
  params.merge_packed_offset_end = At(made, plan.merge_packed_offset_end_offset);
  params.merge_partial_packed_offset_start = At(made, plan.merge_partial_packed_offset_start_offset);
  params.merge_partial_packed_offset_end = At(made, plan.merge_partial_packed_offset_end_offset);
  params.merge_partial_stride = At(made, plan.merge_partial_stride_offset);
  params.final_o = static_cast<T*>(p->tensors[4]);
  params.partial_o = GetPtrFromBaseOffset<T>(made.floats, plan.partial_o_offset);
  params.partial_lse = GetPtrFromBaseOffset<float>(made.floats, plan.partial_lse_offset);
  params.num_heads = uint_fastdiv(heads);
  params.block_size = uint_fastdiv(page_size);
  params.q_nope_stride_n = params.q_pe_stride_n = heads * (kRank + kRope);
  params.q_nope_stride_h = params.q_pe_stride_h = kRank + kRope;
  params.ckv_stride_page = params.kpe_stride_page = page_size * (kRank + kRope);
  params.ckv_stride_n = params.kpe_stride_n = kRank + kRope;
  params.o_stride_n = heads * kRank;
  params.o_stride_h = kRank;
  params.sm_scale = p->eps;
  const auto on = static_cast<cudaStream_t>(stream);
#ifdef HOPPER
  const cudaError_t status =
      mla::BatchMLAPageAttentionHopper<MaskMode::kNone, kRank, kRope>(params, plan.num_blks_x, plan.num_blks_y, on);
#else
  const cudaError_t status =
      mla::BatchMLAPagedAttention<MaskMode::kNone, kRank, kRope>(params, plan.num_blks_x, plan.num_blks_y, on);
#endif
  return status == cudaSuccess ? 0 : 2;
}
