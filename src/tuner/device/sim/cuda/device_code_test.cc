// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests device code on the simulator itself, from source text to results: the headers and the rewriter must work with
// the real compiler flags, access hooks and fibers. Results are compared with plain loops, findings by line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/compiler.h"
#include "tuner/device/device_session.h"
#include "tuner/device/sim/image/sim_compiler.h"
#include "tuner/device/sim/sim_child.h"
#include "tuner/device/sim/sim_session.h"

namespace hone {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

struct Buffer {
  std::string name;
  std::vector<uint8_t> bytes;  // contents before the launch; read back after it
  DType dtype = DType::kFloat32;
};
template <typename T>
Buffer Of(std::string name, const std::vector<T>& values) {
  Buffer buffer{std::move(name), std::vector<uint8_t>(values.size() * sizeof(T)),
                sizeof(T) == 2 ? DType::kFloat16 : DType::kFloat32};
  std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
  return buffer;
}
template <typename T>
std::vector<T> As(const Buffer& buffer) {
  std::vector<T> values(buffer.bytes.size() / sizeof(T));
  std::memcpy(values.data(), buffer.bytes.data(), buffer.bytes.size());
  return values;
}

struct Trial {
  Verdict compile = Verdict::kOk;
  std::string digest;
  LaunchOutcome launch;
  std::string Explain() const {
    std::string text = digest + launch.detail;
    for (const Finding& finding : launch.findings)
      text += "\n" + finding.kind + " at " + finding.location + ": " + finding.message;
    return text;
  }
  // Findings about speed are allowed with a correct launch.
  bool ok() const { return compile == Verdict::kOk && launch.status == LaunchStatus::kOk; }
};

struct Shape {
  int64_t grid = 1, block = 32, shared = 0;
  bool cooperative = false;
};

class DeviceCode : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto compiler = MakeSimCompiler({.cache_directory = HONE_BINARY_DIR "/tests/cache"});
    ASSERT_TRUE(compiler.ok()) << compiler.status().message();
    compiler_ = compiler->release();
    auto session = MakeSimSession({});
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_ = session->release();
  }
  static void TearDownTestSuite() {
    delete session_;
    delete compiler_;
  }

  // Runs `kernel` of `source` with the buffers' addresses as its parameters.
  static Trial Launch(const std::string& source, const std::string& kernel, const Shape& shape,
                      std::vector<Buffer*> buffers, std::vector<std::string> options = {}) {
    Trial run;
    TranslationUnit unit;
    unit.file = "kernel.cu";
    unit.body = "#line 1 \"kernel.cu\"\n" + source;
    unit.kernels = {kernel};
    unit.options = std::move(options);
    Result<CompiledModule> module = compiler_->Compile(unit);
    if (!module.ok()) {
      run.compile = Verdict::kUnsupported;
      run.digest = module.status().message();
      return run;
    }
    run.compile = module->verdict;
    run.digest = module->digest;
    if (module->verdict != Verdict::kOk) return run;
    CompiledProgram program;
    program.modules[""] = std::move(*module);
    auto loaded = session_->Load(program);
    HONE_CHECK(loaded.ok() && loaded->program != nullptr, "load: " + loaded.status().message());

    std::vector<BlockRequest> requests;
    for (const Buffer* buffer : buffers) requests.push_back({static_cast<int64_t>(buffer->bytes.size())});
    auto arena = session_->Allocate(requests, 99);
    HONE_CHECK(arena.ok(), arena.status().message());
    Bindings bindings;
    ResolvedStep step;
    for (size_t i = 0; i < buffers.size(); ++i) {
      TensorView view;
      view.address = (*arena)->address(i);
      view.dtype = buffers[i]->dtype;
      view.elements = static_cast<int64_t>(buffers[i]->bytes.size()) / DTypeBytes(view.dtype);
      view.shape = {view.elements};
      view.strides = {1};
      view.span_bytes = static_cast<int64_t>(buffers[i]->bytes.size());
      bindings.tensors[buffers[i]->name] = view;
      const Status copied = session_->CopyFromHost(view.address, buffers[i]->bytes.data(), view.span_bytes);
      HONE_CHECK(copied.ok(), copied.message());
      ResolvedArgument argument;
      argument.kind = ArgumentKind::kTensor;
      argument.name = buffers[i]->name;
      step.args.push_back(argument);
    }
    step.kernel = kernel;
    step.grid = {shape.grid, 1, 1};
    step.block = {shape.block, 1, 1};
    step.shared_bytes = shape.shared;
    step.cooperative = shape.cooperative;
    ResolvedPlan plan;
    plan.steps.push_back(step);
    LaunchRequest request;
    request.plan = &plan;
    request.bindings = &bindings;
    request.limit_seconds = 60;
    auto outcome = session_->Launch(*loaded->program, request);
    HONE_CHECK(outcome.ok(), outcome.status().message());
    run.launch = *outcome;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const Status copied = session_->CopyToHost(buffers[i]->bytes.data(), (*arena)->address(i),
                                                 static_cast<int64_t>(buffers[i]->bytes.size()));
      HONE_CHECK(copied.ok(), copied.message());
    }
    return run;
  }

  static Compiler* compiler_;
  static DeviceSession* session_;
};
Compiler* DeviceCode::compiler_ = nullptr;
DeviceSession* DeviceCode::session_ = nullptr;

uint16_t HalfBits(float v) { return __builtin_bit_cast(uint16_t, static_cast<_Float16>(v)); }
float FromHalf(uint16_t b) { return static_cast<float>(__builtin_bit_cast(_Float16, b)); }
// Returns multiples of 1/8 in [-2, 2]: exact in every format, with exact products and short sums.
std::vector<float> Eighths(size_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float& v : values) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int>(seed >> 27) - 16) / 8.0f;
  }
  return values;
}
std::vector<uint16_t> ToHalves(const std::vector<float>& values) {
  std::vector<uint16_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), HalfBits);
  return bits;
}
// Returns C [m, n] = A [m, k] B [k, n], row-major.
std::vector<float> Product(const std::vector<float>& a, const std::vector<float>& b, size_t m, size_t n, size_t k) {
  std::vector<float> c(m * n, 0.0f);
  for (size_t i = 0; i < m; ++i) {
    for (size_t l = 0; l < k; ++l) {
      for (size_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return c;
}

// A real tensor-core kernel in inline PTX: cp.async double buffering, ldmatrix, mma.sync.
const char kMmaKernel[] = R"CUDA(
#include <cuda_fp16.h>
#define CP_ASYNC(dst, src) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(dst), "l"(src))
__device__ __forceinline__ void LoadA(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
}
__device__ __forceinline__ void LoadB(unsigned (&r)[2], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address));
}
// One warp: C[16, 8] = A[16, 64] B[64, 8], k-steps of 16 in two buffers.
__global__ void multiply(const half* a, const half* b, float* c) {
  __shared__ __align__(16) half as[2][16][16];
  __shared__ __align__(16) half bs[2][16][8];
  const int lane = threadIdx.x;
  float acc[4] = {0, 0, 0, 0};
  auto fetch = [&](int step, int buffer) {
    CP_ASYNC((unsigned)__cvta_generic_to_shared(&as[buffer][lane / 2][lane % 2 * 8]), a + lane / 2 * 64 + step * 16 + lane % 2 * 8);
    if (lane < 16) CP_ASYNC((unsigned)__cvta_generic_to_shared(&bs[buffer][lane][0]), b + (step * 16 + lane) * 8);
    asm volatile("cp.async.commit_group;\n" ::);
  };
  fetch(0, 0);
  for (int step = 0; step < 4; ++step) {
    if (step + 1 < 4) fetch(step + 1, (step + 1) % 2);
    if (step + 1 < 4) { asm volatile("cp.async.wait_group 1;\n"); } else { asm volatile("cp.async.wait_group 0;\n"); }
    WAIT_FOR_ALL
    unsigned ra[4], rb[2];
    LoadA(ra, (unsigned)__cvta_generic_to_shared(&as[step % 2][lane % 16][lane / 16 * 8]));
    LoadB(rb, (unsigned)__cvta_generic_to_shared(&bs[step % 2][lane % 16][0]));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    __syncthreads();
  }
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" :: "l"(c + lane / 4 * 8 + lane % 4 * 2), "f"(acc[0]), "f"(acc[1]));
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" :: "l"(c + (lane / 4 + 8) * 8 + lane % 4 * 2), "f"(acc[2]), "f"(acc[3]));
}
)CUDA";

TEST_F(DeviceCode, TensorCoreKernelInInlinePtx) {
  const auto av = Eighths(16 * 64, 1), bv = Eighths(64 * 8, 2);
  Buffer a = Of("a", ToHalves(av)), b = Of("b", ToHalves(bv)), c = Of("c", std::vector<float>(128));
  const Trial run =
      Launch("#define WAIT_FOR_ALL __syncthreads();\n" + std::string(kMmaKernel), "multiply", {1, 32}, {&a, &b, &c});
  ASSERT_TRUE(run.ok()) << run.Explain();
  EXPECT_EQ(As<float>(c), Product(av, bv, 16, 8, 64));
}

// Without the barrier between a copy and its readers, a lane must not read the copies of other lanes.
TEST_F(DeviceCode, MissingBarrierAfterCpAsyncIsARaceAtTheLdmatrix) {
  const auto av = Eighths(16 * 64, 1), bv = Eighths(64 * 8, 2);
  Buffer a = Of("a", ToHalves(av)), b = Of("b", ToHalves(bv)), c = Of("c", std::vector<float>(128));
  const Trial run = Launch("#define WAIT_FOR_ALL\n" + std::string(kMmaKernel), "multiply", {1, 32}, {&a, &b, &c});
  ASSERT_EQ(run.compile, Verdict::kOk) << run.Explain();
  EXPECT_NE(run.launch.status, LaunchStatus::kOk);
  ASSERT_FALSE(run.launch.findings.empty());
  bool race = false;
  for (const Finding& finding : run.launch.findings) race |= finding.kind.find("race") != std::string::npos;
  EXPECT_TRUE(race) << run.Explain();
}

TEST_F(DeviceCode, WmmaTilesWithBorders) {
  const size_t m = 48, n = 32, k = 80;
  const auto av = Eighths(m * k, 3), bv = Eighths(k * n, 4);
  Buffer a = Of("a", ToHalves(av)), b = Of("b", ToHalves(bv)), c = Of("c", std::vector<float>(m * n));
  const Trial run = Launch(R"CUDA(
#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const half* a, const half* b, float* c) {
  const int tile = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, row = tile / 2 * 16, column = tile % 2 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < 80; step += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + row * 80 + step, 80);
    wmma::load_matrix_sync(right, b + step * 32 + column, 32);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * 32 + column, sum, 32, wmma::mem_row_major);
}
)CUDA",
                           "multiply", {3, 64}, {&a, &b, &c});
  ASSERT_TRUE(run.ok()) << run.Explain();
  EXPECT_EQ(As<float>(c), Product(av, bv, m, n, k));
}

TEST_F(DeviceCode, CooperativeGroupsReduceBlocksAndTheGrid) {
  const size_t n = 8 * 256;
  std::vector<float> xv(n);
  for (size_t i = 0; i < n; ++i) xv[i] = static_cast<float>(i % 7);
  Buffer x = Of("x", xv), partial = Of("partial", std::vector<float>(8)), total = Of("total", std::vector<float>(1));
  const Trial run = Launch(R"CUDA(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void sum(const float* x, float* partial, float* total) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ float sums[8];
  const float mine = cg::reduce(warp, x[grid.thread_rank()], cg::plus<float>());
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = mine;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    auto eight = cg::tiled_partition<8>(warp);
    const float all = cg::reduce(eight, sums[eight.thread_rank()], cg::plus<float>());
    if (warp.thread_rank() == 0) partial[blockIdx.x] = all;
  }
  grid.sync();
  if (grid.thread_rank() == 0) {
    float s = 0;
    for (int i = 0; i < gridDim.x; ++i) s += partial[i];
    *total = s;
  }
}
)CUDA",
                           "sum", {8, 256, 0, true}, {&x, &partial, &total});
  ASSERT_TRUE(run.ok()) << run.Explain();
  float expected = 0;
  for (const float v : xv) expected += v;
  EXPECT_EQ(As<float>(total)[0], expected);
}

TEST_F(DeviceCode, VectorsOfHalvesKeepOneRequestAWarp) {
  const size_t n = 32 * 8 * 4;
  const auto xv = Eighths(n, 5);
  Buffer x = Of("x", ToHalves(xv)), y = Of("y", std::vector<uint16_t>(n));
  const Trial run = Launch(R"CUDA(
#include <cuda_fp16.h>
__global__ void twice(const half* x, half* y) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  uint4 pack = *reinterpret_cast<const uint4*>(x + i);
  __half2* pairs = reinterpret_cast<__half2*>(&pack);
#pragma unroll
  for (int j = 0; j < 4; ++j) pairs[j] = __hadd2(pairs[j], pairs[j]);
  *reinterpret_cast<uint4*>(y + i) = pack;
}
)CUDA",
                           "twice", {1, 128}, {&x, &y});
  ASSERT_TRUE(run.ok()) << run.Explain();
  const auto result = As<uint16_t>(y);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(FromHalf(result[i]), 2 * xv[i]);
  ASSERT_TRUE(run.launch.cost.has_value());
  // Each of four warps makes a load and a store of 512 bytes, which are 16 sectors.
  EXPECT_EQ(run.launch.cost->requests, 8);
  EXPECT_EQ(run.launch.cost->sectors, 8 * 16);
  EXPECT_EQ(run.launch.cost->accesses, 256);
}

// No form of shared memory may add a hidden flag (a race) or an initial value (every read below is of a written value).
TEST_F(DeviceCode, SharedMemoryInEveryForm) {
  const auto xv = Eighths(64, 7);
  Buffer x = Of("x", xv), y = Of("y", std::vector<float>(64));
  const std::string source = R"CUDA(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define TILE(name, T) __shared__ T name[2][32]
template <typename T, int kRows>
__device__ float Through(float v) {
  __shared__ T tile[kRows][33];
  tile[threadIdx.x / 32][threadIdx.x % 32] = T(v);
  __syncthreads();
  const float back = float(tile[threadIdx.x / 32][31 - threadIdx.x % 32]);
  __syncthreads();
  return back;
}
__global__ void turn(const float* x, float* y) {
  extern __shared__ __align__(16) unsigned char raw[];
  __half* halves = reinterpret_cast<__half*>(raw);
  float4* vectors = reinterpret_cast<float4*>(raw + 128);
  TILE(pairs, __half2);
  __shared__ union { __half h[64]; float f[64]; } either;
  __shared__ struct { float4 v[2]; __nv_bfloat16 b[64]; } both;
  __shared__ float4 quads[16], more[16];
  const int i = threadIdx.x;
  float v = Through<__half, 2>(x[i]);
  v = Through<__nv_bfloat16, 2>(v);  // turned twice: where it was
  halves[i] = __float2half(v);
  pairs[i / 32][i % 32] = __floats2half2_rn(v, -v);
  both.b[i] = __float2bfloat16(v);
  if (i < 16) quads[i] = vectors[i] = make_float4(i, i, i, 1.0f);
  if (i > 0 && i < 16) more[i] = quads[i];
  __syncthreads();
  either.f[i] = __half2float(halves[63 - i]) + __low2float(pairs[i / 32][i % 32]) + __high2float(pairs[i / 32][i % 32]);
  __syncthreads();
  y[i] = either.f[63 - i] + float(both.b[i]) + quads[i / 4].w + vectors[i / 4].w EXTRA;
}
)CUDA";
  Trial run = Launch("#define EXTRA\n" + source, "turn", {1, 64, 128 + 256}, {&x, &y});
  ASSERT_TRUE(run.ok()) << run.Explain();
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(As<float>(y)[i], 2 * xv[i] + 2) << i;
  run = Launch("#define EXTRA + more[0].x\n" + source, "turn", {1, 64, 128 + 256}, {&x, &y});
  EXPECT_EQ(run.launch.status, LaunchStatus::kRuleViolation) << run.Explain();
  EXPECT_THAT(run.Explain(), HasSubstr("uninitialised"));
}

TEST_F(DeviceCode, FastMathOptionMeansTheFastFunctions) {
  std::vector<float> xv(256);
  for (size_t i = 0; i < xv.size(); ++i) xv[i] = 0.01f * static_cast<float>(i) + 0.003f;
  const std::string source = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = expf(x[threadIdx.x]); }\n";
  int wrong[2] = {0, 0};
  for (int fast = 0; fast < 2; ++fast) {
    Buffer x = Of("x", xv), y = Of("y", std::vector<float>(256));
    const Trial run = Launch(source, "k", {1, 256}, {&x, &y},
                             fast ? std::vector<std::string>{"--use_fast_math"} : std::vector<std::string>{});
    ASSERT_TRUE(run.ok()) << run.Explain();
    const auto result = As<float>(y);
    for (size_t i = 0; i < 256; ++i) {
      const double exact = std::exp(static_cast<double>(xv[i]));
      ASSERT_NEAR(result[i], exact, exact * 1e-6);
      wrong[fast] += result[i] != static_cast<float>(exact);
    }
  }
  EXPECT_LT(wrong[0], 20);
  EXPECT_GT(wrong[1], 100);
}

TEST_F(DeviceCode, AtomicsAcrossBlocksInEveryForm) {
  Buffer counts = Of("counts", std::vector<uint32_t>(4, 0)), sums = Of("sums", std::vector<float>(4, 0.0f));
  const Trial run = Launch(R"CUDA(
#include <cuda_fp16.h>
__global__ void tally(unsigned* counts, float* sums) {
  __shared__ unsigned local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicAdd(&local, 1u);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&counts[0], local);
  atomicMax(&counts[1], blockIdx.x * blockDim.x + threadIdx.x);
  atomicInc(&counts[2], 9u);
  atomicAdd(&sums[0], 0.5f);
  atomicAdd(reinterpret_cast<__half2*>(&sums[1]), __floats2half2_rn(1.0f, 2.0f));
  asm volatile("red.global.add.f32 [%0], %1;" :: "l"(sums + 2), "f"(2.0f));
  unsigned old = atomicCAS(&counts[3], 0u, 1u + threadIdx.x);
}
)CUDA",
                           "tally", {4, 96}, {&counts, &sums});
  ASSERT_TRUE(run.ok()) << run.Explain();
  const auto c = As<uint32_t>(counts);
  EXPECT_EQ(c[0], 384u);
  EXPECT_EQ(c[1], 383u);
  EXPECT_EQ(c[2], 4u);  // 384 steps around ten values
  EXPECT_TRUE(c[3] >= 1 && c[3] <= 96);
  const auto s = As<float>(sums);
  EXPECT_EQ(s[0], 192.0f);
  EXPECT_EQ(s[2], 768.0f);
  EXPECT_EQ(__builtin_bit_cast(uint32_t, s[1]), (static_cast<uint32_t>(HalfBits(768.0f)) << 16) | HalfBits(384.0f));
}

TEST_F(DeviceCode, FindingsNameTheCandidatesLineThroughHeadersAndPtx) {
  Buffer x = Of("x", std::vector<float>(64)), y = Of("y", std::vector<float>(64));
  const std::string head = "__global__ void k(const float* x, float* y) {\n  const int i = threadIdx.x;\n";
  struct Case {
    const char* body;
    int line;
  };
  for (const Case& t :
       {Case{"  float v = 1.0f;\n  v += __ldg(x + 4096 + i);\n  y[i] = v;\n}\n", 4},
        Case{"  float v;\n\n  asm volatile(\"ld.global.nc.f32 %0, [%1];\"\n    : \"=f\"(v) : \"l\"(x + 4096 + i));\n  "
             "y[i] = v;\n}\n",
             5},
        Case{"  atomicAdd(y + 100 + i, 1.0f);\n}\n", 3},
        Case{"  __stcs(reinterpret_cast<float4*>(y + 1),\n         make_float4(0, 0, 0, 0));\n}\n", 3}}) {
    const Trial run = Launch(head + t.body, "k", {1, 32}, {&x, &y});
    ASSERT_EQ(run.compile, Verdict::kOk) << run.Explain();
    EXPECT_EQ(run.launch.status, LaunchStatus::kCrashed) << run.Explain();
    ASSERT_FALSE(run.launch.findings.empty()) << t.body;
    EXPECT_THAT(run.launch.findings[0].location, EndsWith("kernel.cu:" + std::to_string(t.line))) << run.Explain();
  }
}

TEST_F(DeviceCode, TrapsAssertionsAndTheUnsupported) {
  Buffer x = Of("x", std::vector<float>(32));
  Trial run = Launch("__global__ void k(float* x) {\n  assert(x[threadIdx.x] > 1.0f);\n}\n", "k", {1, 32}, {&x});
  EXPECT_EQ(run.launch.status, LaunchStatus::kCrashed) << run.Explain();
  EXPECT_THAT(run.Explain(), HasSubstr("x[threadIdx.x] > 1.0f"));
  run = Launch("__global__ void k(float* x) { asm volatile(\"trap;\"); }\n", "k", {1, 32}, {&x});
  EXPECT_EQ(run.launch.status, LaunchStatus::kCrashed) << run.Explain();
  run = Launch(
      "#include <cooperative_groups.h>\n__global__ void k(float* x) { cooperative_groups::this_cluster().sync(); }\n",
      "k", {1, 32}, {&x});
  EXPECT_EQ(run.launch.status, LaunchStatus::kUnsupported) << run.Explain();
  run = Launch("__global__ void k(float* x) {\n\n  asm volatile(\"barrier.cluster.arrive.aligned;\");\n}\n", "k", {1, 32},
               {&x});
  EXPECT_EQ(run.compile, Verdict::kUnsupported);
  EXPECT_THAT(run.digest, HasSubstr("line 3: inline PTX 'barrier.cluster.arrive.aligned' is not emulated"));
}

// A complete, typical kernel: row softmax with shuffles, float4 and fast exponentials.
TEST_F(DeviceCode, SoftmaxOfRows) {
  const size_t rows = 5, columns = 256;
  const auto xv = Eighths(rows * columns, 6);
  Buffer x = Of("x", xv), y = Of("y", std::vector<float>(rows * columns));
  const Trial run = Launch(R"CUDA(
__device__ float WarpMax(float v) { for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d)); return v; }
__device__ float WarpSum(float v) { for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d); return v; }
template <int kColumns>
__global__ void __launch_bounds__(64) softmax(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float pieces[2];
  const float4 v = reinterpret_cast<const float4*>(x + blockIdx.x * kColumns)[threadIdx.x];
  float m = WarpMax(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  if (threadIdx.x % warpSize == 0) pieces[threadIdx.x / warpSize] = m;
  __syncthreads();
  m = fmaxf(pieces[0], pieces[1]);
  __syncthreads();
  const float4 e = make_float4(__expf(v.x - m), __expf(v.y - m), __expf(v.z - m), __expf(v.w - m));
  float s = WarpSum(e.x + e.y + e.z + e.w);
  if (threadIdx.x % 32 == 0) pieces[threadIdx.x / 32] = s;
  __syncthreads();
  const float r = __fdividef(1.0f, pieces[0] + pieces[1]);
  reinterpret_cast<float4*>(y + blockIdx.x * kColumns)[threadIdx.x] = {e.x * r, e.y * r, e.z * r, e.w * r};
}
)CUDA",
                           "softmax<256>", {static_cast<int64_t>(rows), 64}, {&x, &y});
  ASSERT_TRUE(run.ok()) << run.Explain();
  const auto result = As<float>(y);
  for (size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (size_t j = 0; j < columns; ++j) sum += std::exp(static_cast<double>(xv[row * columns + j]));
    for (size_t j = 0; j < columns; ++j) {
      const double expected = std::exp(static_cast<double>(xv[row * columns + j])) / sum;
      ASSERT_NEAR(result[row * columns + j], expected, 1e-5 * expected);
    }
  }
}

}  // namespace
}  // namespace hone

// The test program is also the child process of its own sessions.
int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "__sim-child") == 0 && std::strcmp(argv[2], "--fd") == 0) {
    return hone::SimChildMain(std::atoi(argv[3]));
  }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
