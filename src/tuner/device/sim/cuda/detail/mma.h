// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements warp-wide matrix multiply-accumulate and the matrix loads for it.
//
// A warp's lanes meet (Together, inlined so that a divergent warp is reported at the candidate's line), and one
// function computes for all of them directly from their fragments. Products are exact and a group of them is added to
// the accumulator exactly, then truncated to float: tensor cores do not round to nearest (Fasi, Higham, Mikaitis,
// Pranesh 2021, "Numerical behavior of NVIDIA tensor cores"). A group is one k-extent of the instruction.
//
// The functions that compute are out of line and not instrumented: fragments are registers, not memory.
#pragma once

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "float8.h"
#include "half_common.h"

// Runtimes of older versions lack this function: null then.
extern "C" void hone_sim_warp_apply(uint32_t mask, uint32_t tag, const void* mine, void* out,
                                    hone_sim_warp_function apply) __attribute__((weak));

namespace hone_sim {

// Runs `apply` once for the whole warp, with every lane's `mine` and `out`. `tag` names the instruction; below 2^23.
HONE_SIM_INLINE void Together(uint32_t tag, const void* mine, void* out, hone_sim_warp_function apply) {
  if (hone_sim_warp_apply != nullptr) {
    hone_sim_warp_apply(0xffffffffu, tag, mine, out, apply);
    return;
  }
  // Lanes exchange the pointers, one lane does the work, and the others wait for it.
  const void* pair[2] = {mine, out};
  const void* all[64];
  hone_sim_warp_gather(0xffffffffu, tag, pair, sizeof(pair), all);
  if (hone_sim_index(HONE_SIM_LANE) == 0) {
    const void* from[32];
    void* to[32];
    for (int lane = 0; lane < 32; ++lane) {
      from[lane] = all[2 * lane];
      to[lane] = const_cast<void*>(all[2 * lane + 1]);
    }
    apply(from, to);
  }
  hone_sim_vote(HONE_SIM_VOTE_ANY, 0xffffffffu, 0);
}

// Element formats of fragments. kValue is what a matrix product multiplies.
struct F16 {};
struct Bf16 {};
struct Tf32 {};
struct F64 {};
struct S8 {};
struct U8 {};
struct E4m3 {};
struct E5m2 {};

// The conversion goes through float explicitly: half to double in one step would be a library call.
HONE_SIM_HIDDEN_INLINE float HalfToFloat(unsigned short bits) {
  float value = static_cast<float>(__builtin_bit_cast(_Float16, bits));
  asm("" : HONE_SIM_FLOAT_REGISTER(value));
  return value;
}

template <typename Format>
struct FormatTraits;
template <>
struct FormatTraits<F16> {
  static constexpr int kBytes = 2;
  typedef double Value;
  HONE_SIM_HIDDEN_INLINE static double Load(const unsigned char* p) {
    unsigned short bits;
    __builtin_memcpy(&bits, p, 2);
    return HalfToFloat(bits);
  }
};
template <>
struct FormatTraits<Bf16> {
  static constexpr int kBytes = 2;
  typedef double Value;
  HONE_SIM_HIDDEN_INLINE static double Load(const unsigned char* p) {
    unsigned short bits;
    __builtin_memcpy(&bits, p, 2);
    return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
  }
};
template <>
struct FormatTraits<Tf32> {
  static constexpr int kBytes = 4;
  typedef double Value;
  // The hardware reads 19 of the 32 bits: a candidate that forgets to convert loses the rest by truncation.
  HONE_SIM_HIDDEN_INLINE static double Load(const unsigned char* p) {
    unsigned bits;
    __builtin_memcpy(&bits, p, 4);
    return __builtin_bit_cast(float, bits & 0xffffe000u);
  }
};
template <>
struct FormatTraits<F64> {
  static constexpr int kBytes = 8;
  typedef double Value;
  HONE_SIM_HIDDEN_INLINE static double Load(const unsigned char* p) {
    double value;
    __builtin_memcpy(&value, p, 8);
    return value;
  }
};
template <>
struct FormatTraits<S8> {
  static constexpr int kBytes = 1;
  typedef int Value;
  HONE_SIM_HIDDEN_INLINE static int Load(const unsigned char* p) { return static_cast<signed char>(*p); }
};
template <>
struct FormatTraits<U8> {
  static constexpr int kBytes = 1;
  typedef int Value;
  HONE_SIM_HIDDEN_INLINE static int Load(const unsigned char* p) { return *p; }
};

template <>
struct FormatTraits<E4m3> {
  static constexpr int kBytes = 1;
  typedef double Value;
  HONE_SIM_HIDDEN_INLINE static double Load(const unsigned char* p) { return Float8ToFloat<3>(*p); }
};
template <>
struct FormatTraits<E5m2> {
  static constexpr int kBytes = 1;
  typedef double Value;
  HONE_SIM_HIDDEN_INLINE static double Load(const unsigned char* p) { return Float8ToFloat<2>(*p); }
};

HONE_SIM_HIDDEN_INLINE float TruncateToFloat(double exact) {
  const float nearest = static_cast<float>(exact);
  if (__builtin_fabs(static_cast<double>(nearest)) <= __builtin_fabs(exact) || !(nearest - nearest == 0))
    return nearest;
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, nearest) - 1u);
}

// Returns the accumulator c plus the sum of one group of products.
HONE_SIM_HIDDEN_INLINE float Accumulate(float c, double sum) { return TruncateToFloat(static_cast<double>(c) + sum); }
HONE_SIM_HIDDEN_INLINE double Accumulate(double c, double sum) { return c + sum; }
HONE_SIM_HIDDEN_INLINE int Accumulate(int c, int sum) {
  return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(sum));
}
HONE_SIM_HIDDEN_INLINE unsigned short Accumulate(unsigned short c, double sum) {
  const double total = static_cast<double>(HalfToFloat(c)) + sum;
  // The sum is first rounded to odd in float, so that rounding to half is the only rounding.
  float odd = static_cast<float>(total);
  if (static_cast<double>(odd) != total && total == total) {
    unsigned bits = __builtin_bit_cast(unsigned, odd);
    if (__builtin_fabs(static_cast<double>(odd)) > __builtin_fabs(total)) --bits;
    odd = __builtin_bit_cast(float, bits | 1u);
  }
  return __builtin_bit_cast(unsigned short, static_cast<_Float16>(odd));
}

// Products of factors are exact in these types, and their sums exact enough. They hold four or eight values, because
// the simulator's compiler may not vectorise loops itself (that would change the accesses of candidates).
template <typename Wide>
struct LanesOf {};
template <>
struct LanesOf<double> {
  typedef double Type __attribute__((vector_size(32)));
};
template <>
struct LanesOf<int> {
  typedef int Type __attribute__((vector_size(32)));
};

// Computes sums [kM, kN] = a [kM, kK] times b [kK, kN], dense and row-major. Four running sums stay in registers: of
// one row if it is at least four vectors wide, else of several rows. (They are separate variables, because arrays would
// be in memory.)
template <int kM, int kN, int kK, typename Wide>
HONE_SIM_HIDDEN void DenseProduct(const Wide* a, const Wide* b, Wide* sums) {
  typedef typename LanesOf<Wide>::Type Lanes;
  typedef Wide Loose __attribute__((vector_size(32), aligned(sizeof(Wide)), may_alias));
  constexpr int kLanes = static_cast<int>(sizeof(Lanes) / sizeof(Wide)), kVectors = kN / kLanes;
  constexpr int kAcross = kVectors < 4 ? kVectors : 4, kRows = 4 / kAcross;
  static_assert(kVectors % kAcross == 0 && kM % kRows == 0, "a shape of whole blocks of four sums");
  for (int i = 0; i < kM; i += kRows) {
    for (int v = 0; v < kVectors; v += kAcross) {
      Lanes r0 = {}, r1 = {}, r2 = {}, r3 = {};
      for (int k = 0; k < kK; ++k) {
        const Wide* const row = b + k * kN + v * kLanes;
        r0 += a[i * kK + k] * *reinterpret_cast<const Loose*>(row);
        r1 += a[(i + 1 / kAcross) * kK + k] * *reinterpret_cast<const Loose*>(row + 1 % kAcross * kLanes);
        r2 += a[(i + 2 / kAcross) * kK + k] * *reinterpret_cast<const Loose*>(row + 2 % kAcross * kLanes);
        r3 += a[(i + 3 / kAcross) * kK + k] * *reinterpret_cast<const Loose*>(row + 3 % kAcross * kLanes);
      }
      Wide* const to = sums + i * kN + v * kLanes;
      *reinterpret_cast<Loose*>(to) = r0;
      *reinterpret_cast<Loose*>(to + 1 / kAcross * kN + 1 % kAcross * kLanes) = r1;
      *reinterpret_cast<Loose*>(to + 2 / kAcross * kN + 2 % kAcross * kLanes) = r2;
      *reinterpret_cast<Loose*>(to + 3 / kAcross * kN + 3 % kAcross * kLanes) = r3;
    }
  }
}

// A lane's input to a product: its registers of A and B and its accumulators.
template <typename A, typename B, typename C>
struct Factors {
  const A* a;
  const B* b;
  const C* c;
};

// Computes mma.sync of the shapes m16n8kK and m8n8kK, row.col. Registers are as PTX lays them out: lane = 4 * group +
// t; group g holds row g (and g + 8) of A and column g of B; along k each 32-bit register (64-bit for F64) holds
// consecutive elements, and registers step by 4 of them. C: row g, columns 2t and 2t + 1, then row g + 8.
//   kM 16 or 8, kK; FormatA, FormatB; C: float, double, int or unsigned short (bits of half).
//   mine  Factors<void, void, C>: kM * kK * bytes / 32 bytes of A, 8 * kK * bytes / 32 of B, kM / 4 elements of C
//   out   kM / 4 elements of C, which may be where they came from
template <int kM, int kK, typename FormatA, typename FormatB, typename C>
HONE_SIM_HIDDEN void MatrixMultiply(const void* const* mine, void* const* out) {
  typedef FormatTraits<FormatA> TraitsA;
  typedef FormatTraits<FormatB> TraitsB;
  typedef typename TraitsA::Value Value;
  constexpr int kBytes = TraitsA::kBytes;
  static_assert(kBytes == TraitsB::kBytes, "both operands have one width");
  constexpr int kRegister = kBytes == 8 ? 8 : 4;  // bytes of a register
  constexpr int kPack = kRegister / kBytes;       // elements in it
  constexpr int kRowHalves = kM / 8;              // rows g and g + 8
  constexpr int kSteps = kK / (4 * kPack);        // registers along k
  Value a[kM * kK], b[kK * 8], sums[kM * 8];
  for (int lane = 0; lane < 32; ++lane) {
    const Factors<void, void, C>& f = *static_cast<const Factors<void, void, C>*>(mine[lane]);
    const int g = lane >> 2, t = lane & 3;
    for (int step = 0; step < kSteps; ++step) {
      for (int i = 0; i < kPack; ++i) {
        const int k = (step * 4 + t) * kPack + i;
        for (int half = 0; half < kRowHalves; ++half) {
          a[(g + 8 * half) * kK + k] = TraitsA::Load(static_cast<const unsigned char*>(f.a) +
                                                     (step * kRowHalves + half) * kRegister + i * kBytes);
        }
        b[k * 8 + g] = TraitsB::Load(static_cast<const unsigned char*>(f.b) + step * kRegister + i * kBytes);
      }
    }
  }
  DenseProduct<kM, 8, kK>(a, b, sums);
  for (int lane = 0; lane < 32; ++lane) {
    const C* c = static_cast<const Factors<void, void, C>*>(mine[lane])->c;
    C* d = static_cast<C*>(out[lane]);
    for (int e = 0; e < kM / 4; ++e) {
      d[e] = Accumulate(c[e], sums[((lane >> 2) + 8 * (e >> 1)) * 8 + (lane & 3) * 2 + (e & 1)]);
    }
  }
}

// Distributes rows that have been read, as ldmatrix does: matrix m consists of the 16-byte rows of lanes 8m to 8m + 7;
// lane l receives row l / 4, elements 2 (l % 4) and the next, or with kTranspose the same of the transposed matrix.
//   mine  this lane's row, 16 bytes (anything where its address is not used)
//   out   kCount registers
template <int kCount, bool kTranspose>
HONE_SIM_HIDDEN void DistributeRows(const void* const* mine, void* const* out) {
  for (int lane = 0; lane < 32; ++lane) {
    const int major = lane >> 2, minor = 2 * (lane & 3);
    unsigned* result = static_cast<unsigned*>(out[lane]);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      unsigned short pair[2];
      for (int i = 0; i < 2; ++i) {
        const int row = kTranspose ? minor + i : major, column = kTranspose ? major : minor + i;
        __builtin_memcpy(&pair[i], static_cast<const char*>(mine[8 * matrix + row]) + 2 * column, 2);
      }
      result[matrix] = pair[0] | (static_cast<unsigned>(pair[1]) << 16);
    }
  }
}

// Does the reverse (stmatrix): from kCount registers of every lane to the row that each lane's address receives.
template <int kCount, bool kTranspose>
HONE_SIM_HIDDEN void CollectRows(const void* const* mine, void* const* out) {
  for (int lane = 0; lane < 8 * kCount; ++lane) {
    const int matrix = lane >> 3, r = lane & 7;
    unsigned short row[8];
    for (int c = 0; c < 8; ++c) {
      const int major = kTranspose ? c : r, minor = kTranspose ? r : c;
      row[c] = static_cast<unsigned short>(static_cast<const unsigned*>(mine[4 * major + minor / 2])[matrix] >>
                                           (16 * (minor & 1)));
    }
    __builtin_memcpy(out[lane], row, 16);
  }
}

}  // namespace hone_sim
