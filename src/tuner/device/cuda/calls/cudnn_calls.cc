// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls cuDNN's functions of one convolution each. A transposed convolution is the gradient of a convolution by its
// input.
#include <cudnn.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tuner/device/cuda/calls/library_calls.h"

// cuDNN's newer interface takes graphs, which are compiled at run time; the functions used here need no compiler.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace hone {
namespace {

constexpr int64_t kWorkspaceBytes = int64_t{256} << 20;  // most memory that an algorithm may use beside its operands
constexpr uint32_t kAlignment = 16;  // bytes: the library's kernels read vectors of this size
constexpr int kMostProposed = 32;    // number of algorithms that the library is asked for; it has fewer

// X(member, symbol)
#define HONE_CUDNN_ENTRY_POINTS(X)                                    \
  X(create, cudnnCreate)                                              \
  X(destroy, cudnnDestroy)                                            \
  X(set_stream, cudnnSetStream)                                       \
  X(error_text, cudnnGetErrorString)                                  \
  X(last_error, cudnnGetLastErrorString)                              \
  X(tensor_create, cudnnCreateTensorDescriptor)                       \
  X(tensor_destroy, cudnnDestroyTensorDescriptor)                     \
  X(tensor_set, cudnnSetTensorNdDescriptorEx)                         \
  X(filter_create, cudnnCreateFilterDescriptor)                       \
  X(filter_destroy, cudnnDestroyFilterDescriptor)                     \
  X(filter_set, cudnnSetFilterNdDescriptor)                           \
  X(convolution_create, cudnnCreateConvolutionDescriptor)             \
  X(convolution_destroy, cudnnDestroyConvolutionDescriptor)           \
  X(convolution_set, cudnnSetConvolutionNdDescriptor)                 \
  X(convolution_math, cudnnSetConvolutionMathType)                    \
  X(convolution_groups, cudnnSetConvolutionGroupCount)                \
  X(forward_algorithms, cudnnGetConvolutionForwardAlgorithm_v7)       \
  X(forward_workspace, cudnnGetConvolutionForwardWorkspaceSize)       \
  X(forward, cudnnConvolutionForward)                                 \
  X(backward_algorithms, cudnnGetConvolutionBackwardDataAlgorithm_v7) \
  X(backward_workspace, cudnnGetConvolutionBackwardDataWorkspaceSize) \
  X(backward, cudnnConvolutionBackwardData)                           \
  X(add, cudnnAddTensor)

struct Functions {
#define HONE_CUDNN_MEMBER(member, symbol) decltype(&symbol) member = nullptr;
  HONE_CUDNN_ENTRY_POINTS(HONE_CUDNN_MEMBER)
#undef HONE_CUDNN_MEMBER
};

// Names under which the library is searched.
constexpr const char* kLibraries[] = {"libcudnn.so.9", "libcudnn.so", "/usr/local/cuda/lib64/libcudnn.so.9",
                                      "/usr/local/cuda/lib/libcudnn.so.9"};

// Finds cuDNN and its functions.
Result<Functions> LoadFunctions() {
  // The library is never closed: it does not support this.
  void* library = nullptr;
  for (const char* name : kLibraries) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return Status::Unavailable(
        "cuDNN is not installed, which the plan calls: install the package libcudnn9-cuda-13 (or nvidia-cudnn-cu13 for "
        "Python) and put the "
        "folder of libcudnn.so.9 on LD_LIBRARY_PATH, or write a kernel in place of the [[call]]");
  }
  Functions functions;
  std::string missing;
#define HONE_CUDNN_LOOK_UP(member, symbol)                                                  \
  functions.member = reinterpret_cast<decltype(functions.member)>(dlsym(library, #symbol)); \
  if (functions.member == nullptr) missing = #symbol;
  HONE_CUDNN_ENTRY_POINTS(HONE_CUDNN_LOOK_UP)
#undef HONE_CUDNN_LOOK_UP
  if (!missing.empty())
    return Status::Unavailable(fmt::format("cuDNN has no {}: install a cuDNN of version 9", missing));
  return functions;
}

// Returns the driver's error that fits a status of the library best.
CUresult AsDriverError(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return CUDA_SUCCESS;
  switch (static_cast<int>(status) / 1000) {  // categories of version 9
    case 2:
      return CUDA_ERROR_INVALID_VALUE;
    case 3:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

std::vector<int> AsInts(const std::vector<int64_t>& values) {  // a plan's sizes have 31 bits
  std::vector<int> ints;
  for (const int64_t value : values) ints.push_back(static_cast<int>(value));
  return ints;
}

// The key of the library's choice: everything that the choice depends on.
using Kind = std::tuple<std::vector<int64_t>, bool, DType, bool, int64_t>;

// Returns all numbers by which two convolutions may differ, the key of what is remembered about one.
Kind KindOf(const ResolvedCall& call) {
  const ResolvedConvolution& c = *call.convolution;
  std::vector<int64_t> numbers = {c.batch, c.in_channels, c.out_channels, c.groups};
  for (const std::vector<int64_t>* list : {&c.size, &c.kernel, &c.stride, &c.padding, &c.dilation, &c.output_padding}) {
    numbers.insert(numbers.end(), list->begin(), list->end());
  }
  return {numbers, c.transposed, call.dtype, call.bias.has_value(), call.algorithm};
}

// One way in which the library can compute a convolution.
struct Proposal {
  int algorithm = 0;  // cudnnConvolutionFwdAlgo_t; for a transposed convolution cudnnConvolutionBwdDataAlgo_t
  cudnnMathType_t math = CUDNN_FMA_MATH;
  size_t workspace_bytes = 0;
};

// The library's descriptors of one convolution, and the ways to compute it.
struct Described {
  explicit Described(const Functions& functions) : functions_(functions) {}
  ~Described() {
    for (cudnnTensorDescriptor_t one : {input, out, bias}) {
      if (one != nullptr) functions_.tensor_destroy(one);
    }
    if (weight != nullptr) functions_.filter_destroy(weight);
    if (convolution != nullptr) functions_.convolution_destroy(convolution);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  cudnnTensorDescriptor_t input = nullptr, out = nullptr, bias = nullptr;
  cudnnFilterDescriptor_t weight = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  bool transposed = false;
  std::vector<Proposal> proposals;  // best first
  Proposal algorithm;               // the proposal in use

 private:
  const Functions& functions_;
};

class CudnnCalls;

class PreparedConvolution : public PreparedCall {
 public:
  PreparedConvolution(const CudnnCalls& library, const Described& described, const CallAddresses& addresses,
                      std::string text)
      : library_(library), described_(described), addresses_(addresses), text_(std::move(text)) {}
  CUresult Enqueue(CUstream stream) const override;
  std::string Describe() const override { return text_; }

 private:
  const CudnnCalls& library_;
  const Described& described_;
  CallAddresses addresses_;
  std::string text_;
};

class CudnnCalls : public LibraryCalls {
 public:
  explicit CudnnCalls(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}
  ~CudnnCalls() override {
    known_.clear();
    if (handle_ != nullptr && !context_->lost()) functions_.destroy(handle_);
  }

  Result<std::shared_ptr<const PreparedCall>> Prepare(const ResolvedCall& call,
                                                      const CallAddresses& addresses) override {
    HONE_RETURN_IF_ERROR(Open());
    if ((addresses.a | addresses.b | addresses.out | addresses.bias) % kAlignment != 0) {
      return Status::InvalidArgument(
          fmt::format("{}: an operand does not begin at a multiple of {} bytes, as the library's kernels need: choose "
                      "other offsets",
                      call.Describe(), kAlignment));
    }
    Kind kind = KindOf(call);
    auto known = known_.find(kind);
    if (known == known_.end()) {
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<Described> described, Describe(call));
      HONE_RETURN_IF_ERROR(Choose(call, *described));
      known = known_.emplace(std::move(kind), std::move(described)).first;
    }
    return std::shared_ptr<const PreparedCall>(
        std::make_shared<PreparedConvolution>(*this, *known->second, addresses, call.Describe()));
  }

  CUresult Enqueue(const Described& d, const CallAddresses& addresses, CUstream stream) const {
    const float one = 1, zero = 0;
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); };
    if (const cudnnStatus_t set = functions_.set_stream(handle_, stream); set != CUDNN_STATUS_SUCCESS)
      return AsDriverError(set);
    const cudnnStatus_t done =
        d.transposed
            ? functions_.backward(handle_, &one, d.weight, pointer(addresses.b), d.input, pointer(addresses.a),
                                  d.convolution, static_cast<cudnnConvolutionBwdDataAlgo_t>(d.algorithm.algorithm),
                                  pointer(workspace_.address()), d.algorithm.workspace_bytes, &zero, d.out,
                                  pointer(addresses.out))
            : functions_.forward(handle_, &one, d.input, pointer(addresses.a), d.weight, pointer(addresses.b),
                                 d.convolution, static_cast<cudnnConvolutionFwdAlgo_t>(d.algorithm.algorithm),
                                 pointer(workspace_.address()), d.algorithm.workspace_bytes, &zero, d.out,
                                 pointer(addresses.out));
    if (done != CUDNN_STATUS_SUCCESS || addresses.bias == 0) return AsDriverError(done);
    return AsDriverError(
        functions_.add(handle_, &one, d.bias, pointer(addresses.bias), &one, d.out, pointer(addresses.out)));
  }

 private:
  Status Open() {
    if (handle_ != nullptr) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(functions_, LoadFunctions());
    HONE_ASSIGN_OR_RETURN(workspace_, context_->Allocate(kWorkspaceBytes));
    const cudnnStatus_t made = functions_.create(&handle_);
    if (made == CUDNN_STATUS_SUCCESS) return Status::Ok();
    handle_ = nullptr;
    return Status::Unavailable(fmt::format("cuDNN does not start ({}): its version may be none for this GPU or driver",
                                           functions_.error_text(made)));
  }

  Result<std::unique_ptr<Described>> Describe(const ResolvedCall& call) const {
    const ResolvedConvolution& c = *call.convolution;
    const Functions& f = functions_;
    const auto status_of = [&](cudnnStatus_t status, const char* what) {
      return status == CUDNN_STATUS_SUCCESS
                 ? Status::Ok()
                 : Status::InvalidArgument(
                       fmt::format("{}: the library {} ({})", call.Describe(), what, f.error_text(status)));
    };
    const cudnnDataType_t type = call.dtype == DType::kFloat16    ? CUDNN_DATA_HALF
                                 : call.dtype == DType::kBFloat16 ? CUDNN_DATA_BFLOAT16
                                                                  : CUDNN_DATA_FLOAT;
    // The library takes two or three axes: one axis is an image of one row.
    const auto axes = [&](const std::vector<int64_t>& values, int64_t usual) {
      std::vector<int64_t> list = values;
      if (list.size() == 1) list.insert(list.begin(), usual);
      return list;
    };
    std::vector<int64_t> sizes_out;
    for (size_t axis = 0; axis < c.size.size(); ++axis) sizes_out.push_back(c.OutSize(axis));
    const auto extents = [&](int64_t first, int64_t second, const std::vector<int64_t>& spatial_sizes) {
      std::vector<int64_t> list = axes(spatial_sizes, 1);
      list.insert(list.begin(), {first, second});
      return AsInts(list);
    };
    auto d = std::make_unique<Described>(f);
    d->transposed = c.transposed;
    const auto tensor = [&](cudnnTensorDescriptor_t* descriptor, const std::vector<int>& dims) {
      cudnnStatus_t status = f.tensor_create(descriptor);
      if (status == CUDNN_STATUS_SUCCESS)
        status = f.tensor_set(*descriptor, CUDNN_TENSOR_NCHW, type, static_cast<int>(dims.size()), dims.data());
      return status_of(status, "describes no such tensor");
    };
    HONE_RETURN_IF_ERROR(tensor(&d->input, extents(c.batch, c.in_channels, c.size)));
    HONE_RETURN_IF_ERROR(tensor(&d->out, extents(c.batch, c.out_channels, sizes_out)));
    HONE_RETURN_IF_ERROR(tensor(&d->bias, extents(1, c.out_channels, std::vector<int64_t>(c.size.size(), 1))));
    const std::vector<int> weight = c.transposed ? extents(c.in_channels, c.out_channels / c.groups, c.kernel)
                                                 : extents(c.out_channels, c.in_channels / c.groups, c.kernel);
    HONE_RETURN_IF_ERROR(status_of(f.filter_create(&d->weight), "describes no such weight"));
    HONE_RETURN_IF_ERROR(
        status_of(f.filter_set(d->weight, type, CUDNN_TENSOR_NCHW, static_cast<int>(weight.size()), weight.data()),
                  "describes no such weight"));
    const std::vector<int> padding = AsInts(axes(c.padding, 0)), stride = AsInts(axes(c.stride, 1)),
                           dilation = AsInts(axes(c.dilation, 1));
    HONE_RETURN_IF_ERROR(status_of(f.convolution_create(&d->convolution), "makes no such convolution"));
    HONE_RETURN_IF_ERROR(
        status_of(f.convolution_set(d->convolution, static_cast<int>(padding.size()), padding.data(), stride.data(),
                                    dilation.data(), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                  "makes no such convolution"));
    // Float32 is computed in float32: the library's default would allow TF32.
    const bool narrow = call.dtype != DType::kFloat32;
    HONE_RETURN_IF_ERROR(status_of(f.convolution_math(d->convolution, narrow ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH),
                                   "makes no such convolution"));
    HONE_RETURN_IF_ERROR(
        status_of(f.convolution_groups(d->convolution, static_cast<int>(c.groups)), "makes no such convolution"));

    // Adds a proposal, unless it is known already or its workspace is too large.
    const auto propose = [&](int algorithm, cudnnMathType_t math) {
      size_t bytes = 0;
      const cudnnStatus_t status =
          c.transposed ? f.backward_workspace(handle_, d->weight, d->input, d->convolution, d->out,
                                              static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm), &bytes)
                       : f.forward_workspace(handle_, d->input, d->weight, d->convolution, d->out,
                                             static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), &bytes);
      const bool is_proposed = std::any_of(d->proposals.begin(), d->proposals.end(), [&](const Proposal& proposal) {
        return proposal.algorithm == algorithm && proposal.math == math;
      });
      if (status != CUDNN_STATUS_SUCCESS || is_proposed || bytes > static_cast<size_t>(kWorkspaceBytes)) return;
      d->proposals.push_back({algorithm, math, bytes});
    };
    const auto propose_all = [&](const auto& algorithms, int count) {
      for (int i = 0; i < count; ++i) {
        const auto& one = algorithms[static_cast<size_t>(i)];
        if (one.status != CUDNN_STATUS_SUCCESS || one.determinism != CUDNN_DETERMINISTIC) continue;
        if (narrow) {
          propose(static_cast<int>(one.algo), one.mathType);
        } else if (one.mathType == CUDNN_FMA_MATH || one.mathType == CUDNN_DEFAULT_MATH) {
          propose(static_cast<int>(one.algo), CUDNN_FMA_MATH);
        }
      }
    };
    const cudnnMathType_t plain = narrow ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
    int count = 0;
    if (c.transposed) {
      std::vector<cudnnConvolutionBwdDataAlgoPerf_t> algorithms(kMostProposed);
      HONE_RETURN_IF_ERROR(status_of(f.backward_algorithms(handle_, d->weight, d->input, d->convolution, d->out,
                                                           kMostProposed, &count, algorithms.data()),
                                     "has no algorithm for it on this GPU"));
      propose_all(algorithms, count);
      propose(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, plain);
    } else {
      std::vector<cudnnConvolutionFwdAlgoPerf_t> algorithms(kMostProposed);
      HONE_RETURN_IF_ERROR(status_of(f.forward_algorithms(handle_, d->input, d->weight, d->convolution, d->out,
                                                          kMostProposed, &count, algorithms.data()),
                                     "has no algorithm for it on this GPU"));
      propose_all(algorithms, count);
      propose(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, plain);
      propose(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, plain);
    }
    return d;
  }

  // Sets d.algorithm to the proposal whose number, among those that run, is the plan's `algorithm` (from 0). Each is
  // tried on separate memory, since the library proposes some that it then refuses to run.
  Status Choose(const ResolvedCall& call, Described& d) {
    const auto padded = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
    const int64_t weight = padded(call.a.bytes), bias = weight + padded(call.b.bytes),
                  out = bias + (call.bias ? padded(call.bias->bytes) : 0), all = out + padded(call.out.bytes);
    int64_t ran = 0;
    std::string why;
    for (const Proposal& one : d.proposals) {
      d.algorithm = one;
      if (functions_.convolution_math(d.convolution, one.math) != CUDNN_STATUS_SUCCESS) continue;
      const Status done = WarmUpCall(*context_, call, all, [&](CUdeviceptr memory) {
        const auto at = [&](int64_t offset) { return memory + static_cast<CUdeviceptr>(offset); };
        return Enqueue(d, {.a = memory, .b = at(weight), .bias = call.bias ? at(bias) : 0, .out = at(out)},
                       context_->stream());
      });
      if (done.ok()) {
        if (ran++ == call.algorithm) return Status::Ok();
      } else if (done.code() != StatusCode::kInvalidArgument) {
        return done;
      } else if (why.empty()) {
        char text[512] = "";
        functions_.last_error(text, sizeof text);
        why = fmt::format("{} (algorithm {}: {})", done.message(), one.algorithm, text);
      }
    }
    if (ran > 0) {
      return Status::ResourceExhausted(fmt::format(
          "{}: the plan asks for algorithm {}, and the library has {} (from 0)", call.Describe(), call.algorithm, ran));
    }
    return Status::InvalidArgument(why.empty() ? call.Describe() + ": the library has no algorithm for it on this GPU"
                                               : why);
  }

  std::shared_ptr<CudaContext> context_;
  Functions functions_;
  cudnnHandle_t handle_ = nullptr;
  DeviceBlock workspace_;
  std::map<Kind, std::unique_ptr<Described>> known_;  // convolutions that were set up before
};

CUresult PreparedConvolution::Enqueue(CUstream stream) const {
  return library_.Enqueue(described_, addresses_, stream);
}

}  // namespace

std::unique_ptr<LibraryCalls> MakeConvolutionCalls(std::shared_ptr<CudaContext> context) {
  return std::make_unique<CudnnCalls>(std::move(context));
}

}  // namespace hone
