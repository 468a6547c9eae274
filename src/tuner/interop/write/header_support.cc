// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/header_support.h"

namespace hone {
namespace {

constexpr std::string_view kSupport = R"cpp(
  // A 64-bit integer that detects overflow and division by zero: it then sets *ok to false, if it has an `ok`.
  struct Int {
    long long value = 0;
    bool* ok = nullptr;
    Int() = default;
    Int(bool v) : value(v) {}
    Int(int v) : value(v) {}
    Int(long v) : value(v) {}
    Int(long long v) : value(v) {}
    Int(long long v, bool* flag) : value(v), ok(flag) {}
    explicit operator bool() const { return value != 0; }
  };
  inline Int Checked(Int a, Int b, bool failed, long long value) {
    bool* ok = a.ok != nullptr ? a.ok : b.ok;
    if (failed && ok != nullptr) *ok = false;
    return Int(failed ? 0 : value, ok);
  }
  inline Int operator+(Int a, Int b) {
    long long r = 0;
    const bool failed = __builtin_add_overflow(a.value, b.value, &r);
    return Checked(a, b, failed, r);
  }
  inline Int operator-(Int a, Int b) {
    long long r = 0;
    const bool failed = __builtin_sub_overflow(a.value, b.value, &r);
    return Checked(a, b, failed, r);
  }
  inline Int operator*(Int a, Int b) {
    long long r = 0;
    const bool failed = __builtin_mul_overflow(a.value, b.value, &r);
    return Checked(a, b, failed, r);
  }
  inline bool Divides(Int a, Int b) { return b.value != 0 && !(b.value == -1 && a.value < -INT64_MAX); }
  inline Int operator/(Int a, Int b) { return Checked(a, b, !Divides(a, b), Divides(a, b) ? a.value / b.value : 0); }
  inline Int operator%(Int a, Int b) { return Checked(a, b, !Divides(a, b), Divides(a, b) ? a.value % b.value : 0); }
  inline Int operator-(Int a) { return Int(0) - a; }
  inline Int operator<(Int a, Int b) { return Checked(a, b, false, a.value < b.value); }
  inline Int operator<=(Int a, Int b) { return Checked(a, b, false, a.value <= b.value); }
  inline Int operator>(Int a, Int b) { return Checked(a, b, false, a.value > b.value); }
  inline Int operator>=(Int a, Int b) { return Checked(a, b, false, a.value >= b.value); }
  inline Int operator==(Int a, Int b) { return Checked(a, b, false, a.value == b.value); }
  inline Int operator!=(Int a, Int b) { return Checked(a, b, false, a.value != b.value); }
  inline Int min(Int a, Int b) { return Checked(a, b, false, a.value < b.value ? a.value : b.value); }
  inline Int max(Int a, Int b) { return Checked(a, b, false, a.value > b.value ? a.value : b.value); }
  template <typename... Rest>
  Int min(Int a, Int b, Int c, Rest... rest) {
    return min(min(a, b), c, Int(rest)...);
  }
  template <typename... Rest>
  Int max(Int a, Int b, Int c, Rest... rest) {
    return max(max(a, b), c, Int(rest)...);
  }
  inline Int ceil_div(Int a, Int b) {  // towards plus infinity
    if (!Divides(a, b)) return Checked(a, b, true, 0);
    const bool inexact = a.value % b.value != 0 && (a.value < 0) == (b.value < 0);
    return Checked(a, b, false, a.value / b.value + (inexact ? 1 : 0));
  }
  inline Int round_up(Int a, Int b) { return ceil_div(a, b) * b; }
  inline Int Log2(Int a) {
    long long r = 0;
    for (long long v = a.value; v > 1; v /= 2) ++r;
    return Checked(a, a, a.value <= 0, r);
  }
  inline bool Holds(Int condition) { return condition.value != 0; }

  // The largest power of two, up to 4096, that divides the address.
  inline long long AlignmentOf(const void* pointer) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer) | 4096;
    return static_cast<long long>(address & (~address + 1));
  }
  inline const void* Offset(const void* base, Int bytes) { return static_cast<const char*>(base) + bytes.value; }

  inline long long DeviceAttribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess)
      return 0;
    return value;
  }

  struct Launch {
    const void* kernel = nullptr;
    Int grid[3] = {1, 1, 1};
    Int block[3] = {1, 1, 1};
    Int cluster[3] = {0, 0, 0};  // zeros: none
    Int shared = 0;              // dynamic, bytes
    bool cooperative = false;
    bool dependent = false;  // programmatic dependent launch on the kernel launched just before

    bool Empty() const { return grid[0].value == 0 || grid[1].value == 0 || grid[2].value == 0; }

    // Opts in to more than 48 KiB of dynamic shared memory and to clusters of more than 8 blocks, where they are needed.
    cudaError_t Prepare() const {
      if (shared.value > 48 * 1024) {
        const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared.value));
        if (error != cudaSuccess) return error;
      }
      if (cluster[0].value * cluster[1].value * cluster[2].value > 8) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
      }
      return cudaSuccess;
    }
    // Returns the number of blocks of this launch that fit on one multiprocessor; at least 1, so that a grid computed
    // from it is never empty.
    Int Occupancy() const {
      int blocks = 0;
      const long long threads = block[0].value * block[1].value * block[2].value;
      if (Prepare() != cudaSuccess ||
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads),
                                                        static_cast<size_t>(shared.value)) != cudaSuccess) {
        blocks = 1;
      }
      return Int(static_cast<long long>(blocks > 0 ? blocks : 1));
    }
    cudaError_t Run(void** arguments, cudaStream_t stream) const {
      for (int i = 0; i < 3; ++i) {
        if (grid[i].value < 0 || grid[i].value > INT32_MAX || block[i].value < 1 || block[i].value > 1024) {
          return cudaErrorInvalidConfiguration;
        }
      }
      if (shared.value < 0 || shared.value > INT32_MAX) return cudaErrorInvalidConfiguration;
      const cudaError_t prepared = Prepare();
      if (prepared != cudaSuccess) return prepared;
      cudaLaunchAttribute attributes[3];
      memset(attributes, 0, sizeof attributes);
      unsigned count = 0;
      if (cluster[0].value > 0) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count].val.clusterDim.x = static_cast<unsigned>(cluster[0].value);
        attributes[count].val.clusterDim.y = static_cast<unsigned>(cluster[1].value);
        attributes[count].val.clusterDim.z = static_cast<unsigned>(cluster[2].value);
        ++count;
      }
      if (cooperative) {
        attributes[count].id = cudaLaunchAttributeCooperative;
        attributes[count].val.cooperative = 1;
        ++count;
      }
      if (dependent) {
        attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[count].val.programmaticStreamSerializationAllowed = 1;
        ++count;
      }
      cudaLaunchConfig_t config;
      memset(static_cast<void*>(&config), 0, sizeof config);
      config.gridDim = dim3(static_cast<unsigned>(grid[0].value), static_cast<unsigned>(grid[1].value),
                            static_cast<unsigned>(grid[2].value));
      config.blockDim = dim3(static_cast<unsigned>(block[0].value), static_cast<unsigned>(block[1].value),
                             static_cast<unsigned>(block[2].value));
      config.dynamicSmemBytes = static_cast<size_t>(shared.value);
      config.stream = stream;
      config.attrs = attributes;
      config.numAttrs = count;
      return cudaLaunchKernelExC(&config, kernel, arguments);
    }
  };
)cpp";

constexpr std::string_view kTensorMaps = R"cpp(
  // The driver's function that encodes tensor maps. It is looked up through the runtime, so that the driver's library
  // need not be linked.
  using EncodeTensorMap = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                       const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                       CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  inline EncodeTensorMap FindTensorMapEncoder() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
    return reinterpret_cast<EncodeTensorMap>(function);
  }
  struct TensorMap {
    CUtensorMapDataType type;
    int rank;
    Int dims[5], strides[5], box[5], element_strides[5];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion l2_promotion;
    CUtensorMapFloatOOBfill oob_fill;

    cudaError_t Encode(const void* base, CUtensorMap* map) const {
      memset(static_cast<void*>(map), 0, sizeof *map);
      cuuint64_t d[5], s[5];
      cuuint32_t b[5], e[5];
      for (int i = 0; i < rank; ++i) {
        if (dims[i].value < 0 || strides[i].value < 0 || box[i].value < 1 || element_strides[i].value < 1) {
          return cudaErrorInvalidValue;
        }
        if (dims[i].value == 0) return cudaSuccess;  // an empty tensor: no launch will read the map
        d[i] = static_cast<cuuint64_t>(dims[i].value);
        s[i] = static_cast<cuuint64_t>(strides[i].value);
        b[i] = static_cast<cuuint32_t>(box[i].value);
        e[i] = static_cast<cuuint32_t>(element_strides[i].value);
      }
      const EncodeTensorMap encode = FindTensorMapEncoder();
      if (encode == nullptr) return cudaErrorNotSupported;
      const CUresult result = encode(map, type, static_cast<cuuint32_t>(rank), const_cast<void*>(base), d, s, b, e,
                                     interleave, swizzle, l2_promotion, oob_fill);
      return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
    }
  };
)cpp";

constexpr std::string_view kLibraryCalls = R"cpp(
  // The plan calls libraries between its kernels. A program that includes this header defines LibraryMatmul and
  // LibraryConvolution in this namespace, which enqueue their work on `stream`; the PyTorch binding does so. Tensors
  // are dense and row-major, and sums are computed in float32 or better (no TF32). If a size other than `k` is 0, there
  // is nothing to do.
  enum class CallType { kFloat32, kFloat16, kBFloat16 };
  enum class CallEpilogue { kNone, kRelu, kGeluTanh };
  // out[batch, m, n] = epilogue(a[batch, m, k] * b[batch, k, n] + bias[n]); transposed factors are stored [k, m], [n,
  // k].
  struct MatmulCall {
    const void *a = nullptr, *b = nullptr, *bias = nullptr;
    void* out = nullptr;
    long long batch = 1, m = 0, n = 0, k = 0;
    bool transpose_a = false, transpose_b = false;
    CallEpilogue epilogue = CallEpilogue::kNone;
    CallType type = CallType::kFloat32;
  };
  // The parameters of torch.nn.functional.conv1d to conv3d and of conv_transpose1d to conv_transpose3d.
  struct ConvolutionCall {
    const void *input = nullptr, *weight = nullptr, *bias = nullptr;
    void* out = nullptr;
    int axes = 0;
    long long batch = 0, in_channels = 0, out_channels = 0, groups = 1;
    long long size[3] = {0, 0, 0}, kernel[3] = {0, 0, 0}, stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0};
    long long dilation[3] = {1, 1, 1}, output_padding[3] = {0, 0, 0};
    bool transposed = false;
    CallType type = CallType::kFloat32;
  };
  static cudaError_t LibraryMatmul(const MatmulCall& call, cudaStream_t stream);
  static cudaError_t LibraryConvolution(const ConvolutionCall& call, cudaStream_t stream);
)cpp";

constexpr std::string_view kTorchCalls = R"cpp(
  static at::Tensor CallView(const void* memory, const std::vector<int64_t>& shape, CallType type) {
    const at::ScalarType types[] = {at::kFloat, at::kHalf, at::kBFloat16};
    return at::from_blob(
        const_cast<void*>(memory), shape,
        at::TensorOptions().dtype(types[static_cast<int>(type)]).device(at::kCUDA, c10::cuda::current_device()));
  }

  [[maybe_unused]] static cudaError_t LibraryMatmul(const MatmulCall& call, cudaStream_t) {
    if (call.batch == 0 || call.m == 0 || call.n == 0) return cudaSuccess;
    const at::NoTF32Guard exact;
    const bool one = call.batch == 1;
    const auto view = [&](const void* memory, int64_t rows, int64_t columns) {
      return one ? CallView(memory, {rows, columns}, call.type)
                 : CallView(memory, {call.batch, rows, columns}, call.type);
    };
    const at::Tensor a = call.transpose_a ? view(call.a, call.k, call.m).transpose(-2, -1) : view(call.a, call.m, call.k);
    const at::Tensor b = call.transpose_b ? view(call.b, call.n, call.k).transpose(-2, -1) : view(call.b, call.k, call.n);
    at::Tensor out = view(call.out, call.m, call.n);
    const bool activation = call.epilogue != CallEpilogue::kNone;
    if (call.bias != nullptr) {
      const at::Tensor bias = CallView(call.bias, {call.n}, call.type);
      if (one && activation) {
        at::_addmm_activation_out(out, bias, a, b, 1, 1, call.epilogue == CallEpilogue::kGeluTanh);
        return cudaSuccess;
      }
      if (one) {
        at::addmm_out(out, bias, a, b);
      } else {
        at::baddbmm_out(out, bias.expand({call.batch, call.m, call.n}), a, b);
      }
    } else if (one) {
      at::mm_out(out, a, b);
    } else {
      at::bmm_out(out, a, b);
    }
    if (call.epilogue == CallEpilogue::kRelu) at::relu_(out);
    if (call.epilogue == CallEpilogue::kGeluTanh) at::gelu_(out, "tanh");
    return cudaSuccess;
  }

  [[maybe_unused]] static cudaError_t LibraryConvolution(const ConvolutionCall& call, cudaStream_t) {
    const at::NoTF32Guard exact;
    std::vector<int64_t> input = {call.batch, call.in_channels},
                         weight = {call.out_channels, call.in_channels / call.groups};
    if (call.transposed) weight = {call.in_channels, call.out_channels / call.groups};
    std::vector<int64_t> out = {call.batch, call.out_channels}, stride, padding, dilation, output_padding;
    for (int i = 0; i < call.axes; ++i) {
      input.push_back(call.size[i]);
      weight.push_back(call.kernel[i]);
      stride.push_back(call.stride[i]);
      padding.push_back(call.padding[i]);
      dilation.push_back(call.dilation[i]);
      output_padding.push_back(call.output_padding[i]);
      const int64_t reach = call.dilation[i] * (call.kernel[i] - 1);
      out.push_back(call.transposed
                        ? (call.size[i] - 1) * call.stride[i] - 2 * call.padding[i] + reach + call.output_padding[i] + 1
                        : (call.size[i] + 2 * call.padding[i] - reach - 1) / call.stride[i] + 1);
    }
    for (const int64_t extent : out) {
      if (extent <= 0) return extent == 0 ? cudaSuccess : cudaErrorInvalidValue;
    }
    const std::optional<at::Tensor> bias =
        call.bias == nullptr ? std::nullopt
                             : std::optional<at::Tensor>(CallView(call.bias, {call.out_channels}, call.type));
    // PyTorch has no convolution into given memory: its result is copied.
    CallView(call.out, out, call.type)
        .copy_(at::convolution(CallView(call.input, input, call.type), CallView(call.weight, weight, call.type), bias,
                               stride, padding, dilation, call.transposed, output_padding, call.groups));
    return cudaSuccess;
  }
)cpp";

}  // namespace

std::string_view LibraryCallSupport() { return kLibraryCalls; }
std::string_view TorchCallFunctions() { return kTorchCalls; }
std::string_view HeaderSupport() { return kSupport; }
std::string_view TensorMapSupport() { return kTensorMaps; }

}  // namespace hone
