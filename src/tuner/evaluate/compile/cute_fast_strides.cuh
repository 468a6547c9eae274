// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds overloads for tiles of a matrix in global memory: layouts whose extents are constants and of whose
// strides some are known only at run time. Structure and extents of the results of coalesce and composition are
// computed in numbers, as for layouts of constants. A stride of a result is a constant times one of the layout's own
// strides.
#pragma once
#include "hone/cute_fast_algebra.cuh"

namespace cute {
namespace hone_fast {

template <class T>
struct Strides {
  enum : int { known = 0, count = 0 };
};
template <int v>
struct Strides<C<v>> {
  enum : int { known = 1, count = 1 };
  CUTE_HOST_DEVICE static constexpr void Put(Modes& to, int& at) { to.stride[at++] = v; }
};
template <>
struct Strides<int> {
  enum : int { known = 1, count = 1 };
  CUTE_HOST_DEVICE static constexpr void Put(Modes& to, int& at) {
    to.stride[at] = 1;
    to.source[at] = at + 1;
    ++at;
  }
};
template <>
struct Strides<long> : Strides<int> {};
template <>
struct Strides<long long> : Strides<int> {};
template <class... T>
struct Strides<tuple<T...>> {
  enum : int { known = (Strides<T>::known & ... & 1), count = (Strides<T>::count + ... + 0) };
  CUTE_HOST_DEVICE static constexpr void Put(Modes& to, int& at) { (Strides<T>::Put(to, at), ...); }
};

// AreExtents::value says whether shape and stride are congruent, extents are constants, and strides are constants or
// built-in integers.
template <class Shape, class Stride>
struct AreExtents {
  enum : bool { value = false };
};
template <int s, class D>
struct AreExtents<C<s>, D> {
  enum : bool { value = Strides<D>::known != 0 };
};
template <int s, class... D>
struct AreExtents<C<s>, tuple<D...>> {
  enum : bool { value = false };
};
template <bool same_rank, class Shape, class Stride>
struct AreExtentModes {
  enum : bool { value = false };
};
template <class... S, class... D>
struct AreExtentModes<true, tuple<S...>, tuple<D...>> {
  enum : bool { value = (AreExtents<S, D>::value && ...) };
};
template <class S, class... Ss, class D, class... Ds>
struct AreExtents<tuple<S, Ss...>, tuple<D, Ds...>>
    : AreExtentModes<sizeof...(Ss) == sizeof...(Ds), tuple<S, Ss...>, tuple<D, Ds...>> {};

template <class Shape, class Stride>
struct Tile {
  enum : bool {
    value = !__is_empty(Stride) && AreExtents<Shape, Stride>::value && int(Ints<Shape>::count) < kMostModes - 2
  };
  CUTE_HOST_DEVICE static constexpr Modes Get() {
    Modes modes;
    modes.count = Ints<Shape>::count;
    int* to = modes.shape;
    Ints<Shape>::Put(to);
    int at = 0;
    Strides<Stride>::Put(modes, at);
    return modes;
  }
};
template <class Shape, class Stride>
using IfTile = enable_if_t<Tile<Shape, Stride>::value, int>;

template <class Shape, class Stride>
struct CoalesceTileOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() { return Coalesced(Tile<Shape, Stride>::Get(), false); }
};
template <class Shape, class Stride, int extent, int step>
struct ComposeTileOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() {
    return Composed(Coalesced(Tile<Shape, Stride>::Get(), true), extent, step);
  }
};

template <int factor, int source, class Flat>
CUTE_HOST_DEVICE constexpr auto StrideOf(Flat const& strides) {
  if constexpr (source == 0) {
    return C<factor>{};
  } else {
    return C<factor>{} * get<source - 1>(strides);
  }
}
// Returns the layout for the numbers that Of::Get() returns. `strides` is the flat tuple of the original layout's
// strides.
template <class Of, class Flat, int... I>
CUTE_HOST_DEVICE constexpr auto LayoutFrom(Flat const& strides, seq<I...>) {
  constexpr Modes modes = Of::Get();
  if constexpr (sizeof...(I) == 1) {
    return cute::make_layout(C<modes.shape[0]>{}, StrideOf<modes.stride[0], modes.source[0]>(strides));
  } else {
    return cute::make_layout(cute::make_tuple(C<modes.shape[I]>{}...),
                             cute::make_tuple(StrideOf<modes.stride[I], modes.source[I]>(strides)...));
  }
}
template <class Of, class Flat>
CUTE_HOST_DEVICE constexpr auto LayoutFrom(Flat const& strides) {
  return LayoutFrom<Of>(strides, make_seq<Count<Of::Get().count>::value>{});
}

template <class Shape, class Stride, class Flat, int s, int d>
CUTE_HOST_DEVICE constexpr auto ComposeStrides(Mode<Shape, Stride>, Flat const& strides, Mode<C<s>, C<d>>) {
  return LayoutFrom<ComposeTileOf<Shape, Stride, s, d>>(strides);
}
template <class Shape, class Stride, class Flat, class... S, class... D>
CUTE_HOST_DEVICE constexpr auto ComposeStrides(Mode<Shape, Stride> left, Flat const& strides,
                                               Mode<tuple<S...>, tuple<D...>>) {
  return cute::make_layout(ComposeStrides(left, strides, Mode<S, D>{})...);
}

}  // namespace hone_fast

template <class S, class... Ss, class D, class... Ds, hone_fast::IfTile<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto coalesce(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const& layout) {
  return hone_fast::LayoutFrom<hone_fast::CoalesceTileOf<tuple<S, Ss...>, tuple<D, Ds...>>>(flatten(layout.stride()));
}
template <class S, class... Ss, class D, class... Ds, class RightS, class RightD,
          hone_fast::IfTile<tuple<S, Ss...>, tuple<D, Ds...>> = 0, hone_fast::IfFixed<RightS, RightD> = 0>
CUTE_HOST_DEVICE constexpr auto composition(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const& left, Layout<RightS, RightD> const&) {
  return hone_fast::ComposeStrides(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{}, flatten(left.stride()),
                                   hone_fast::Mode<RightS, RightD>{});
}

}  // namespace cute
