// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls cuBLASLt, which is column-major. A row-major product is the column-major product of the same memory with the
// factors exchanged: the library's "A" is the plan's b, its "B" is a, its rows are the plan's columns.
#include <cublasLt.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tuner/device/cuda/calls/library_calls.h"

namespace hone {
namespace {

constexpr int64_t kWorkspaceBytes = int64_t{32} << 20;  // most memory that an algorithm may use beside its operands
constexpr uint32_t kMostAlignment = 256;  // the library uses no larger alignment

// X(member, symbol)
#define HONE_CUBLASLT_ENTRY_POINTS(X)                     \
  X(create, cublasLtCreate)                               \
  X(destroy, cublasLtDestroy)                             \
  X(matmul, cublasLtMatmul)                               \
  X(desc_create, cublasLtMatmulDescCreate)                \
  X(desc_destroy, cublasLtMatmulDescDestroy)              \
  X(desc_set, cublasLtMatmulDescSetAttribute)             \
  X(layout_create, cublasLtMatrixLayoutCreate)            \
  X(layout_destroy, cublasLtMatrixLayoutDestroy)          \
  X(layout_set, cublasLtMatrixLayoutSetAttribute)         \
  X(preference_create, cublasLtMatmulPreferenceCreate)    \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy)  \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute) \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic)

struct Functions {
#define HONE_CUBLASLT_MEMBER(member, symbol) decltype(&symbol) member = nullptr;
  HONE_CUBLASLT_ENTRY_POINTS(HONE_CUBLASLT_MEMBER)
#undef HONE_CUBLASLT_MEMBER
};

// Names under which the library is searched.
constexpr const char* kLibraries[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                      "/usr/local/cuda/lib64/libcublasLt.so", "/usr/local/cuda/lib/libcublasLt.so"};

// Finds cuBLASLt and its functions.
Result<Functions> LoadFunctions() {
  // The library is never closed: it does not support this.
  void* library = nullptr;
  for (const char* name : kLibraries) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return Status::Unavailable(
        "cuBLASLt is not installed, which the plan calls: install the CUDA toolkit's libcublas package or put the "
        "folder of libcublasLt.so on LD_LIBRARY_PATH, or write a kernel in place of the [[call]]");
  }
  Functions functions;
  std::string missing;
#define HONE_CUBLASLT_LOOK_UP(member, symbol)                                               \
  functions.member = reinterpret_cast<decltype(functions.member)>(dlsym(library, #symbol)); \
  if (functions.member == nullptr) missing = #symbol;
  HONE_CUBLASLT_ENTRY_POINTS(HONE_CUBLASLT_LOOK_UP)
#undef HONE_CUBLASLT_LOOK_UP
  if (!missing.empty())
    return Status::Unavailable(
        fmt::format("cuBLASLt has no {}: install the libcublas of a CUDA toolkit of 12 or newer", missing));
  return functions;
}

// Returns the driver's error that fits a status of the library best.
CUresult AsDriverError(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return CUDA_SUCCESS;
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return CUDA_ERROR_NOT_SUPPORTED;
    case CUBLAS_STATUS_ALLOC_FAILED:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case CUBLAS_STATUS_INVALID_VALUE:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

cudaDataType_t TypeOf(DType dtype) {
  return dtype == DType::kFloat16 ? CUDA_R_16F : dtype == DType::kBFloat16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasLtEpilogue_t EpilogueOf(const ResolvedCall& call) {
  const bool bias = call.bias.has_value();
  if (call.epilogue == "relu") return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (call.epilogue == "gelu_tanh") return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

uint32_t AlignmentOf(CUdeviceptr address) {
  uint32_t alignment = kMostAlignment;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

// The key of a cached Product: every parameter on which the library's choice of an algorithm depends.
using Kind = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool, DType, std::string, bool, uint32_t,
                        uint32_t, uint32_t>;

struct Product {
  explicit Product(const Functions& functions) : functions_(functions) {}
  ~Product() {
    if (desc != nullptr) functions_.desc_destroy(desc);
    for (cublasLtMatrixLayout_t layout : {a, b, out}) {
      if (layout != nullptr) functions_.layout_destroy(layout);
    }
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, out = nullptr;
  cublasLtMatmulAlgo_t algorithm{};

 private:
  const Functions& functions_;
};

class CublasLtCalls;

class PreparedMatmul : public PreparedCall {
 public:
  PreparedMatmul(const CublasLtCalls& library, const Product& product, const CallAddresses& addresses, std::string text)
      : library_(library), product_(product), addresses_(addresses), text_(std::move(text)) {}
  CUresult Enqueue(CUstream stream) const override;
  std::string Describe() const override { return text_; }

 private:
  const CublasLtCalls& library_;
  const Product& product_;
  CallAddresses addresses_;
  std::string text_;
};

class CublasLtCalls : public LibraryCalls {
 public:
  explicit CublasLtCalls(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}
  ~CublasLtCalls() override {
    products_.clear();
    if (handle_ != nullptr && !context_->lost()) functions_.destroy(handle_);
  }

  Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedCall& call,
                                                      const CallAddresses& addresses) override {
    HONE_RETURN_IF_ERROR(Open());
    const Kind kind(call.m, call.n, call.k, call.batch, call.algorithm, call.transpose_a, call.transpose_b, call.dtype,
                    call.epilogue, call.bias.has_value(), AlignmentOf(addresses.a), AlignmentOf(addresses.b),
                    AlignmentOf(addresses.out | addresses.bias));
    auto known = products_.find(kind);
    if (known == products_.end()) {
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<Product> product, Choose(call, addresses));
      HONE_RETURN_IF_ERROR(WarmUp(call, *product, addresses));
      known = products_.emplace(kind, std::move(product)).first;
    }
    return std::shared_ptr<const PreparedCall>(
        std::make_shared<PreparedMatmul>(*this, *known->second, addresses, call.Describe()));
  }

  CUresult Enqueue(const Product& product, const CallAddresses& addresses, CUstream stream) const {
    const float one = 1, zero = 0;
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); };
    if (addresses.bias != 0) {
      const void* bias = pointer(addresses.bias);
      const cublasStatus_t set =
          functions_.desc_set(product.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
      if (set != CUBLAS_STATUS_SUCCESS) return AsDriverError(set);
    }
    return AsDriverError(functions_.matmul(
        handle_, product.desc, &one, pointer(addresses.b), product.b, pointer(addresses.a), product.a, &zero,
        pointer(addresses.out), product.out, pointer(addresses.out), product.out, &product.algorithm,
        pointer(workspace_.address()), static_cast<size_t>(kWorkspaceBytes), stream));
  }

 private:
  Status Open() {
    if (handle_ != nullptr) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(functions_, LoadFunctions());
    HONE_ASSIGN_OR_RETURN(workspace_, context_->Allocate(kWorkspaceBytes));
    const cublasStatus_t made = functions_.create(&handle_);
    if (made == CUBLAS_STATUS_SUCCESS) return Status::Ok();
    handle_ = nullptr;
    return Status::Unavailable(fmt::format(
        "cuBLASLt does not start (error {}): its version may be none for this GPU or driver", static_cast<int>(made)));
  }

  // Makes the description of a matrix of `rows` x `columns`, column-major as the library sees it, for all batches.
  Status CreateLayout(cublasLtMatrixLayout_t* layout, const ResolvedCall& call, int64_t rows, int64_t columns) const {
    cublasStatus_t status = functions_.layout_create(layout, TypeOf(call.dtype), static_cast<uint64_t>(rows),
                                                     static_cast<uint64_t>(columns), rows);
    if (status == CUBLAS_STATUS_SUCCESS && call.batch > 1) {
      const int32_t count = static_cast<int32_t>(call.batch);
      const int64_t stride = rows * columns;
      status = functions_.layout_set(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
      if (status == CUBLAS_STATUS_SUCCESS) {
        status = functions_.layout_set(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
      }
    }
    return StatusOf(status, call, "describes no such matrix");
  }

  static Status StatusOf(cublasStatus_t status, const ResolvedCall& call, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return Status::Ok();
    return Status::InvalidArgument(
        fmt::format("{}: the library {} (error {})", call.Describe(), what, static_cast<int>(status)));
  }

  Result<std::unique_ptr<Product>> Choose(const ResolvedCall& call, const CallAddresses& addresses) const {
    auto product = std::make_unique<Product>(functions_);
    HONE_RETURN_IF_ERROR(StatusOf(functions_.desc_create(&product->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), call,
                                  "makes no such product"));
    const cublasOperation_t a_op = call.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                            b_op = call.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasLtEpilogue_t epilogue = EpilogueOf(call);
    const cudaDataType_t bias_type = TypeOf(call.dtype);
    const auto set_attribute = [&](cublasLtMatmulDescAttributes_t attribute, const void* value, size_t bytes) {
      return StatusOf(functions_.desc_set(product->desc, attribute, value, bytes), call, "makes no such product");
    };
    HONE_RETURN_IF_ERROR(set_attribute(CUBLASLT_MATMUL_DESC_TRANSA, &b_op, sizeof b_op));
    HONE_RETURN_IF_ERROR(set_attribute(CUBLASLT_MATMUL_DESC_TRANSB, &a_op, sizeof a_op));
    HONE_RETURN_IF_ERROR(set_attribute(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    if (call.bias) {
      const void* bias = reinterpret_cast<void*>(static_cast<uintptr_t>(addresses.bias));
      HONE_RETURN_IF_ERROR(set_attribute(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
      HONE_RETURN_IF_ERROR(set_attribute(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias_type, sizeof bias_type));
    }
    HONE_RETURN_IF_ERROR(
        CreateLayout(&product->b, call, call.transpose_b ? call.k : call.n, call.transpose_b ? call.n : call.k));
    HONE_RETURN_IF_ERROR(
        CreateLayout(&product->a, call, call.transpose_a ? call.m : call.k, call.transpose_a ? call.k : call.m));
    HONE_RETURN_IF_ERROR(CreateLayout(&product->out, call, call.n, call.m));

    cublasLtMatmulPreference_t made = nullptr;
    HONE_RETURN_IF_ERROR(StatusOf(functions_.preference_create(&made), call, "takes no preferences"));
    const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, decltype(functions_.preference_destroy)>
        preference(made, functions_.preference_destroy);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const void* value, size_t bytes) {
      return StatusOf(functions_.preference_set(preference.get(), attribute, value, bytes), call,
                      "takes no preferences");
    };
    const size_t workspace = static_cast<size_t>(kWorkspaceBytes);
    const uint32_t a_alignment = AlignmentOf(addresses.a), b_alignment = AlignmentOf(addresses.b),
                   out_alignment = AlignmentOf(addresses.out | addresses.bias);
    // Partial sums are added in float32 and not rounded to 16 bits in between: otherwise sums of 8192 bfloat16 products
    // were observed to be off by 1 %.
    const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    HONE_RETURN_IF_ERROR(prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions));
    HONE_RETURN_IF_ERROR(prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace));
    HONE_RETURN_IF_ERROR(prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &b_alignment, sizeof b_alignment));
    HONE_RETURN_IF_ERROR(prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &a_alignment, sizeof a_alignment));
    HONE_RETURN_IF_ERROR(prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &out_alignment, sizeof out_alignment));
    HONE_RETURN_IF_ERROR(prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &out_alignment, sizeof out_alignment));

    std::vector<cublasLtMatmulHeuristicResult_t> heuristics(static_cast<size_t>(call.algorithm) + 1);
    int count = 0;
    const cublasStatus_t asked =
        functions_.heuristic(handle_, product->desc, product->b, product->a, product->out, product->out,
                             preference.get(), static_cast<int>(heuristics.size()), heuristics.data(), &count);
    if (asked != CUBLAS_STATUS_SUCCESS || count == 0) {
      return Status::InvalidArgument(fmt::format("{}: the library has no algorithm for it on this GPU (error {})",
                                                 call.Describe(), static_cast<int>(asked)));
    }
    if (count <= call.algorithm) {
      return Status::ResourceExhausted(
          fmt::format("{}: the plan asks for algorithm {}, and the library has {} (from 0)", call.Describe(),
                      call.algorithm, count));
    }
    product->algorithm = heuristics[static_cast<size_t>(call.algorithm)].algo;
    return product;
  }

  // Enqueues the product once, with one piece of memory as all operands: the result is meaningless, but the same
  // kernels are loaded, because the operands are aligned as those of `like` are.
  Status WarmUp(const ResolvedCall& call, const Product& product, const CallAddresses& like) {
    const int64_t largest_bytes =
        std::max({call.a.bytes, call.b.bytes, call.out.bytes, call.bias ? call.bias->bytes : 0});
    return WarmUpCall(*context_, call, largest_bytes + 2 * kMostAlignment, [&](CUdeviceptr memory) {
      const auto aligned = [&](CUdeviceptr address) {
        return address == 0 ? 0 : memory + AlignmentOf(address) % kMostAlignment;
      };
      const CallAddresses own{
          .a = aligned(like.a), .b = aligned(like.b), .bias = aligned(like.bias), .out = aligned(like.out)};
      return Enqueue(product, own, context_->stream());
    });
  }

  std::shared_ptr<CudaContext> context_;
  Functions functions_;
  cublasLtHandle_t handle_ = nullptr;
  DeviceBlock workspace_;
  std::map<Kind, std::unique_ptr<Product>> products_;
};

CUresult PreparedMatmul::Enqueue(CUstream stream) const { return library_.Enqueue(product_, addresses_, stream); }

}  // namespace

std::unique_ptr<LibraryCalls> MakeMatmulCalls(std::shared_ptr<CudaContext> context) {
  return std::make_unique<CublasLtCalls>(std::move(context));
}

}  // namespace hone
