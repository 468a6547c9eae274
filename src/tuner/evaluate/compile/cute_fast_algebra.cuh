// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds overloads of CuTe's layout algebra for layouts of constants. cute_fast_layout.cuh computes their
// results in numbers, mode by mode if a tiler asks for that. Each overload is a more specialised form of CuTe's
// function of that name, and gives the same type.
#pragma once
#include "hone/cute_fast_structure.cuh"

namespace cute {
namespace hone_fast {

// ---- Composition, complement, division -----------------------------------------------------------------------------

template <class Shape, class Stride, bool keep_outside>
struct CoalesceOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() { return Coalesced(Fixed<Shape, Stride>::Get(), keep_outside); }
};
template <class LeftShape, class LeftStride, int extent, int step>
struct ComposeOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() { return Composed(Fixed<LeftShape, LeftStride>::Get(), extent, step); }
};
template <class Shape, class Stride, class Target>
struct ComplementOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() {
    Modes target;
    target.count = Ints<Target>::count;
    int* to = target.shape;
    Ints<Target>::Put(to);
    return Complemented(Fixed<Shape, Stride>::Get(), target, !Ints<Target>::bare);
  }
};
template <class Shape, class Stride>
struct RightInverseOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() { return RightInverted(Fixed<Shape, Stride>::Get()); }
};

template <class Shape, class Stride>
CUTE_HOST_DEVICE constexpr auto Coalesce(Mode<Shape, Stride>) {
  return FromNumbers<CoalesceOf<Shape, Stride, false>>();
}

template <class... S, class... D>
CUTE_HOST_DEVICE constexpr Mode<tuple<S...>, tuple<D...>> Join(Mode<S, D>...) {
  return {};
}

// Composes a coalesced left-hand side with each mode of the right-hand side. The result has the right-hand side's
// structure.
template <class LeftShape, class LeftStride, int s, int d>
CUTE_HOST_DEVICE constexpr auto ComposeTree(Mode<LeftShape, LeftStride>, Mode<C<s>, C<d>>) {
  return FromNumbers<ComposeOf<LeftShape, LeftStride, s, d>>();
}
template <class LeftShape, class LeftStride, class... S, class... D>
CUTE_HOST_DEVICE constexpr auto ComposeTree(Mode<LeftShape, LeftStride> left, Mode<tuple<S...>, tuple<D...>>) {
  return Join(ComposeTree(left, Mode<S, D>{})...);
}
template <class LeftShape, class LeftStride, class Right>
CUTE_HOST_DEVICE constexpr auto Compose(Mode<LeftShape, LeftStride>, Right right) {
  return ComposeTree(FromNumbers<CoalesceOf<LeftShape, LeftStride, true>>(), right);
}

template <class Shape, class Stride, class TargetShape, class TargetStride>
CUTE_HOST_DEVICE constexpr auto ComplementIn(Mode<Shape, Stride>, Mode<TargetShape, TargetStride>) {
  return FromNumbers<ComplementOf<Shape, Stride, TargetShape>>();
}

// FixedTiler<T>::value says whether every part of the tiler T is known at compile time: constants, layouts of
// constants, underscores, and tuples of them.
template <class T>
struct FixedTiler {
  enum : bool { value = false };
};
template <int v>
struct FixedTiler<C<v>> {
  enum : bool { value = true };
};
template <>
struct FixedTiler<Underscore> {
  enum : bool { value = true };
};
template <class Shape, class Stride>
struct FixedTiler<Layout<Shape, Stride>> : Fixed<Shape, Stride> {};
template <class... T>
struct FixedTiler<tuple<T...>> {
  enum : bool { value = (FixedTiler<T>::value && ...) };
};

// ByMode applies a tuple of tiles to a layout mode by mode; `Per` applies one tile to one mode. A bare mode counts as a
// tuple of one. Modes beyond the tiles stay as they are if Per::keep_rest is true, and are left out otherwise.
template <class... S, class... D, class... S2, class... D2>
CUTE_HOST_DEVICE constexpr Mode<tuple<S..., S2...>, tuple<D..., D2...>> Append(Mode<tuple<S...>, tuple<D...>>,
                                                                              Mode<tuple<S2...>, tuple<D2...>>) {
  return {};
}
template <class Per, class Shape, class Stride>
CUTE_HOST_DEVICE constexpr auto ByMode(Per, Mode<Shape, Stride> rest, Tag<tuple<>>) {
  if constexpr (Per::keep_rest) {
    return rest;
  } else {
    return Mode<tuple<>, tuple<>>{};
  }
}
template <class Per, class... S, class... D, class T, class... Ts>
CUTE_HOST_DEVICE constexpr auto ByMode(Per per, Mode<tuple<S...>, tuple<D...>> mode, Tag<tuple<T, Ts...>> tiles);
template <class Per, class S, class... Ss, class D, class... Ds, class T, class... Ts>
CUTE_HOST_DEVICE constexpr auto ByModeFirst(Per per, Mode<tuple<S, Ss...>, tuple<D, Ds...>>, Tag<tuple<T, Ts...>>) {
  return Append(Join(per(Mode<S, D>{}, Tag<T>{})), ByMode(per, Mode<tuple<Ss...>, tuple<Ds...>>{}, Tag<tuple<Ts...>>{}));
}
template <class Per, class... S, class... D, class... T>
CUTE_HOST_DEVICE constexpr auto ByModeEach(Per per, Mode<tuple<S...>, tuple<D...>>, Tag<tuple<T...>>) {
  return Join(per(Mode<S, D>{}, Tag<T>{})...);
}
template <class Per, class... S, class... D, class T, class... Ts>
CUTE_HOST_DEVICE constexpr auto ByMode(Per per, Mode<tuple<S...>, tuple<D...>> mode, Tag<tuple<T, Ts...>> tiles) {
  static_assert(sizeof...(Ts) < sizeof...(S), "Too many modes in tiler.");
  if constexpr (sizeof...(Ts) + 1 == sizeof...(S)) {
    return ByModeEach(per, mode, tiles);
  } else {
    return ByModeFirst(per, mode, tiles);
  }
}
template <class Per, int s, int d, class T, class... Ts>
CUTE_HOST_DEVICE constexpr auto ByMode(Per per, Mode<C<s>, C<d>>, Tag<tuple<T, Ts...>> tiles) {
  return ByMode(per, Mode<tuple<C<s>>, tuple<C<d>>>{}, tiles);
}

struct ComposeTile {
  enum : bool { keep_rest = false };
  template <class M>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<Underscore>) const {
    return mode;
  }
  template <class M, int v>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<C<v>>) const {
    return Compose(mode, Mode<C<v>, C<1>>{});
  }
  template <class M, class S, class D>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<Layout<S, D>>) const {
    return Compose(mode, Mode<S, D>{});
  }
  template <class M, class... T>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<tuple<T...>> tiles) const {
    return ByMode(*this, mode, tiles);
  }
};

struct DivideTile {
  enum : bool { keep_rest = true };
  template <class M>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<Underscore>) const {
    return mode;
  }
  template <class M, int v>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<C<v>>) const {
    return (*this)(mode, Tag<Layout<C<v>, C<int(v != 1)>>>{});
  }
  template <class M, class S, class D>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<Layout<S, D>>) const {
    return Compose(mode, Join(Mode<S, D>{}, ComplementIn(Mode<S, D>{}, Coalesce(mode))));
  }
  template <class M, class... T>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<tuple<T...>> tiles) const {
    return ByMode(*this, mode, tiles);
  }
};

struct CoalesceBy {
  enum : bool { keep_rest = true };
  template <class M, class P>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<P>) const {
    return Coalesce(mode);
  }
  template <class M, class... P>
  CUTE_HOST_DEVICE constexpr auto operator()(M mode, Tag<tuple<P...>> profile) const {
    return ByMode(*this, mode, profile);
  }
};

template <class Shape, class Stride, class Tile>
CUTE_HOST_DEVICE constexpr auto ZippedDivide(Mode<Shape, Stride>, Tag<Tile> tile) {
  return Result(Unzip{}(Tag<Shape>{}, tile), Unzip{}(Tag<Stride>{}, tile));
}

}  // namespace hone_fast

// ---- The overloads -------------------------------------------------------------------------------------------------

template <class S, class... Ss, class D, class... Ds,
          enable_if_t<__is_empty(tuple<S, Ss...>) && __is_empty(tuple<D, Ds...>), int> = 0>
CUTE_HOST_DEVICE constexpr auto make_layout(tuple<S, Ss...> const&, tuple<D, Ds...> const&) {
  return hone_fast::Make<Layout<tuple<S, Ss...>, tuple<D, Ds...>>>();
}
template <auto s, auto d>
CUTE_HOST_DEVICE constexpr auto make_layout(C<s> const&, C<d> const&) {
  return hone_fast::Make<Layout<C<s>, C<d>>>();
}

template <class S, class... Ss, class D, class... Ds, hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto coalesce(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::Coalesce(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{})))>();
}
template <class S, class... Ss, class D, class... Ds, class P, class... Ps,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto coalesce(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<P, Ps...> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::CoalesceBy{}(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{}, hone_fast::Tag<tuple<P, Ps...>>{})))>();
}

template <class S, class... Ss, class D, class... Ds, class RightS, class RightD,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0, hone_fast::IfFixed<RightS, RightD> = 0>
CUTE_HOST_DEVICE constexpr auto composition(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, Layout<RightS, RightD> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::Compose(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{}, hone_fast::Mode<RightS, RightD>{})))>();
}
template <int s, int d, class S, class... Ss, class D, class... Ds, hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto composition(Layout<C<s>, C<d>> const&, Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::Compose(hone_fast::Mode<C<s>, C<d>>{}, hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{})))>();
}
template <class S, class... Ss, class D, class... Ds, class T, class... Ts,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0,
          enable_if_t<hone_fast::FixedTiler<tuple<T, Ts...>>::value, int> = 0>
CUTE_HOST_DEVICE constexpr auto composition(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<T, Ts...> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::ComposeTile{}(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{}, hone_fast::Tag<tuple<T, Ts...>>{})))>();
}

template <class S, class... Ss, class D, class... Ds, class Target,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0, enable_if_t<bool(hone_fast::Ints<Target>::flat), int> = 0>
CUTE_HOST_DEVICE constexpr auto complement(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, Target const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::FromNumbers<hone_fast::ComplementOf<tuple<S, Ss...>, tuple<D, Ds...>, Target>>()))>();
}
template <int s, int d, class Target, enable_if_t<bool(hone_fast::Ints<Target>::flat), int> = 0>
CUTE_HOST_DEVICE constexpr auto complement(Layout<C<s>, C<d>> const&, Target const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::FromNumbers<hone_fast::ComplementOf<C<s>, C<d>, Target>>()))>();
}

template <class S, class... Ss, class D, class... Ds, hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto right_inverse(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::FromNumbers<hone_fast::RightInverseOf<tuple<S, Ss...>, tuple<D, Ds...>>>()))>();
}

template <class S, class... Ss, class D, class... Ds, class TileS, class TileD,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0, hone_fast::IfFixed<TileS, TileD> = 0>
CUTE_HOST_DEVICE constexpr auto logical_divide(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, Layout<TileS, TileD> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::DivideTile{}(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{}, hone_fast::Tag<Layout<TileS, TileD>>{})))>();
}
template <class S, class... Ss, class D, class... Ds, class T, class... Ts,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0,
          enable_if_t<hone_fast::FixedTiler<tuple<T, Ts...>>::value, int> = 0>
CUTE_HOST_DEVICE constexpr auto logical_divide(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<T, Ts...> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::DivideTile{}(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{}, hone_fast::Tag<tuple<T, Ts...>>{})))>();
}
template <class S, class... Ss, class D, class... Ds, class T, class... Ts,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0,
          enable_if_t<hone_fast::FixedTiler<tuple<T, Ts...>>::value, int> = 0>
CUTE_HOST_DEVICE constexpr auto zipped_divide(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<T, Ts...> const&) {
  return hone_fast::Make<decltype(hone_fast::ZippedDivide(
      hone_fast::DivideTile{}(hone_fast::Mode<tuple<S, Ss...>, tuple<D, Ds...>>{}, hone_fast::Tag<tuple<T, Ts...>>{}), hone_fast::Tag<tuple<T, Ts...>>{}))>();
}

}  // namespace cute
