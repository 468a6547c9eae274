// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CuTe's layout algebra, cheaper to compile where a layout consists of constants. CuTe computes with types: each step
// over a mode instantiates a dozen functions, which are then emitted and inlined away. Here a layout of constants becomes
// an array of numbers, constexpr functions compute on that, and one instantiation turns the outcome back into a type.
// Structure (tilers, slices, zipped tiles) is computed on types alone. Layouts with run-time extents or strides, or
// with strides that are basis vectors, match none of these overloads and go CuTe's way.
//
// The rules are CuTe's own, those of 4.2, down to which outcome is a tuple and which a bare constant: every type must be
// the one that CuTe alone computes. cute_ladder_test.cc compares them, and the machine code of a whole kernel.
#pragma once
#include "hone/cute_fast_tuple.cuh"
#include <cute/layout.hpp>

namespace cute {

template <class Shape, class Stride>
struct is_tuple<Layout<Shape, Stride>> : false_type {};
template <class Shape, class Stride>
struct is_integral<Layout<Shape, Stride>> : false_type {};
template <class Shape, class Stride>
struct is_static<Layout<Shape, Stride>> : bool_constant<__is_empty(Layout<Shape, Stride>)> {};

namespace hone_fast {

// ---- Numbers ---------------------------------------------------------------------------------------------------

constexpr int kMostModes = 32;

// A flat layout of `count` modes. A negative count is an error, which Count reports. If source[i] is not 0, mode i's
// stride is stride[i] times a number known at run time, the layout's stride number source[i] - 1
// (cute_fast_strides.cuh).
struct Modes {
  int count = 0;
  int shape[kMostModes] = {};
  int stride[kMostModes] = {};
  int source[kMostModes] = {};
  CUTE_HOST_DEVICE constexpr void Append(int extent, int step, int from = 0) {
    shape[count] = extent;
    stride[count] = step;
    source[count] = from;
    ++count;
  }
  CUTE_HOST_DEVICE static constexpr Modes Wrong(int what) {
    Modes modes;
    modes.count = what;
    return modes;
  }
};
constexpr int kStrideIndivisible = -1, kShapeIndivisible = -2, kNotInjective = -3;

CUTE_HOST_DEVICE constexpr int Abs(int x) { return x < 0 ? -x : x; }
CUTE_HOST_DEVICE constexpr int Sign(int x) { return x < 0 ? -1 : x > 0; }
CUTE_HOST_DEVICE constexpr int CeilDiv(int a, int b) { return (a + b - 1) / b; }

// Computes coalesce(). `keep_outside`: also keeps the layout's values beyond its last mode, as composition needs before
// it composes.
CUTE_HOST_DEVICE constexpr Modes Coalesced(Modes const& in, bool keep_outside) {
  Modes back;  // the result in reverse order, the last mode first
  const int last = in.count - 1;
  back.Append(keep_outside && in.shape[last] == 1 ? 2 : in.shape[last], in.stride[last], in.source[last]);
  for (int i = last - 1; i >= 0; --i) {
    const int top = back.count - 1;
    if (in.shape[i] == 1) continue;
    if (top == 0 && back.shape[0] == 1) {
      back.count = 0;
      back.Append(in.shape[i], in.stride[i], in.source[i]);
    } else if (in.source[i] == 0 && back.source[top] == 0 && in.shape[i] * in.stride[i] == back.stride[top]) {
      back.shape[top] *= in.shape[i];
      back.stride[top] = in.stride[i];
    } else {
      back.Append(in.shape[i], in.stride[i], in.source[i]);
    }
  }
  Modes out;
  if (back.count == 1 && back.shape[0] == 1) {
    out.Append(1, 0);
    return out;
  }
  for (int i = back.count - 1; i >= 0; --i) out.Append(back.shape[i], back.stride[i], back.source[i]);
  return out;
}

// Computes the composition of `left`, which is coalesced, with one mode of the right-hand side.
CUTE_HOST_DEVICE constexpr Modes Composed(Modes const& left, int extent, int step) {
  Modes out;
  if (step == 0) {
    out.Append(extent, 0);
    return out;
  }
  for (int i = 0; i < left.count - 1; ++i) {
    const int shape = left.shape[i];
    if (step % shape != 0 && step >= shape) return Modes::Wrong(kStrideIndivisible);
    const int next_shape = CeilDiv(shape, Abs(step));
    const int next_step = CeilDiv(Abs(step), shape) * Sign(step);
    if (next_shape != 1 && extent != 1) {
      const int part = next_shape < extent ? next_shape : extent;
      if (extent % part != 0) return Modes::Wrong(kShapeIndivisible);
      out.Append(part, step * left.stride[i], left.source[i]);
      extent /= part;
    }
    step = next_step;
  }
  const int last = left.count - 1;
  if (out.count == 0 || extent != 1) out.Append(extent, step * left.stride[last], left.source[last]);
  return out;
}

// Computes complement(). The shape of `target` is to be filled. `target_is_tuple`: CuTe's result for a tuple of one
// extent differs from that for a bare extent.
CUTE_HOST_DEVICE constexpr Modes Complemented(Modes in, Modes const& target, bool target_is_tuple) {
  for (int i = 0; i < in.count; ++i) {
    if (in.stride[i] == 0) in.shape[i] = 1;
  }
  in = Coalesced(in, false);
  Modes out;
  int product = 1;
  if (in.count == 1 && in.stride[0] == 0) {
    for (int i = 0; i < target.count; ++i) product *= target.shape[i];
    out.Append(product, product == 1 ? 0 : 1);
    return out;
  }
  int end = 1;  // first index that is not covered so far
  bool taken[kMostModes] = {};
  for (int i = 0; i < in.count; ++i) {
    int least = -1;
    for (int j = 0; j < in.count; ++j) {
      if (!taken[j] && (least < 0 || in.stride[j] < in.stride[least])) least = j;
    }
    taken[least] = true;
    if (in.stride[least] / end == 0) return Modes::Wrong(kNotInjective);
    out.Append(in.stride[least] / end, end);
    end = in.stride[least] * in.shape[least];
  }
  int rest = end;
  for (int i = 0; i < target.count; ++i) {
    product *= CeilDiv(target.shape[i], rest);
    if (target_is_tuple) rest = CeilDiv(rest, target.shape[i]);
  }
  out.Append(product, product == 1 ? 0 : end);
  return Coalesced(out, false);
}

// Computes right_inverse().
CUTE_HOST_DEVICE constexpr Modes RightInverted(Modes const& layout) {
  const Modes in = Coalesced(layout, false);
  int before[kMostModes] = {}, order[kMostModes] = {};
  int product = 1;
  for (int i = 0; i < in.count; ++i) {
    before[i] = product;
    product *= in.shape[i];
    order[i] = i;
  }
  for (int i = 0; i < in.count; ++i) {  // sorts as CuTe does, because the order of equal strides affects the result
    for (int j = i + 1; j < in.count; ++j) {
      if (in.stride[order[j]] < in.stride[order[i]]) {
        const int other = order[i];
        order[i] = order[j];
        order[j] = other;
      }
    }
  }
  Modes out;
  out.Append(1, 0);
  int next = 1;
  for (int i = 0; i < in.count; ++i) {
    const int k = order[i];
    if (in.stride[k] != next) continue;
    out.Append(in.shape[k], before[k]);
    next = in.shape[k] * in.stride[k];
  }
  return Coalesced(out, false);
}

// ---- From types to numbers and back ------------------------------------------------------------------------------

// Ints<T> turns a type of constants into numbers: whether T is a constant or a flat tuple of constants, and how many it
// has. Members are enumerators, because a static data member would be a global variable in the machine code.
template <class T>
struct Ints {
  enum : int { flat = 0, bare = 0, count = 0 };
};
template <int v>
struct Ints<C<v>> {
  enum : int { flat = 1, bare = 1, count = 1 };
  CUTE_HOST_DEVICE static constexpr void Put(int*& to) { *to++ = v; }
};
template <class... T>
struct Ints<tuple<T...>> {
  enum : int { flat = 0, bare = 0, count = (Ints<T>::count + ... + 0) };
  CUTE_HOST_DEVICE static constexpr void Put(int*& to) { (Ints<T>::Put(to), ...); }
};
template <int... v>
struct Ints<tuple<C<v>...>> {
  enum : int { flat = sizeof...(v) < kMostModes, bare = 0, count = int(sizeof...(v)) };
  CUTE_HOST_DEVICE static constexpr void Put(int*& to) { ((*to++ = v), ...); }
};

// AreConstants::value says whether shape and stride consist of int constants and are congruent.
template <class Shape, class Stride>
struct AreConstants {
  enum : bool { value = false };
};
template <int s, int d>
struct AreConstants<C<s>, C<d>> {
  enum : bool { value = true };
};
template <bool same_rank, class Shape, class Stride>
struct AreConstantModes {
  enum : bool { value = false };
};
template <class... S, class... D>
struct AreConstantModes<true, tuple<S...>, tuple<D...>> {
  enum : bool { value = (AreConstants<S, D>::value && ...) };
};
template <class S, class... Ss, class D, class... Ds>
struct AreConstants<tuple<S, Ss...>, tuple<D, Ds...>>
    : AreConstantModes<sizeof...(Ss) == sizeof...(Ds), tuple<S, Ss...>, tuple<D, Ds...>> {};
template <class Shape, class Stride>
struct Fixed {
  enum : bool { value = AreConstants<Shape, Stride>::value && int(Ints<Shape>::count) < kMostModes - 2 };
  CUTE_HOST_DEVICE static constexpr Modes Get() {
    Modes modes;
    modes.count = Ints<Shape>::count;
    int* to = modes.shape;
    Ints<Shape>::Put(to);
    to = modes.stride;
    Ints<Stride>::Put(to);
    return modes;
  }
};
template <class Shape, class Stride>
using IfFixed = enable_if_t<Fixed<Shape, Stride>::value, int>;

// Mode stands for a layout's two types, and Tag for one type, in calls that are never evaluated. Functions take them
// apart by deduction and not by a member type's name: the compiler keeps such names for its messages, nested in each
// other, and a message of megabytes takes it minutes.
template <class Shape, class Stride>
struct Mode {};
template <class T>
struct Tag {};

template <class Of, int... I>
CUTE_HOST_DEVICE constexpr auto ModeOf(seq<I...>) {
  constexpr Modes modes = Of::Get();
  if constexpr (sizeof...(I) == 1) {
    return Mode<C<modes.shape[0]>, C<modes.stride[0]>>{};
  } else {
    return Mode<tuple<C<modes.shape[I]>...>, tuple<C<modes.stride[I]>...>>{};
  }
}
// Count::value is the number of modes. For a negative count, an assertion fails with CuTe's message for that error.
template <int count>
struct Count {
  static_assert(count != kStrideIndivisible, "composition: Stride Divisibility Condition");
  static_assert(count != kShapeIndivisible, "composition: Shape Divisibility Condition");
  static_assert(count != kNotInjective, "Non-injective Layout detected in complement.");
  enum : int { value = count < 0 ? 1 : count };
};
// Returns the Mode for the numbers that Of::Get() returns.
template <class Of>
CUTE_HOST_DEVICE constexpr auto FromNumbers() {
  return ModeOf<Of>(make_seq<Count<Of::Get().count>::value>{});
}

}  // namespace hone_fast
}  // namespace cute
