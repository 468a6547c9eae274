// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the headers with the compiler and flags for candidates: each compiles alone, and accesses to vector types reach
// the hooks whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tuner/device/sim/cuda/ptx_rewrite.h"
#include "tuner/device/sim/cuda/test_host_runtime.h"

namespace hone {
namespace {

std::vector<std::string> Headers() {
  std::vector<std::string> headers;
  std::istringstream list(HONE_SIM_CUDA_HEADER_LIST);
  for (std::string header; std::getline(list, header, ',');) headers.push_back(header);
  return headers;
}

TEST(SimulatorHeaders, EachCompilesAloneAndAllInBothStandards) {
  ASSERT_GE(Headers().size(), 30u);
  std::string all;
  for (const std::string& header : Headers()) {
    // These are parts of other headers, and the one that only defines a macro.
    if (header.find(".inc") != std::string::npos) continue;
    all += "#include \"" + header + "\"\n";
    const Result<std::string> compiled =
        testing::RunHostCompiler("#include \"" + header + "\"\n", {"-fsyntax-only", "-Wall", "-Wextra", "-Werror"});
    EXPECT_TRUE(compiled.ok()) << header << "\n" << compiled.status().message();
  }
  for (const char* standard : {"-std=c++17", "-std=c++20"}) {
    const Result<std::string> compiled =
        testing::RunHostCompiler(all, {standard, "-fsyntax-only", "-Wall", "-Wextra", "-Werror"});
    EXPECT_TRUE(compiled.ok()) << standard << "\n" << compiled.status().message();
  }
}

// Returns the access hooks that g++ calls in each function of `source` as rewritten, in order of address: "read16
// write16".
std::map<std::string, std::string> HooksByFunction(const std::string& source, Status* status) {
  std::map<std::string, std::string> hooks;
  const Result<std::string> rewritten = RewriteInlinePtx(source);
  if (!rewritten.ok()) {
    *status = rewritten.status();
    return hooks;
  }
  const Result<std::string> assembly = testing::RunHostCompiler(
      "#include \"hone_cuda.h\"\n" + *rewritten,
      {"-S", "-o", "-", "-w", "-fPIC", "-fsanitize=thread", "-fno-extern-tls-init", "-fno-ipa-icf"});
  if (!assembly.ok()) {
    *status = assembly.status();
    return hooks;
  }
  std::istringstream lines(*assembly);
  std::string function;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '\t' && line[0] != '.' && line.back() == ':')
      function = line.substr(0, line.size() - 1);
    const size_t call = line.find("__tsan_");
    if (call == std::string::npos || line.find("call") == std::string::npos) continue;
    const std::string name = line.substr(call + 7, line.find('@', call) - call - 7);
    if (name.rfind("func_", 0) == 0 || name == "init") continue;
    hooks[function] += (hooks[function].empty() ? "" : " ") + name;
  }
  return hooks;
}

// The simulator judges requests, sectors and alignment by accesses: a float4 must be one access in every notation.
TEST(SimulatorHeaders, AVectorIsOneAccess) {
  Status status;
  const auto hooks = HooksByFunction(R"(
extern "C" {
void copy(const float4* a, float4* b) { b[threadIdx.x] = a[threadIdx.x]; }
void scale(const float4* a, float4* b, float s) { float4 v = a[threadIdx.x]; v.x *= s; v.y *= s; v.z *= s; v.w *= s; b[threadIdx.x] = v; }
void make(const float4* a, float4* b) { float4 v = __ldg(&a[threadIdx.x]); b[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x); }
void braces(const float4* a, float4* b) { const float4 v = a[threadIdx.x]; b[threadIdx.x] = {v.w, v.z, v.y, v.x}; }
void named_braces(const float4* a, float4* b) { const float4 v = a[threadIdx.x]; b[threadIdx.x] = float4{v.w, v.z, v.y, v.x}; }
void cast(const float* a, float* b) { float4 v = reinterpret_cast<const float4*>(a)[threadIdx.x]; reinterpret_cast<float4*>(b)[threadIdx.x] = v; }
void one_element(const float4* a, float* b) { float4 v = a[threadIdx.x]; b[threadIdx.x] = v.x; }
void choose(const float4* a, float4* b, int n) { float4 v = threadIdx.x < n ? a[threadIdx.x] : make_float4(0, 0, 0, 0); b[threadIdx.x] = v; }
void doubles(const double2* a, double2* b) { double2 v = a[threadIdx.x]; v.x += v.y; b[threadIdx.x] = v; }
void integers(const uint4* a, int2* b) { uint4 v = a[threadIdx.x]; b[threadIdx.x] = make_int2(v.x + v.y, v.z); }
void bytes(const uchar4* a, uchar4* b) { uchar4 v = a[threadIdx.x]; v.w = 255; b[threadIdx.x] = v; }
void half_pair(const __half2* a, __half2* b) { __half2 v = a[threadIdx.x]; b[threadIdx.x] = __hmul2(v, v); }
void half_alone(const __half* a, __half* b) { b[threadIdx.x] = a[threadIdx.x] + __float2half(1.0f); }
void eight_halves(const float4* a, float4* b) {
  float4 v = a[threadIdx.x];
  __half2* h = reinterpret_cast<__half2*>(&v);
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) h[i] = __hmul2(h[i], h[i]);
  b[threadIdx.x] = v;
}
void in_union(const float4* a, float4* b) { union { float4 v; __half2 h[4]; } u; u.v = a[threadIdx.x]; u.h[1] = u.h[0]; b[threadIdx.x] = u.v; }
void shared(const float4* a, float4* b) { __shared__ float4 s[32]; s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); b[threadIdx.x] = s[31 - threadIdx.x]; }
void shared_halves(__half* a) { __shared__ __half s[8][32]; s[1][threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[threadIdx.x] = s[1][31 - threadIdx.x]; }
void shared_union(__half* a) { __shared__ union { __half h[2][32]; float f[32]; } s; s.h[1][threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[threadIdx.x] = s.h[1][31 - threadIdx.x]; }
void hinted(const float4* a, float4* b) { __stcs(b + threadIdx.x, __ldcs(a + threadIdx.x)); }
void indices(int* b) { b[0] = threadIdx.x + blockIdx.x * blockDim.x + gridDim.y; }
})",
                                     &status);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::map<std::string, std::string> expected = {
      {"scale", "read16 write16"},        {"make", "read16 write16"},
      {"braces", "read16 write16"},       {"named_braces", "read16 write16"},
      {"cast", "read16 write16"},         {"one_element", "read16 write4"},
      {"choose", "read16 write16"},       {"doubles", "read16 write16"},
      {"integers", "read16 write8"},      {"bytes", "read4 write4"},
      {"half_pair", "read4 write4"},      {"half_alone", "read2 write2"},
      {"eight_halves", "read16 write16"}, {"in_union", "read16 write16"},
      {"hinted", "read16 write16"},       {"indices", "write4"}};
  for (const auto& [function, accesses] : expected) {
    const auto found = hooks.find(function);
    ASSERT_NE(found, hooks.end()) << function;
    EXPECT_EQ(found->second, accesses) << function;
  }
  // A copy within one statement may announce either side first.
  EXPECT_TRUE(hooks.at("copy") == "read16 write16" || hooks.at("copy") == "write16 read16") << hooks.at("copy");
  // No flag may guard a shared array of a class.
  for (const char* function : {"shared", "shared_halves", "shared_union"}) {
    EXPECT_EQ(std::count(hooks.at(function).begin(), hooks.at(function).end(), ' '), 3)
        << function << ": " << hooks.at(function);
  }
}

// Arithmetic, atomics and index reads make no accesses of their own.
TEST(SimulatorHeaders, IntrinsicsAreNoAccesses) {
  Status status;
  const auto hooks = HooksByFunction(R"(
extern "C" {
float arithmetic(float x) { return __expf(x) + rsqrtf(x) + __fdividef(x, 3.0f) + __fadd_rz(x, 1.0f) + __half2float(__hfma(__float2half(x), __float2half(x), __float2half(x))) + __shfl_xor_sync(~0u, x, 1) + tanhf(x); }
void atomics(float* p, unsigned* q, __half2* h, double* d) { atomicAdd(p, 1.0f); atomicMax(q, 3u); atomicCAS(q, 1u, 2u); atomicAdd(h, __float2half2_rn(1.0f)); atomicAdd(d, 1.0); }
})",
                                     &status);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(hooks.count("arithmetic"), 0u) << hooks.at("arithmetic");
  EXPECT_EQ(hooks.count("atomics"), 0u) << hooks.at("atomics");
}

TEST(SimulatorHeaders, TypesHaveCudasSizesAndStayTrivial) {
  const Result<std::string> compiled = testing::RunHostCompiler(R"(
#include "hone_cuda.h"
#include <type_traits>
#define CHECK(T, size, align) static_assert(sizeof(T) == size && alignof(T) == align && \
    std::is_trivially_copyable<T>::value && std::is_trivially_default_constructible<T>::value, #T)
CHECK(char1, 1, 1); CHECK(char2, 2, 2); CHECK(char3, 3, 1); CHECK(uchar4, 4, 4); CHECK(short3, 6, 2); CHECK(ushort4, 8, 8);
CHECK(int2, 8, 8); CHECK(int3, 12, 4); CHECK(uint4, 16, 16); CHECK(float1, 4, 4); CHECK(float2, 8, 8); CHECK(float3, 12, 4);
CHECK(float4, 16, 16); CHECK(long2, 16, 16); CHECK(longlong2, 16, 16); CHECK(double2, 16, 16); CHECK(double3, 24, 8);
CHECK(double4, 32, 16); CHECK(__half, 2, 2); CHECK(__half2, 4, 4); CHECK(__nv_bfloat16, 2, 2); CHECK(__nv_bfloat162, 4, 4);
__device__ float4 partial = {1.0f};
__device__ float4 table[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ void overloaded(float4); __device__ void overloaded(double);
__device__ void call() { overloaded(1.0f); int i = min(3, threadIdx.x); float f = fmaxf(i, max(1.0f, 2.0f)); printf("%f", f); }
)",
                                                                {"-fsyntax-only", "-Wall", "-Wextra"});
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
}

// Code that CUDA rejects must not compile here: a candidate would pass and then fail on the GPU.
TEST(SimulatorHeaders, WhatIsNoCudaDoesNotCompile) {
  for (const char* source : {"void f() { float4 v = 1.0f; }", "void f(float4 v) { v.q = 1; }",
                             "void f() { __half h = make_float2(1, 2); }", "void f() { __shfl_sync(1); }"}) {
    EXPECT_FALSE(
        testing::RunHostCompiler("#include \"hone_cuda.h\"\n" + std::string(source), {"-fsyntax-only", "-w"}).ok())
        << source;
  }
}

}  // namespace
}  // namespace hone
