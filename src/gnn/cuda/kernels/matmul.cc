// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads cuBLASLt by dlopen, so that a program with this file starts where the library is missing. cuBLASLt is
// column-major, so it is asked for out^T = op(b)^T * op(a)^T, which needs no transposition.
#include "gnn/cuda/kernels/matmul.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "gnn/cuda/base/cuda_support.h"

namespace hone::gnn::cuda {
namespace {

constexpr size_t kWorkspaceBytes = size_t{64} << 20;

struct Functions {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
};

Result<Functions> LoadFunctions() {
  void* library = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return Status::Unavailable("libcublasLt.so.13 was not found: install the CUDA toolkit's cuBLAS, or put its folder "
                               "into LD_LIBRARY_PATH");
  }
  Functions f;
  const auto load = [library](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  const bool all_loaded =
      load(f.create, "cublasLtCreate") && load(f.destroy, "cublasLtDestroy") && load(f.matmul, "cublasLtMatmul") &&
      load(f.desc_create, "cublasLtMatmulDescCreate") && load(f.desc_destroy, "cublasLtMatmulDescDestroy") &&
      load(f.desc_set, "cublasLtMatmulDescSetAttribute") && load(f.layout_create, "cublasLtMatrixLayoutCreate") &&
      load(f.layout_destroy, "cublasLtMatrixLayoutDestroy") &&
      load(f.preference_create, "cublasLtMatmulPreferenceCreate") &&
      load(f.preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
      load(f.preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
      load(f.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  if (!all_loaded)
    return Status::Unavailable("libcublasLt lacks a function this program needs: install CUDA 12.8 or newer");
  return f;
}

Status LtStatus(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return Status::Ok();
  return Status::Device(fmt::format("{}: cuBLASLt status {}", what, static_cast<int>(status)));
}

cudaDataType_t TypeOf(Element element) {
  switch (element) {
    case Element::kFloat32: return CUDA_R_32F;
    case Element::kFloat16: return CUDA_R_16F;
    case Element::kBFloat16: return CUDA_R_16BF;
  }
  return CUDA_R_32F;
}

class LtLibrary;

class LtMatmul final : public Matmul {
 public:
  LtMatmul(const Functions& f, cublasLtHandle_t handle, void* workspace) : f_(f), handle_(handle), workspace_(workspace) {}
  ~LtMatmul() override {
    if (desc_ != nullptr) f_.desc_destroy(desc_);
    for (cublasLtMatrixLayout_t layout : {first_, second_, out_}) {
      if (layout != nullptr) f_.layout_destroy(layout);
    }
  }

  Status Make(const MatmulShape& shape) {
    HONE_RETURN_IF_ERROR(LtStatus(f_.desc_create(&desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "matmul descriptor"));
    const cublasOperation_t first = shape.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = shape.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    f_.desc_set(desc_, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first));
    f_.desc_set(desc_, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second));
    const auto layout = [&](cublasLtMatrixLayout_t* to, Element element, int64_t rows, int64_t cols) {
      return LtStatus(f_.layout_create(to, TypeOf(element), static_cast<uint64_t>(rows), static_cast<uint64_t>(cols), rows),
                      "matrix layout");
    };
    // A row-major [r, c] matrix is a column-major [c, r] matrix.
    HONE_RETURN_IF_ERROR(shape.transpose_b ? layout(&first_, shape.in, shape.k, shape.n)
                                           : layout(&first_, shape.in, shape.n, shape.k));
    HONE_RETURN_IF_ERROR(shape.transpose_a ? layout(&second_, shape.in, shape.m, shape.k)
                                           : layout(&second_, shape.in, shape.k, shape.m));
    HONE_RETURN_IF_ERROR(layout(&out_, shape.out, shape.n, shape.m));
    cublasLtMatmulPreference_t preference = nullptr;
    HONE_RETURN_IF_ERROR(LtStatus(f_.preference_create(&preference), "matmul preference"));
    f_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes, sizeof(kWorkspaceBytes));
    int algorithm_count = 0;
    const Status status =
        LtStatus(f_.heuristic(handle_, desc_, first_, second_, out_, out_, preference, 1, &choice_, &algorithm_count),
                 "matmul heuristics");
    f_.preference_destroy(preference);
    HONE_RETURN_IF_ERROR(status);
    if (algorithm_count == 0) {
      return Status::Device(fmt::format("cuBLASLt has no algorithm for a product of {} x {} x {}", shape.m, shape.n, shape.k));
    }
    return Status::Ok();
  }

  Status Enqueue(const void* a, const void* b, void* out, cudaStream_t stream) override {
    const float one = 1, zero = 0;
    return LtStatus(f_.matmul(handle_, desc_, &one, b, first_, a, second_, &zero, out, out_, out, out_, &choice_.algo,
                              workspace_, kWorkspaceBytes, stream),
                    "matmul");
  }

 private:
  const Functions& f_;
  cublasLtHandle_t handle_;
  void* workspace_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, out_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_ = {};
};

class LtLibrary final : public MatmulLibrary {
 public:
  ~LtLibrary() override {
    if (handle_ != nullptr) f_.destroy(handle_);
  }
  Status Open() {
    HONE_ASSIGN_OR_RETURN(f_, LoadFunctions());
    HONE_RETURN_IF_ERROR(LtStatus(f_.create(&handle_), "cublasLtCreate"));
    return workspace_.Allocate(static_cast<int64_t>(kWorkspaceBytes));
  }
  Result<std::unique_ptr<Matmul>> Plan(const MatmulShape& shape) override {
    auto plan = std::make_unique<LtMatmul>(f_, handle_, workspace_.get());
    HONE_RETURN_IF_ERROR(plan->Make(shape));
    return std::unique_ptr<Matmul>(std::move(plan));
  }

 private:
  Functions f_;
  cublasLtHandle_t handle_ = nullptr;
  DeviceArray<unsigned char> workspace_;
};

}  // namespace

Status MatmulLibraryIsHere() { return LoadFunctions().status(); }

Result<std::unique_ptr<MatmulLibrary>> OpenMatmulLibrary() {
  auto library = std::make_unique<LtLibrary>();
  HONE_RETURN_IF_ERROR(library->Open());
  return std::unique_ptr<MatmulLibrary>(std::move(library));
}

}  // namespace hone::gnn::cuda
