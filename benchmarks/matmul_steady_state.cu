// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times the Hopper kernels of examples/kernels/h200 and cuBLASLt's algorithms in one stream: warm, back to back, by
// turns; medians of five turns. Unlike in hone eval, which times a library in host mode, the host's call is not part of
// the interval here. Tensors hold random normal values, because power, and so clocks, depend on the multiplied values.
// Each kernel's results are compared with those of cuBLASLt's first algorithm.
//
//   nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -O2 -o matmul_steady_state benchmarks/matmul_steady_state.cu
//   nvcc … -DSTEADY_FLOAT32 …          matmul_f32.cu instead of matmul_bf16.cu
//
// Needs one H200 (or H100), and libcublasLt.so.13 where the loader finds it. Prints one JSON object per shape, a line
// each.
#include <cublasLt.h>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#ifdef STEADY_FLOAT32
#include "../examples/kernels/h200/matmul_f32.cu"
using Element = float;
constexpr cudaDataType kDataType = CUDA_R_32F;
constexpr CUtensorMapDataType kMapType = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
#else
#include "../examples/kernels/h200/matmul_bf16.cu"
using Element = __nv_bfloat16;
constexpr cudaDataType kDataType = CUDA_R_16BF;
constexpr CUtensorMapDataType kMapType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
#endif

namespace {

constexpr int kTurns = 5, kAlgorithms = 8;
constexpr float kTurnMs = 12.0f;

void Must(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "matmul_steady_state: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(3);
}
#define MUST(call) Must((call) == 0, #call)

__global__ void FillNormal(Element* to, size_t size, unsigned seed) {
  const auto mix = [](uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
  };
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < size; i += gridDim.x * size_t{256}) {
    const uint64_t bits = mix(2 * i + 0x9e3779b97f4a7c15ULL * (seed + 1));
    const float u = (static_cast<float>(bits >> 40) + 1.0f) / 16777217.0f;
    const float v = static_cast<float>(bits & 0xffffff) / 16777216.0f;
    to[i] = Element(sqrtf(-2.0f * logf(u)) * cospif(2.0f * v));
  }
}
// Adds the squared differences of x and y to sums[0], and the squares of y to sums[1]. A NaN in a tensor makes its sums
// NaN.
__global__ void AddDifferences(const Element* x, const Element* y, size_t size, double* sums) {
  double difference = 0, square = 0;
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < size; i += gridDim.x * size_t{256}) {
    const double p = static_cast<float>(x[i]), q = static_cast<float>(y[i]);
    difference += (p - q) * (p - q);
    square += q * q;
  }
  atomicAdd(sums, difference);
  atomicAdd(sums + 1, square);
}

CUtensorMap Map(void* tensor, uint64_t columns, uint64_t rows, uint32_t box_columns, uint32_t box_rows, bool swizzled) {
  static const auto encode = [] {
    void* symbol = nullptr;
    cudaDriverEntryPointQueryResult found;
    MUST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &symbol, 12000, cudaEnableDefault, &found));
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(symbol);
  }();
  CUtensorMap map;
  const cuuint64_t dims[2] = {columns, rows}, pitch[1] = {columns * sizeof(Element)};
  const cuuint32_t box[2] = {box_columns, box_rows}, strides[2] = {1, 1};
  MUST(encode(&map, kMapType, 2, tensor, dims, pitch, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
              swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

// Returns a function that launches `kernel` with these arguments.
template <class... P, class... A>
std::function<void()> Bound(void (*kernel)(P...), int grid, int block, int cluster, int shared, A... arguments) {
  MUST(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  return [=] {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared;
    config.attrs = &attribute, config.numAttrs = cluster > 1 ? 1 : 0;
    MUST(cudaLaunchKernelEx(&config, kernel, P(arguments)...));
  };
}

struct Contender {
  std::string name;
  std::function<void()> run;
  std::vector<float> us = {};
};

// Adds cuBLASLt's algorithms for row-major c = a b, which to cuBLASLt is the column-major product of the transposed
// factors.
void AddLibrary(const Element* a, const Element* b, Element* c, int m, int n, int k, std::vector<Contender>& to) {
  static void* library = dlopen("libcublasLt.so.13", RTLD_NOW);
  Must(library != nullptr, "libcublasLt.so.13 is not where the loader looks");
#define FIND(name) static const auto name##_ = reinterpret_cast<decltype(&name)>(dlsym(library, #name))
  FIND(cublasLtCreate);
  FIND(cublasLtMatmul);
  FIND(cublasLtMatmulDescCreate);
  FIND(cublasLtMatrixLayoutCreate);
  FIND(cublasLtMatmulPreferenceCreate);
  FIND(cublasLtMatmulPreferenceSetAttribute);
  FIND(cublasLtMatmulAlgoGetHeuristic);
  static cublasLtHandle_t handle = nullptr;
  static void* workspace = nullptr;
  static const size_t kWorkspace = 64 << 20;
  if (handle == nullptr) {
    MUST(cublasLtCreate_(&handle));
    MUST(cudaMalloc(&workspace, kWorkspace));
  }
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t left, right, result;
  cublasLtMatmulPreference_t preference;
  MUST(cublasLtMatmulDescCreate_(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  MUST(cublasLtMatrixLayoutCreate_(&left, kDataType, n, k, n));
  MUST(cublasLtMatrixLayoutCreate_(&right, kDataType, k, m, k));
  MUST(cublasLtMatrixLayoutCreate_(&result, kDataType, n, m, n));
  MUST(cublasLtMatmulPreferenceCreate_(&preference));
  MUST(cublasLtMatmulPreferenceSetAttribute_(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                             sizeof kWorkspace));
  cublasLtMatmulHeuristicResult_t found[kAlgorithms];
  int count = 0;
  MUST(cublasLtMatmulAlgoGetHeuristic_(handle, product, left, right, result, result, preference, kAlgorithms, found,
                                       &count));
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulAlgo_t algorithm = found[i].algo;
    to.push_back({"cublaslt_" + std::to_string(i), [=] {
                    const float one = 1.0f, zero = 0.0f;
                    MUST(cublasLtMatmul_(handle, product, &one, b, left, a, right, &zero, c, result, c, result,
                                         &algorithm, workspace, kWorkspace, nullptr));
                  }});
  }
}

Contender Ours(Element* a, Element* b, Element* c, int m, int n, int k, int sms) {
  const auto up = [](int x, int y) { return (x + y - 1) / y; };
#ifdef STEADY_FLOAT32
  static float* partial_sums = nullptr;
  static int* ready = nullptr;
  if (partial_sums == nullptr) {
    MUST(cudaMalloc(&partial_sums, sms * 65536));
    MUST(cudaMalloc(&ready, sms * 4));
    MUST(cudaMemset(ready, 0, sms * 4));
  }
  return {"matmul_f32",
          Bound(matmul_f32<4>, std::min(sms, up(m, 128) * up(n, 128) * up(k, 256)), 384, 1, 4 * 32768 + 2048,
                Map(a, k, m, 32, 128, true), Map(b, n, k, 128, 32, false), c, partial_sums, ready, m, n, k, 8)};
#else
  const CUtensorMap b_map = Map(b, n, k, 64, 64, true), c_map = Map(c, n, m, 64, 64, true);
  if (m <= 64) {
    return {"matmul_bf16", Bound(matmul_bf16<1, 128, 8, 1>, std::min(sms, up(n, 128)), 256, 1, 8 * 192 * 128 + 18432,
                                 Map(a, k, m, 64, 64, true), b_map, c_map, m, n, k, 1)};
  }
  return {"matmul_bf16", Bound(matmul_bf16<2, 256, 4, 2>, 2 * std::min(sms / 2, up(m, 256) * up(n, 256)), 384, 2,
                               4 * 384 * 128 + 34816, Map(a, k, m, 64, 128, true), b_map, c_map, m, n, k, 8)};
#endif
}

float Time(const Contender& contender, int calls) {
  static const auto event = [] {
    cudaEvent_t made;
    MUST(cudaEventCreate(&made));
    return made;
  };
  static const cudaEvent_t begin = event(), end = event();
  contender.run();
  MUST(cudaEventRecord(begin));
  for (int i = 0; i < calls; ++i) contender.run();
  MUST(cudaEventRecord(end));
  MUST(cudaDeviceSynchronize());
  float ms = 0;
  MUST(cudaEventElapsedTime(&ms, begin, end));
  return ms / calls * 1000;
}

void Compare(Element* a, Element* b, Element* c, Element* reference, double* sums, int m, int n, int k, int sms) {
  std::vector<Contender> contenders;
  AddLibrary(a, b, reference, m, n, k, contenders);
  contenders.push_back(Ours(a, b, c, m, n, k, sms));
  const size_t size = static_cast<size_t>(m) * n;
  MUST(cudaMemset(c, 0xff, size * sizeof(Element)));
  contenders.front().run();
  contenders.back().run();
  MUST(cudaMemset(sums, 0, 16));
  AddDifferences<<<1024, 256>>>(c, reference, size, sums);
  double held[2];
  MUST(cudaMemcpy(held, sums, 16, cudaMemcpyDeviceToHost));

  std::vector<int> calls;
  for (const Contender& contender : contenders)
    calls.push_back(std::clamp(static_cast<int>(kTurnMs * 1000 / Time(contender, 1)), 2, 200));
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < contenders.size(); ++i) contenders[i].us.push_back(Time(contenders[i], calls[i]));
  }
  for (Contender& contender : contenders) std::sort(contender.us.begin(), contender.us.end());
  std::printf("{\"m\": %d, \"n\": %d, \"k\": %d, \"rms_from_cublaslt\": %.3g", m, n, k, std::sqrt(held[0] / held[1]));
  for (const Contender& contender : contenders) {
    std::printf(", \"%s_us\": [%.1f, %.1f, %.1f]", contender.name.c_str(), contender.us.front(),
                contender.us[kTurns / 2], contender.us.back());
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  constexpr size_t kMost = size_t{8192} * 8192;
  int sms = 0;
  MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  Element* tensors[4];
  for (Element*& tensor : tensors) MUST(cudaMalloc(&tensor, kMost * sizeof(Element)));
  double* sums = nullptr;
  MUST(cudaMalloc(&sums, 16));
  for (unsigned i = 0; i < 2; ++i) FillNormal<<<1024, 256>>>(tensors[i], kMost, i);
#ifdef STEADY_FLOAT32
  const int shapes[][3] = {{1024, 1024, 1024}, {4096, 4096, 4096}, {2048, 4096, 8192}, {512, 14336, 4096}};
#else
  const int shapes[][3] = {{64, 14336, 4096},  {2048, 14336, 4096}, {2048, 4096, 14336},
                           {4096, 8192, 8192}, {4096, 4096, 4096},  {8192, 8192, 8192}};
#endif
  for (const auto& shape : shapes)
    Compare(tensors[0], tensors[1], tensors[2], tensors[3], sums, shape[0], shape[1], shape[2], sms);
}
