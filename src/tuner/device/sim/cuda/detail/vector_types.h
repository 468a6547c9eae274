// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines CUDA's built-in vector types (char1 to double4, dim3) and their make_ functions.
//
// Sizes and alignments are CUDA's. The simulator depends on two properties:
//   * Copying a vector is a single access of its whole size: a float4 is one 16-byte load, so that requests, sectors
//     and misalignment are judged as on a GPU. This needs -fno-tree-sra, which the simulator's compiler passes, and
//     constructors instead of aggregate initialisation, because `p[i] = float4{a, b, c, d}` would otherwise be four
//     4-byte stores.
//   * Vectors are trivially copyable and trivially default-constructible, so that they work in unions, in `__shared__`
//     arrays and under memcpy.
// headers_test.cc tests both.
#pragma once

#include "qualifiers.h"

namespace hone_sim {

// `float4 v = {0.f}` is legal CUDA; `float4 v = 0.f` is not. A braced element reaches a vector through this type,
// which takes the one user-defined conversion that an unbraced number would need a second one for.
template <typename T>
struct Braced {
  T value;
  constexpr Braced(T v) : value(v) {}
};

}  // namespace hone_sim

#define HONE_SIM_VECTOR_TYPES(T, NAME, A1, A2, A3, A4)                                              \
  struct alignas(A1) NAME##1 {                                                                      \
    T x;                                                                                            \
    NAME##1() = default;                                                                            \
    HONE_SIM_INLINE constexpr NAME##1(hone_sim::Braced<T> a) : x(a.value) {}                        \
  };                                                                                                \
  struct alignas(A2) NAME##2 {                                                                      \
    T x, y;                                                                                         \
    NAME##2() = default;                                                                            \
    HONE_SIM_INLINE constexpr NAME##2(hone_sim::Braced<T> a) : x(a.value), y(0) {}                  \
    HONE_SIM_INLINE constexpr NAME##2(T a, T b) : x(a), y(b) {}                                     \
  };                                                                                                \
  struct alignas(A3) NAME##3 {                                                                      \
    T x, y, z;                                                                                      \
    NAME##3() = default;                                                                            \
    HONE_SIM_INLINE constexpr NAME##3(hone_sim::Braced<T> a) : x(a.value), y(0), z(0) {}            \
    HONE_SIM_INLINE constexpr NAME##3(T a, T b, T c = 0) : x(a), y(b), z(c) {}                      \
  };                                                                                                \
  struct alignas(A4) NAME##4 {                                                                      \
    T x, y, z, w;                                                                                   \
    NAME##4() = default;                                                                            \
    HONE_SIM_INLINE constexpr NAME##4(hone_sim::Braced<T> a) : x(a.value), y(0), z(0), w(0) {}      \
    HONE_SIM_INLINE constexpr NAME##4(T a, T b, T c = 0, T d = 0) : x(a), y(b), z(c), w(d) {}       \
  };                                                                                                \
  HONE_SIM_INLINE constexpr NAME##1 make_##NAME##1(T x) { return NAME##1(hone_sim::Braced<T>(x)); } \
  HONE_SIM_INLINE constexpr NAME##2 make_##NAME##2(T x, T y) { return NAME##2(x, y); }              \
  HONE_SIM_INLINE constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3(x, y, z); }      \
  HONE_SIM_INLINE constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4(x, y, z, w); }

HONE_SIM_VECTOR_TYPES(signed char, char, 1, 2, 1, 4)
HONE_SIM_VECTOR_TYPES(unsigned char, uchar, 1, 2, 1, 4)
HONE_SIM_VECTOR_TYPES(short, short, 2, 4, 2, 8)
HONE_SIM_VECTOR_TYPES(unsigned short, ushort, 2, 4, 2, 8)
HONE_SIM_VECTOR_TYPES(int, int, 4, 8, 4, 16)
HONE_SIM_VECTOR_TYPES(unsigned int, uint, 4, 8, 4, 16)
HONE_SIM_VECTOR_TYPES(long, long, 8, 16, 8, 16)
HONE_SIM_VECTOR_TYPES(unsigned long, ulong, 8, 16, 8, 16)
HONE_SIM_VECTOR_TYPES(long long, longlong, 8, 16, 8, 16)
HONE_SIM_VECTOR_TYPES(unsigned long long, ulonglong, 8, 16, 8, 16)
HONE_SIM_VECTOR_TYPES(float, float, 4, 8, 4, 16)
HONE_SIM_VECTOR_TYPES(double, double, 8, 16, 8, 16)
#undef HONE_SIM_VECTOR_TYPES

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3(x, y, z); }
};
