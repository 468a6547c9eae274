// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/host_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <tuple>
#include <vector>

#include "tuner/device/host_tensor_ops.h"

namespace hone {
namespace {

struct Matrices {
  std::vector<uint8_t> a, b, bias, out;
};

double At(DType dtype, const std::vector<uint8_t>& memory, int64_t element) {
  return host::ReadElement(dtype, memory.data() + element * DTypeBytes(dtype));
}

std::vector<uint8_t> Numbers(DType dtype, int64_t count, int seed) {
  std::vector<uint8_t> memory(static_cast<size_t>(count * DTypeBytes(dtype)));
  for (int64_t i = 0; i < count; ++i) {
    host::WriteElement(dtype, memory.data() + i * DTypeBytes(dtype), std::sin(static_cast<double>(i * 7 + seed)));
  }
  return memory;
}

// Compares each element with the sum in double precision.
void Check(const ResolvedCall& call, bool with_bias, int threads, double tolerance) {
  Matrices x{Numbers(call.dtype, call.batch * call.m * call.k, 1), Numbers(call.dtype, call.batch * call.k * call.n, 2),
             Numbers(call.dtype, call.n, 3), Numbers(call.dtype, call.batch * call.m * call.n, 4)};
  host::Matmul(call, x.a.data(), x.b.data(), with_bias ? x.bias.data() : nullptr, x.out.data(), threads);
  double worst = 0;
  for (int64_t batch = 0; batch < call.batch; ++batch) {
    for (int64_t i = 0; i < call.m; ++i) {
      for (int64_t j = 0; j < call.n; ++j) {
        double sum = with_bias ? At(call.dtype, x.bias, j) : 0;
        for (int64_t t = 0; t < call.k; ++t) {
          sum += At(call.dtype, x.a, (batch * call.m * call.k) + (call.transpose_a ? t * call.m + i : i * call.k + t)) *
                 At(call.dtype, x.b, (batch * call.k * call.n) + (call.transpose_b ? j * call.k + t : t * call.n + j));
        }
        if (call.epilogue == "relu") sum = std::max(sum, 0.0);
        if (call.epilogue == "gelu_tanh")
          sum = 0.5 * sum * (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum)));
        const double computed = At(call.dtype, x.out, (batch * call.m + i) * call.n + j);
        worst = std::max(worst, std::abs(computed - sum) / std::max(1.0, std::abs(sum)));
      }
    }
  }
  EXPECT_LT(worst, tolerance);
}

TEST(HostMatmul, GivesWhatTheSumsAreForEveryLayoutAndDtype) {
  for (const auto& [dtype, tolerance] :
       {std::pair(DType::kFloat32, 1e-5), std::pair(DType::kFloat16, 6e-4), std::pair(DType::kBFloat16, 5e-3)}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        ResolvedCall call{.m = 9,
                            .n = 35,
                            .k = 300,
                            .batch = 2,
                            .transpose_a = transpose_a,
                            .transpose_b = transpose_b,
                            .dtype = dtype};
        Check(call, transpose_a, 1, tolerance);
      }
    }
  }
}

TEST(HostMatmul, EpiloguesComeAfterTheBias) {
  for (const char* epilogue : {"none", "relu", "gelu_tanh"}) {
    ResolvedCall call{.m = 5, .n = 17, .k = 8};
    call.epilogue = epilogue;
    Check(call, true, 1, 1e-6);
  }
  ResolvedCall one{.m = 1, .n = 1, .k = 1};
  Check(one, false, 1, 1e-6);
}

TEST(HostMatmul, GivesTheSameBitsOnAnyNumberOfThreads) {
  ResolvedCall call{.m = 300, .n = 300, .k = 2000, .transpose_b = true};
  const std::vector<uint8_t> a = Numbers(call.dtype, call.m * call.k, 1), b = Numbers(call.dtype, call.n * call.k, 2);
  std::vector<float> alone(static_cast<size_t>(call.m * call.n)), shared(alone.size());
  host::Matmul(call, a.data(), b.data(), nullptr, alone.data(), 1);
  host::Matmul(call, a.data(), b.data(), nullptr, shared.data(), 3);
  EXPECT_EQ(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(float)), 0);
}

TEST(HostMatmul, ReluKeepsANan) {
  ResolvedCall call{.m = 1, .n = 2, .k = 1};
  call.epilogue = "relu";
  const float a = 1, b[2] = {NAN, -1};
  float out[2] = {5, 5};
  host::Matmul(call, &a, b, nullptr, out, 1);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 0);
}

}  // namespace
}  // namespace hone
