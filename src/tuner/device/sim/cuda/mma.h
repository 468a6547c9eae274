// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements nvcuda::wmma for the simulated GPU: fragments of half, bfloat16, tf32, 8-bit integers and double.
//
// CUDA does not say which lane holds which element, so here lane l holds elements [l * E, (l + 1) * E) of the matrix
// in its storage order (accumulators: row-major): loads and stores are whole vectors, and the fragments of a warp,
// gathered, are the dense matrix. A candidate that relies on another distribution is not portable CUDA, and wrong.
#pragma once

#include "detail/mma.h"
#include "ptx_ops.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision
namespace experimental {}

// Rounds to the 19 bits that a tf32 product uses (ties away from zero).
HONE_SIM_INLINE float __float_to_tf32(float value) {
  return __uint_as_float(static_cast<unsigned>(hone_ptx::ToTf32Away(__float_as_uint(value))));
}

namespace detail {

// Storage type of an element, and the type in which its products are exact.
template <typename T>
struct Element {
  typedef T Stored;
  typedef double Wide;
};
template <>
struct Element<precision::tf32> {
  typedef float Stored;
  typedef double Wide;
};
template <>
struct Element<signed char> {
  typedef signed char Stored;
  typedef int Wide;
};
template <>
struct Element<unsigned char> {
  typedef unsigned char Stored;
  typedef int Wide;
};

HONE_SIM_HIDDEN_INLINE double FactorOf(__half v) { return hone_sim::HalfToFloat(v.__x); }
HONE_SIM_HIDDEN_INLINE double FactorOf(__nv_bfloat16 v) {
  return __builtin_bit_cast(float, static_cast<unsigned>(v.__x) << 16);
}
HONE_SIM_HIDDEN_INLINE double FactorOf(float v) {
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, v) & 0xffffe000u);
}
HONE_SIM_HIDDEN_INLINE int FactorOf(signed char v) { return v; }
HONE_SIM_HIDDEN_INLINE int FactorOf(unsigned char v) { return v; }
HONE_SIM_HIDDEN_INLINE double FactorOf(double v) { return v; }

HONE_SIM_HIDDEN_INLINE float Sum(float c, double s) { return hone_sim::Accumulate(c, s); }
HONE_SIM_HIDDEN_INLINE double Sum(double c, double s) { return c + s; }
HONE_SIM_HIDDEN_INLINE int Sum(int c, int s) { return hone_sim::Accumulate(c, s); }
HONE_SIM_HIDDEN_INLINE __half Sum(__half c, double s) {
  __half r;
  r.__x = hone_sim::Accumulate(c.__x, s);
  return r;
}

// Computes D = A B + C of a warp. Lane l holds elements [l * E, (l + 1) * E) of each matrix in storage order, so the
// lanes one after another are the dense matrices.
//   mine  hone_sim::Factors<A, B, C>     out  this lane's elements of D
template <int kM, int kN, int kK, bool kARows, bool kBRows, typename Wide, typename A, typename B, typename C,
          typename D>
HONE_SIM_HIDDEN void Multiply(const void* const* mine, void* const* out) {
  constexpr int kOfA = kM * kK / 32, kOfB = kK * kN / 32, kOfC = kM * kN / 32;
  Wide a[kM * kK], b[kK * kN], sums[kM * kN];
  for (int lane = 0; lane < 32; ++lane) {
    const hone_sim::Factors<A, B, C>& f = *static_cast<const hone_sim::Factors<A, B, C>*>(mine[lane]);
    for (int i = 0; i < kOfA; ++i) {
      const int e = lane * kOfA + i;
      a[kARows ? e : e % kM * kK + e / kM] = FactorOf(f.a[i]);
    }
    for (int i = 0; i < kOfB; ++i) {
      const int e = lane * kOfB + i;
      b[kBRows ? e : e % kK * kN + e / kK] = FactorOf(f.b[i]);
    }
  }
  hone_sim::DenseProduct<kM, kN, kK>(a, b, sums);
  for (int lane = 0; lane < 32; ++lane) {
    const C* c = static_cast<const hone_sim::Factors<A, B, C>*>(mine[lane])->c;
    D* d = static_cast<D*>(out[lane]);
    for (int i = 0; i < kOfC; ++i) d[i] = Sum(static_cast<D>(c[i]), sums[lane * kOfC + i]);
  }
}

template <typename T>
struct IsRows {
  static constexpr bool kValue = false;
};
template <>
struct IsRows<row_major> {
  static constexpr bool kValue = true;
};

// Copies this lane's kCount elements, beginning at element lane * kCount of a matrix of `kLine`-long lines that are
// `stride` elements apart, in accesses as wide as the hardware's. T is the element's storage type.
template <int kCount, int kLine, typename T>
HONE_SIM_INLINE void LoadLines(T* to, const T* from, unsigned stride) {
  constexpr int kRun = kCount < kLine ? kCount : kLine;
  constexpr int kVector = kRun * static_cast<int>(sizeof(T)) < 16 ? kRun : 16 / static_cast<int>(sizeof(T));
  typedef hone_ptx::Pack<T, kVector> Vector;
  const unsigned first = hone_sim::Index<HONE_SIM_LANE>() * kCount;
#pragma GCC unroll 8
  for (int i = 0; i < kCount; i += kVector) {
    const unsigned e = first + static_cast<unsigned>(i);
    const Vector v = *reinterpret_cast<const Vector*>(from + static_cast<size_t>(e / kLine) * stride + e % kLine);
    __builtin_memcpy(to + i, &v, sizeof(Vector));
  }
}
template <int kCount, int kLine, typename T>
HONE_SIM_INLINE void StoreLines(T* to, const T* from, unsigned stride) {
  constexpr int kRun = kCount < kLine ? kCount : kLine;
  constexpr int kVector = kRun * static_cast<int>(sizeof(T)) < 16 ? kRun : 16 / static_cast<int>(sizeof(T));
  typedef hone_ptx::Pack<T, kVector> Vector;
  const unsigned first = hone_sim::Index<HONE_SIM_LANE>() * kCount;
#pragma GCC unroll 8
  for (int i = 0; i < kCount; i += kVector) {
    const unsigned e = first + static_cast<unsigned>(i);
    Vector v;
    __builtin_memcpy(&v, from + i, sizeof(Vector));
    *reinterpret_cast<Vector*>(to + static_cast<size_t>(e / kLine) * stride + e % kLine) = v;
  }
}

}  // namespace detail

// Shapes: (m, n, k) = (16, 16, 16), (32, 8, 16), (8, 32, 16); tf32 (16, 16, 8); double (8, 8, 4).
template <typename Use, int m, int n, int k, typename T, typename Layout = void>
class fragment;

#define HONE_SIM_FRAGMENT(USE, ROWS, COLUMNS, LAYOUT_PARAMETER, LAYOUT) \
  template <int m, int n, int k, typename T LAYOUT_PARAMETER>           \
  class fragment<USE, m, n, k, T, LAYOUT> {                             \
   public:                                                              \
    typedef typename detail::Element<T>::Stored storage_element_type;   \
    typedef storage_element_type element_type;                          \
    static constexpr int num_elements = ROWS * COLUMNS / 32;            \
    static constexpr int num_storage_elements = num_elements;           \
    storage_element_type x[num_elements];                               \
  };
#define HONE_SIM_COMMA ,
HONE_SIM_FRAGMENT(matrix_a, m, k, HONE_SIM_COMMA typename Layout, Layout)
HONE_SIM_FRAGMENT(matrix_b, k, n, HONE_SIM_COMMA typename Layout, Layout)
HONE_SIM_FRAGMENT(accumulator, m, n, , void)
#undef HONE_SIM_FRAGMENT
#undef HONE_SIM_COMMA

template <typename Use, int m, int n, int k, typename T, typename Layout>
HONE_SIM_INLINE void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                                   const typename hone_sim::Same<typename detail::Element<T>::Stored>::Type& value) {
#pragma GCC unroll 16
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

template <int m, int n, int k, typename T, typename Layout>
HONE_SIM_INLINE void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout>& f,
                                      const typename detail::Element<T>::Stored* from, unsigned stride) {
  detail::LoadLines<f.num_elements, (detail::IsRows<Layout>::kValue ? k : m)>(f.x, from, stride);
}
template <int m, int n, int k, typename T, typename Layout>
HONE_SIM_INLINE void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout>& f,
                                      const typename detail::Element<T>::Stored* from, unsigned stride) {
  detail::LoadLines<f.num_elements, (detail::IsRows<Layout>::kValue ? n : k)>(f.x, from, stride);
}
template <int m, int n, int k, typename T>
HONE_SIM_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned stride,
                                      layout_t layout) {
  if (layout == mem_row_major) {
    detail::LoadLines<f.num_elements, n>(f.x, from, stride);
    return;
  }
  const unsigned first = hone_sim::Index<HONE_SIM_LANE>() * f.num_elements;
  for (int i = 0; i < f.num_elements; ++i) {
    const unsigned e = first + static_cast<unsigned>(i);
    f.x[i] = from[static_cast<size_t>(e % n) * stride + e / n];
  }
}
template <int m, int n, int k, typename T>
HONE_SIM_INLINE void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned stride,
                                       layout_t layout) {
  if (layout == mem_row_major) {
    detail::StoreLines<f.num_elements, n>(to, f.x, stride);
    return;
  }
  const unsigned first = hone_sim::Index<HONE_SIM_LANE>() * f.num_elements;
  for (int i = 0; i < f.num_elements; ++i) {
    const unsigned e = first + static_cast<unsigned>(i);
    to[static_cast<size_t>(e % n) * stride + e / n] = f.x[i];
  }
}

template <int m, int n, int k, typename TA, typename TB, typename LA, typename LB, typename TC, typename TD>
HONE_SIM_INLINE void mma_sync(fragment<accumulator, m, n, k, TD>& d, const fragment<matrix_a, m, n, k, TA, LA>& a,
                              const fragment<matrix_b, m, n, k, TB, LB>& b, const fragment<accumulator, m, n, k, TC>& c,
                              bool saturate = false) {
  typedef typename detail::Element<TA>::Wide Wide;
  typedef typename detail::Element<TA>::Stored StoredA;
  typedef typename detail::Element<TB>::Stored StoredB;
  if (saturate) hone_sim_unsupported("wmma with saturation to the finite range is not emulated by the simulated GPU");
  const hone_sim::Factors<StoredA, StoredB, TC> factors = {a.x, b.x, c.x};
  hone_sim::Together(0x200000u + m * 4096u + n * 64u + k, &factors, d.x,
                     detail::Multiply<m, n, k, detail::IsRows<LA>::kValue, detail::IsRows<LB>::kValue, Wide, StoredA,
                                      StoredB, TC, TD>);
  if (hone_sim::Index<HONE_SIM_LANE>() == 0) hone_sim_count_mma(static_cast<uint64_t>(m) * n * k);
}

}  // namespace wmma
}  // namespace nvcuda
