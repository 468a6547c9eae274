// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares a warp's collective operations with plain loops: mma.sync and ldmatrix through rewritten PTX with PTX's
// documented fragment layouts, wmma, cooperative groups.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "tuner/device/sim/cuda/test_host_runtime.h"

namespace hone {
namespace {

const char kDeviceCode[] = R"CUDA(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
extern "C" {
// a, b: this lane's registers; c, d: its accumulators. Arrays are [32][registers].
void mma_f16(const unsigned* a, const unsigned* b, const float* c, float* d) {
  const unsigned lane = threadIdx.x;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
    : "=f"(d[lane * 4]), "=f"(d[lane * 4 + 1]), "=f"(d[lane * 4 + 2]), "=f"(d[lane * 4 + 3])
    : "r"(a[lane * 4]), "r"(a[lane * 4 + 1]), "r"(a[lane * 4 + 2]), "r"(a[lane * 4 + 3]), "r"(b[lane * 2]), "r"(b[lane * 2 + 1]),
      "f"(c[lane * 4]), "f"(c[lane * 4 + 1]), "f"(c[lane * 4 + 2]), "f"(c[lane * 4 + 3]));
}
void mma_bf16(const unsigned* a, const unsigned* b, const float* c, float* d) {
  const unsigned lane = threadIdx.x;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
    : "=f"(d[lane * 4]), "=f"(d[lane * 4 + 1]), "=f"(d[lane * 4 + 2]), "=f"(d[lane * 4 + 3])
    : "r"(a[lane * 2]), "r"(a[lane * 2 + 1]), "r"(b[lane]),
      "f"(c[lane * 4]), "f"(c[lane * 4 + 1]), "f"(c[lane * 4 + 2]), "f"(c[lane * 4 + 3]));
}
void mma_tf32(const unsigned* a, const unsigned* b, const float* c, float* d) {
  const unsigned lane = threadIdx.x;
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
    : "=f"(d[lane * 4]), "=f"(d[lane * 4 + 1]), "=f"(d[lane * 4 + 2]), "=f"(d[lane * 4 + 3])
    : "r"(a[lane * 4]), "r"(a[lane * 4 + 1]), "r"(a[lane * 4 + 2]), "r"(a[lane * 4 + 3]), "r"(b[lane * 2]), "r"(b[lane * 2 + 1]),
      "f"(c[lane * 4]), "f"(c[lane * 4 + 1]), "f"(c[lane * 4 + 2]), "f"(c[lane * 4 + 3]));
}
void mma_s8(const unsigned* a, const unsigned* b, const int* c, int* d) {
  const unsigned lane = threadIdx.x;
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
    : "=r"(d[lane * 4]), "=r"(d[lane * 4 + 1]), "=r"(d[lane * 4 + 2]), "=r"(d[lane * 4 + 3])
    : "r"(a[lane * 4]), "r"(a[lane * 4 + 1]), "r"(a[lane * 4 + 2]), "r"(a[lane * 4 + 3]), "r"(b[lane * 2]), "r"(b[lane * 2 + 1]),
      "r"(c[lane * 4]), "r"(c[lane * 4 + 1]), "r"(c[lane * 4 + 2]), "r"(c[lane * 4 + 3]));
}
void mma_f64(const double* a, const double* b, const double* c, double* d) {
  const unsigned lane = threadIdx.x;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
    : "=d"(d[lane * 2]), "=d"(d[lane * 2 + 1]) : "d"(a[lane]), "d"(b[lane]), "d"(c[lane * 2]), "d"(c[lane * 2 + 1]));
}
void mma_half_sum(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* d) {
  const unsigned lane = threadIdx.x;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
    : "=r"(d[lane * 2]), "=r"(d[lane * 2 + 1])
    : "r"(a[lane * 4]), "r"(a[lane * 4 + 1]), "r"(a[lane * 4 + 2]), "r"(a[lane * 4 + 3]), "r"(b[lane * 2]), "r"(b[lane * 2 + 1]),
      "r"(c[lane * 2]), "r"(c[lane * 2 + 1]));
}
void ldmatrix(unsigned* r, unsigned* transposed, unsigned* two) {
  const unsigned lane = threadIdx.x, address = lane * 16;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(r[lane * 4]), "=r"(r[lane * 4 + 1]), "=r"(r[lane * 4 + 2]), "=r"(r[lane * 4 + 3]) : "r"(address));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(transposed[lane * 4]), "=r"(transposed[lane * 4 + 1]), "=r"(transposed[lane * 4 + 2]), "=r"(transposed[lane * 4 + 3]) : "r"(address));
  // Addresses of lanes 16 to 31 are not used and may be anything.
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];\n" : "=r"(two[lane * 2]), "=r"(two[lane * 2 + 1]) : "r"(lane < 16 ? address : 0x7ffffff0u));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};\n" :: "r"(1024 + address), "r"(r[lane * 4]), "r"(r[lane * 4 + 1]), "r"(r[lane * 4 + 2]), "r"(r[lane * 4 + 3]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};\n" :: "r"(2048 + address), "r"(transposed[lane * 4]), "r"(transposed[lane * 4 + 1]), "r"(transposed[lane * 4 + 2]), "r"(transposed[lane * 4 + 3]));
}
}  // extern "C"

template <int m, int n, int k, typename T, typename LA, typename LB, typename C>
__device__ void Wmma(const typename wmma::fragment<wmma::matrix_a, m, n, k, T, LA>::element_type* a,
                     const typename wmma::fragment<wmma::matrix_b, m, n, k, T, LB>::element_type* b, const C* c, C* d, wmma::layout_t layout) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, LA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, C> fc;
  wmma::load_matrix_sync(fa, a, std::is_same<LA, wmma::row_major>::value ? k : m);
  wmma::load_matrix_sync(fb, b, std::is_same<LB, wmma::row_major>::value ? n : k);
  wmma::load_matrix_sync(fc, c, layout == wmma::mem_row_major ? n : m, layout);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * static_cast<C>(2.0f);  // element-wise work is legal
  wmma::store_matrix_sync(d, fc, layout == wmma::mem_row_major ? n : m, layout);
}
extern "C" {
void wmma_rr(const __half* a, const __half* b, const float* c, float* d) { Wmma<16, 16, 16, __half, wmma::row_major, wmma::row_major, float>(a, b, c, d, wmma::mem_row_major); }
void wmma_rc(const __half* a, const __half* b, const float* c, float* d) { Wmma<16, 16, 16, __half, wmma::row_major, wmma::col_major, float>(a, b, c, d, wmma::mem_col_major); }
void wmma_cr(const __half* a, const __half* b, const float* c, float* d) { Wmma<32, 8, 16, __half, wmma::col_major, wmma::row_major, float>(a, b, c, d, wmma::mem_row_major); }
void wmma_cc(const __half* a, const __half* b, const float* c, float* d) { Wmma<8, 32, 16, __half, wmma::col_major, wmma::col_major, float>(a, b, c, d, wmma::mem_row_major); }
void wmma_tf32(const float* a, const float* b, const float* c, float* d) { Wmma<16, 16, 8, wmma::precision::tf32, wmma::row_major, wmma::col_major, float>(a, b, c, d, wmma::mem_row_major); }
void wmma_half(const __half* a, const __half* b, const __half* c, __half* d) { Wmma<16, 16, 16, __half, wmma::row_major, wmma::row_major, __half>(a, b, c, d, wmma::mem_row_major); }
void groups(int* out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(warp);
  const int rank = static_cast<int>(block.thread_rank());
  int* mine = out + rank * 8;
  mine[0] = cg::reduce(warp, rank, cg::plus<int>());
  mine[1] = cg::reduce(tile, rank, cg::greater<int>());
  mine[2] = cg::inclusive_scan(tile, 1 + rank);
  mine[3] = cg::exclusive_scan(warp, 1);
  mine[4] = tile.shfl_down(rank, 2);
  mine[5] = static_cast<int>(tile.ballot(rank % 3 == 0));
  mine[6] = static_cast<int>(tile.meta_group_rank() * 100 + tile.thread_rank());
  mine[7] = static_cast<int>(warp.shfl(make_float4(rank, rank + 1, rank + 2, rank + 3), 5).w);
}
}
)CUDA";

class Warp : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto compiled = testing::DeviceCode::Compile("#include <type_traits>\n" + std::string(kDeviceCode));
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    code_ = compiled->release();
  }
  static void TearDownTestSuite() { delete code_; }
  template <typename F>
  F* Get(const char* name) {
    return code_->Function<F>(name);
  }
  static testing::DeviceCode* code_;
};
testing::DeviceCode* Warp::code_ = nullptr;

// Returns small integers and eighths: exact in every format, with sums exact in float.
std::vector<float> SmallValues(size_t count, unsigned seed, bool integers = false) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 33) - 16) * (integers ? 1.0f : 0.125f);
  return values;
}
unsigned short HalfBits(float v) { return __builtin_bit_cast(unsigned short, static_cast<_Float16>(v)); }
float FromHalf(unsigned short b) { return static_cast<float>(__builtin_bit_cast(_Float16, b)); }
unsigned short Bf16Bits(float v) { return static_cast<unsigned short>(__builtin_bit_cast(unsigned, v) >> 16); }

// Returns dense C + A B; A [m, k], B [k, n], C [m, n], row-major.
std::vector<float> Reference(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                             int m, int n, int k) {
  std::vector<float> d(c);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l)
        d[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
    }
  }
  return d;
}

// The PTX manual's layouts for m16n8kK with `pack` elements to a 32-bit register, written out element by element:
// groupID = lane / 4, threadID = lane % 4.
struct Place {
  int row, column;
};
Place PlaceInA(int lane, int element, int pack) {
  const int group = lane / 4, thread = lane % 4, reg = element / pack, i = element % pack;
  return {group + (reg % 2) * 8, thread * pack + i + (reg / 2) * 4 * pack};
}
Place PlaceInB(int lane, int element, int pack) {
  const int group = lane / 4, thread = lane % 4, reg = element / pack, i = element % pack;
  return {thread * pack + i + reg * 4 * pack, group};
}
Place PlaceInC(int lane, int element) { return {lane / 4 + (element / 2) * 8, (lane % 4) * 2 + element % 2}; }

TEST_F(Warp, MmaMultipliesInEveryFormat) {
  struct Case {
    const char* function;
    int k, pack;
    std::function<unsigned(float)> bits;
    bool integers;
  };
  const Case cases[] = {
      {"mma_f16", 16, 2, HalfBits, false},
      {"mma_bf16", 8, 2, Bf16Bits, false},
      {"mma_tf32", 8, 1, [](float v) { return __builtin_bit_cast(unsigned, v); }, false},
      {"mma_s8", 32, 4, [](float v) { return static_cast<unsigned>(static_cast<int>(v)) & 0xffu; }, true}};
  for (const Case& t : cases) {
    const auto a = SmallValues(static_cast<size_t>(16 * t.k), 1, t.integers),
               b = SmallValues(static_cast<size_t>(8 * t.k), 2, t.integers);
    const auto c = SmallValues(16 * 8, 3, t.integers);
    const int a_registers = t.k / (2 * t.pack), b_registers = t.k / (4 * t.pack);
    std::vector<unsigned> ra(static_cast<size_t>(32 * a_registers)), rb(static_cast<size_t>(32 * b_registers)), rc(128),
        rd(128);
    const int width = 32 / t.pack;
    for (int lane = 0; lane < 32; ++lane) {
      for (int e = 0; e < a_registers * t.pack; ++e) {
        const Place p = PlaceInA(lane, e, t.pack);
        ra[static_cast<size_t>(lane * a_registers + e / t.pack)] |=
            t.bits(a[static_cast<size_t>(p.row * t.k + p.column)]) << (e % t.pack * width % 32);
      }
      for (int e = 0; e < b_registers * t.pack; ++e) {
        const Place p = PlaceInB(lane, e, t.pack);
        rb[static_cast<size_t>(lane * b_registers + e / t.pack)] |= t.bits(b[static_cast<size_t>(p.row * 8 + p.column)])
                                                                    << (e % t.pack * width % 32);
      }
      for (int e = 0; e < 4; ++e) {
        const Place p = PlaceInC(lane, e);
        const float v = c[static_cast<size_t>(p.row * 8 + p.column)];
        rc[static_cast<size_t>(lane * 4 + e)] =
            t.integers ? static_cast<unsigned>(static_cast<int>(v)) : __builtin_bit_cast(unsigned, v);
      }
    }
    const uint64_t counted = testing::CountedMultiplyAdds();
    auto* mma = Get<void(const unsigned*, const unsigned*, const unsigned*, unsigned*)>(t.function);
    testing::RunWarp([&] { mma(ra.data(), rb.data(), rc.data(), rd.data()); });
    EXPECT_EQ(testing::CountedMultiplyAdds() - counted, static_cast<uint64_t>(16 * 8 * t.k));
    const auto expected = Reference(a, b, c, 16, 8, t.k);
    for (int lane = 0; lane < 32; ++lane) {
      for (int e = 0; e < 4; ++e) {
        const Place p = PlaceInC(lane, e);
        const unsigned bits = rd[static_cast<size_t>(lane * 4 + e)];
        const float actual = t.integers ? static_cast<float>(static_cast<int>(bits)) : __builtin_bit_cast(float, bits);
        ASSERT_EQ(actual, expected[static_cast<size_t>(p.row * 8 + p.column)])
            << t.function << " lane " << lane << " element " << e;
      }
    }
  }
}

TEST_F(Warp, MmaInDoubleAndIntoHalf) {
  const auto a = SmallValues(8 * 4, 4), b = SmallValues(4 * 8, 5), c = SmallValues(64, 6);
  std::vector<double> ra(32), rb(32), rc(64), rd(64);
  for (size_t lane = 0; lane < 32; ++lane) {
    ra[lane] = a[lane / 4 * 4 + lane % 4];
    rb[lane] = b[lane % 4 * 8 + lane / 4];
    for (size_t e = 0; e < 2; ++e) rc[lane * 2 + e] = c[lane / 4 * 8 + lane % 4 * 2 + e];
  }
  testing::RunWarp([&] {
    Get<void(const double*, const double*, const double*, double*)>("mma_f64")(ra.data(), rb.data(), rc.data(),
                                                                               rd.data());
  });
  const auto expected = Reference(a, b, c, 8, 8, 4);
  for (size_t lane = 0; lane < 32; ++lane) {
    for (size_t e = 0; e < 2; ++e) ASSERT_EQ(rd[lane * 2 + e], expected[lane / 4 * 8 + lane % 4 * 2 + e]);
  }

  const auto ah = SmallValues(256, 7), bh = SmallValues(128, 8), ch = SmallValues(128, 9);
  std::vector<unsigned> ua(128), ub(64), uc(64), ud(64);
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < 8; ++e) {
      const Place p = PlaceInA(lane, e, 2);
      ua[static_cast<size_t>(lane * 4 + e / 2)] |=
          static_cast<unsigned>(HalfBits(ah[static_cast<size_t>(p.row * 16 + p.column)])) << (16 * (e % 2));
    }
    for (int e = 0; e < 4; ++e) {
      const Place p = PlaceInB(lane, e, 2), q = PlaceInC(lane, e);
      ub[static_cast<size_t>(lane * 2 + e / 2)] |=
          static_cast<unsigned>(HalfBits(bh[static_cast<size_t>(p.row * 8 + p.column)])) << (16 * (e % 2));
      uc[static_cast<size_t>(lane * 2 + e / 2)] |=
          static_cast<unsigned>(HalfBits(ch[static_cast<size_t>(q.row * 8 + q.column)])) << (16 * (e % 2));
    }
  }
  testing::RunWarp([&] {
    Get<void(const unsigned*, const unsigned*, const unsigned*, unsigned*)>("mma_half_sum")(ua.data(), ub.data(),
                                                                                            uc.data(), ud.data());
  });
  const auto exact = Reference(ah, bh, ch, 16, 8, 16);
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < 4; ++e) {
      const Place p = PlaceInC(lane, e);
      const unsigned short bits =
          static_cast<unsigned short>(ud[static_cast<size_t>(lane * 2 + e / 2)] >> (16 * (e % 2)));
      ASSERT_EQ(FromHalf(bits), FromHalf(HalfBits(exact[static_cast<size_t>(p.row * 8 + p.column)])));
    }
  }
}

// Tensor cores truncate: 1 + 2^-24 + 2^-24 exactly is above 1 and below 1 + 2^-23, and stays 1; its negation stays -1.
// TF32 inputs lose everything beyond 10 fraction bits.
TEST_F(Warp, MmaTruncatesAsTensorCoresDo) {
  std::vector<unsigned> a(128, 0), b(64, 0);
  std::vector<float> c(128, 1.0f), d(128);
  for (size_t lane = 0; lane < 32; ++lane) {
    a[lane * 4] = HalfBits(std::ldexp(1.0f, -12));  // A[row < 8][even column of the first 8]
    b[lane * 2] = HalfBits(std::ldexp(0.75f, -13));
  }
  auto* mma = Get<void(const unsigned*, const unsigned*, const float*, float*)>("mma_f16");
  testing::RunWarp([&] { mma(a.data(), b.data(), c.data(), d.data()); });
  // Four products of 0.75 * 2^-25: 1.5 * 2^-24 to nearest would be 1 + 2^-23.
  EXPECT_EQ(d[0], 1.0f);
  std::vector<unsigned> ta(128, 0), tb(64, 0);
  for (size_t lane = 0; lane < 32; ++lane) {
    if (lane % 4 == 0) {
      ta[lane * 4] = __builtin_bit_cast(unsigned, std::nextafter(1.0f, 2.0f));
      tb[lane * 2] = __builtin_bit_cast(unsigned, 1.0f + std::ldexp(1.0f, -10));
    }
  }
  std::fill(c.begin(), c.end(), 0.0f);
  testing::RunWarp([&] {
    Get<void(const unsigned*, const unsigned*, const float*, float*)>("mma_tf32")(ta.data(), tb.data(), c.data(),
                                                                                  d.data());
  });
  EXPECT_EQ(d[0], 1.0f + std::ldexp(1.0f, -10));
}

TEST_F(Warp, LdmatrixGivesRowsAndColumnsAndStmatrixPutsThemBack) {
  // Four 8 x 8 matrices, row r of matrix m at 16 * (8 m + r); element value 1000 m + 10 r + c.
  auto* shared = reinterpret_cast<unsigned short*>(testing::SharedMemory());
  auto value = [](int m, int r, int c) { return static_cast<unsigned short>(1000 * m + 10 * r + c); };
  for (int m = 0; m < 4; ++m) {
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 8; ++c) shared[(8 * m + r) * 8 + c] = value(m, r, c);
    }
  }
  std::vector<unsigned> rows(128), columns(128), two(64);
  testing::RunWarp(
      [&] { Get<void(unsigned*, unsigned*, unsigned*)>("ldmatrix")(rows.data(), columns.data(), two.data()); });
  for (int lane = 0; lane < 32; ++lane) {
    for (int m = 0; m < 4; ++m) {
      const int major = lane / 4, minor = 2 * (lane % 4);
      const unsigned r = rows[static_cast<size_t>(lane * 4 + m)], c = columns[static_cast<size_t>(lane * 4 + m)];
      ASSERT_EQ(r & 0xffffu, value(m, major, minor));
      ASSERT_EQ(r >> 16, value(m, major, minor + 1));
      ASSERT_EQ(c & 0xffffu, value(m, minor, major));
      ASSERT_EQ(c >> 16, value(m, minor + 1, major));
      if (m < 2) {
        ASSERT_EQ(two[static_cast<size_t>(lane * 2 + m)], r);
      }
    }
  }
  EXPECT_EQ(std::memcmp(testing::SharedMemory(), testing::SharedMemory() + 1024, 512), 0);
  EXPECT_EQ(std::memcmp(testing::SharedMemory(), testing::SharedMemory() + 2048, 512), 0);
}

TEST_F(Warp, WmmaInEveryShapeAndLayout) {
  struct Case {
    const char* function;
    int m, n, k;
    bool a_rows, b_rows, c_rows, tf32;
  };
  for (const Case& t :
       {Case{"wmma_rr", 16, 16, 16, true, true, true, false}, Case{"wmma_rc", 16, 16, 16, true, false, false, false},
        Case{"wmma_cr", 32, 8, 16, false, true, true, false}, Case{"wmma_cc", 8, 32, 16, false, false, true, false},
        Case{"wmma_tf32", 16, 16, 8, true, false, true, true}}) {
    const auto a = SmallValues(static_cast<size_t>(t.m * t.k), 10), b = SmallValues(static_cast<size_t>(t.k * t.n), 11);
    const auto c = SmallValues(static_cast<size_t>(t.m * t.n), 12);
    const auto expected = Reference(a, b, c, t.m, t.n, t.k);
    auto place = [](int i, int j, int rows, int columns, bool row_major) {
      return static_cast<size_t>(row_major ? i * columns + j : j * rows + i);
    };
    alignas(32) unsigned short ha[512], hb[512];
    alignas(32) float fa[512], fb[512], fc[512], fd[512];
    for (int i = 0; i < t.m; ++i) {
      for (int l = 0; l < t.k; ++l) {
        const size_t to = place(i, l, t.m, t.k, t.a_rows);
        fa[to] = a[static_cast<size_t>(i * t.k + l)];
        ha[to] = HalfBits(fa[to]);
      }
      for (int j = 0; j < t.n; ++j) fc[place(i, j, t.m, t.n, t.c_rows)] = c[static_cast<size_t>(i * t.n + j)];
    }
    for (int l = 0; l < t.k; ++l) {
      for (int j = 0; j < t.n; ++j) {
        const size_t to = place(l, j, t.k, t.n, t.b_rows);
        fb[to] = b[static_cast<size_t>(l * t.n + j)];
        hb[to] = HalfBits(fb[to]);
      }
    }
    auto* function = Get<void(const void*, const void*, const float*, float*)>(t.function);
    testing::RunWarp([&] {
      function(t.tf32 ? static_cast<const void*>(fa) : ha, t.tf32 ? static_cast<const void*>(fb) : hb, fc, fd);
    });
    for (int i = 0; i < t.m; ++i) {
      for (int j = 0; j < t.n; ++j) {
        ASSERT_EQ(fd[place(i, j, t.m, t.n, t.c_rows)], 2 * expected[static_cast<size_t>(i * t.n + j)])
            << t.function << " " << i << ", " << j;
      }
    }
  }
}

TEST_F(Warp, WmmaIntoHalfRoundsTheSum) {
  const auto a = SmallValues(256, 13), b = SmallValues(256, 14), c = SmallValues(256, 15);
  alignas(32) unsigned short ha[256], hb[256], hc[256], hd[256];
  for (size_t i = 0; i < 256; ++i) {
    ha[i] = HalfBits(a[i]);
    hb[i] = HalfBits(b[i]);
    hc[i] = HalfBits(c[i]);
  }
  testing::RunWarp([&] { Get<void(const void*, const void*, const void*, void*)>("wmma_half")(ha, hb, hc, hd); });
  const auto expected = Reference(a, b, c, 16, 16, 16);
  for (size_t i = 0; i < 256; ++i)
    ASSERT_EQ(FromHalf(hd[i]), FromHalf(HalfBits(2 * FromHalf(HalfBits(expected[i]))))) << i;
}

TEST_F(Warp, CooperativeGroups) {
  std::vector<int> out(32 * 8);
  testing::RunWarp([&] { Get<void(int*)>("groups")(out.data()); });
  for (int rank = 0; rank < 32; ++rank) {
    const int* mine = &out[static_cast<size_t>(rank * 8)];
    const int base = rank / 8 * 8, within = rank % 8;
    EXPECT_EQ(mine[0], 31 * 32 / 2);
    EXPECT_EQ(mine[1], base + 7);
    int scan = 0, ballot = 0;
    for (int i = 0; i <= within; ++i) scan += 1 + base + i;
    for (int i = 0; i < 8; ++i) ballot |= ((base + i) % 3 == 0) << i;
    EXPECT_EQ(mine[2], scan);
    EXPECT_EQ(mine[3], rank);
    EXPECT_EQ(mine[4], within + 2 < 8 ? rank + 2 : rank);
    EXPECT_EQ(mine[5], ballot);
    EXPECT_EQ(mine[6], rank / 8 * 100 + within);
    EXPECT_EQ(mine[7], 8);
  }
}

}  // namespace
}  // namespace hone
