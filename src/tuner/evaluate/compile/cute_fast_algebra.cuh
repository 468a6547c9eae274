// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The overloads of CuTe's layout algebra that layouts of constants take: what cute_fast_layout.cuh computes in numbers,
// and, on types alone, tilers, slices and the rearrangement of tiles. Each is a more specialised form of the function of
// CuTe's that has its name, and gives the same type.
#pragma once
#include "hone/cute_fast_layout.cuh"

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

// A coalesced left-hand side with each mode of the right-hand side, whose structure the outcome has.
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

// Tilers of which every part is known: constants, layouts of constants, underscores, and tuples of them.
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

// A tuple of tiles goes over a layout mode by mode, as `Per` says for one; a bare mode counts as a tuple of one. Modes
// beyond the tiles stay as they are, or, where Per::keep_rest is false, are left out.
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

// ---- Structure -----------------------------------------------------------------------------------------------------

template <class... A>
CUTE_HOST_DEVICE constexpr Tag<tuple<A...>> Cat(Tag<tuple<A...>>) {
  return {};
}
template <class... A, class... B, class... Tuples>
CUTE_HOST_DEVICE constexpr auto Cat(Tag<tuple<A...>>, Tag<tuple<B...>>, Tuples... tuples) {
  return Cat(Tag<tuple<A..., B...>>{}, tuples...);
}

// The elements of B that stand where A has an underscore, as a tuple. What A may hold besides is CuTe's business.
struct Lift {
  template <class T>
  CUTE_HOST_DEVICE static constexpr Tag<T> TagOf(T const&) {
    return {};
  }
  template <class A, class B>
  CUTE_HOST_DEVICE constexpr auto operator()(Tag<A>, Tag<B>) const {
    if constexpr (is_std_integral<A>::value || is_static<A>::value) {
      return Tag<tuple<>>{};
    } else {
      return TagOf(detail::lift_slice(declval<A>(), declval<B>()));
    }
  }
  template <class B>
  CUTE_HOST_DEVICE constexpr Tag<tuple<B>> operator()(Tag<Underscore>, Tag<B>) const {
    return {};
  }
  template <class... A, class... B>
  CUTE_HOST_DEVICE constexpr auto operator()(Tag<tuple<A...>>, Tag<tuple<B...>>) const {
    return Cat(Tag<tuple<>>{}, (*this)(Tag<A>{}, Tag<B>{})...);
  }
};

// ((a, b), (c, d), e) by a guide of two terminals: (a, c) and (b, d, e).
template <class... X, class... Y, class... Rest>
CUTE_HOST_DEVICE constexpr Tag<tuple<tuple<X...>, tuple<Y..., Rest...>>> Regroup(Tag<tuple<Rest...>>, Tag<tuple<X, Y>>...) {
  return {};
}
struct Unzip {
  template <class T, class G>
  CUTE_HOST_DEVICE constexpr auto operator()(Tag<T> tag, Tag<G>) const {
    static_assert(tuple_size<T>::value == 2, "Mismatched ranks");
    return tag;
  }
  template <class... T, class... G>
  CUTE_HOST_DEVICE constexpr auto operator()(Tag<tuple<T...>> tag, Tag<tuple<G...>> guide) const {
    static_assert(sizeof...(T) >= sizeof...(G), "Mismatched ranks");
    if constexpr (sizeof...(T) == sizeof...(G)) {
      return Regroup(Tag<tuple<>>{}, (*this)(Tag<T>{}, Tag<G>{})...);
    } else {
      return Part(tag, guide, Tag<tuple<>>{}, Tag<tuple<>>{});
    }
  }
  // Longer than its guide: mode by mode.
  template <class T, class... Ts, class G, class... Gs, class... X, class... Y>
  CUTE_HOST_DEVICE constexpr auto Part(Tag<tuple<T, Ts...>>, Tag<tuple<G, Gs...>>, Tag<tuple<X...>> first,
                                       Tag<tuple<Y...>> second) const {
    return Part(Tag<tuple<Ts...>>{}, Tag<tuple<Gs...>>{}, (*this)(Tag<T>{}, Tag<G>{}), first, second);
  }
  template <class... Ts, class... Gs, class A, class B, class... X, class... Y>
  CUTE_HOST_DEVICE constexpr auto Part(Tag<tuple<Ts...>> rest, Tag<tuple<Gs...>> guide, Tag<tuple<A, B>>, Tag<tuple<X...>>,
                                       Tag<tuple<Y...>>) const {
    return Part(rest, guide, Tag<tuple<X..., A>>{}, Tag<tuple<Y..., B>>{});
  }
  template <class... T, class... X, class... Y>
  CUTE_HOST_DEVICE constexpr Tag<tuple<tuple<X...>, tuple<Y..., T...>>> Part(Tag<tuple<T...>>, Tag<tuple<>>,
                                                                             Tag<tuple<X...>>, Tag<tuple<Y...>>) const {
    return {};
  }
};

// ---- Results: an empty value of the type that an expression of tags stands for --------------------------------------

template <class T>
CUTE_HOST_DEVICE constexpr T Result(Tag<T>) {
  return Make<T>();
}
template <class Shape, class Stride>
CUTE_HOST_DEVICE constexpr Layout<Shape, Stride> Result(Mode<Shape, Stride>) {
  return Make<Layout<Shape, Stride>>();
}
template <class Shape, class Stride>
CUTE_HOST_DEVICE constexpr Layout<Shape, Stride> Result(Tag<Shape>, Tag<Stride>) {
  return Make<Layout<Shape, Stride>>();
}

// transform() and filter_tuple() without a lambda for what is done with the elements' results.
template <class... A, class F, int... I>
CUTE_HOST_DEVICE constexpr auto Transform(tuple<A...> const& a, F& f, seq<I...>) {
  return cute::make_tuple(f(get<I>(a))...);
}
template <class... A, class... B, class F, int... I>
CUTE_HOST_DEVICE constexpr auto Transform(tuple<A...> const& a, tuple<B...> const& b, F& f, seq<I...>) {
  return cute::make_tuple(f(get<I>(a), get<I>(b))...);
}
template <class... A, class F, int... I>
CUTE_HOST_DEVICE constexpr auto Filter(tuple<A...> const& a, F& f, seq<I...>) {
  return cute::tuple_cat(f(get<I>(a))...);
}
template <class... A, class... B, class F, int... I>
CUTE_HOST_DEVICE constexpr auto Filter(tuple<A...> const& a, tuple<B...> const& b, F& f, seq<I...>) {
  return cute::tuple_cat(f(get<I>(a), get<I>(b))...);
}

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

template <class A, class... As, class B, class... Bs,
          enable_if_t<sizeof...(As) == sizeof...(Bs) && __is_empty(tuple<B, Bs...>), int> = 0>
CUTE_HOST_DEVICE constexpr auto slice(tuple<A, As...> const&, tuple<B, Bs...> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::Lift{}(hone_fast::Tag<tuple<A, As...>>{}, hone_fast::Tag<tuple<B, Bs...>>{})))>();
}
template <class A, class... As, class S, class... Ss, class D, class... Ds,
          enable_if_t<sizeof...(As) == sizeof...(Ss) && sizeof...(As) == sizeof...(Ds) && __is_empty(tuple<S, Ss...>) &&
                          __is_empty(tuple<D, Ds...>), int> = 0>
CUTE_HOST_DEVICE constexpr auto slice(tuple<A, As...> const&, Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&) {
  using hone_fast::Tag;
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::Lift{}(Tag<tuple<A, As...>>{}, Tag<tuple<S, Ss...>>{}),
                                                    hone_fast::Lift{}(Tag<tuple<A, As...>>{}, Tag<tuple<D, Ds...>>{})))>();
}

template <class T, class... Ts, class G, class... Gs,
          enable_if_t<(sizeof...(Ts) >= sizeof...(Gs)) && __is_empty(tuple<T, Ts...>), int> = 0>
CUTE_HOST_DEVICE constexpr auto zip2_by(tuple<T, Ts...> const&, tuple<G, Gs...> const&) {
  return hone_fast::Make<decltype(hone_fast::Result(hone_fast::Unzip{}(hone_fast::Tag<tuple<T, Ts...>>{}, hone_fast::Tag<tuple<G, Gs...>>{})))>();
}
template <class... A, class... B, enable_if_t<sizeof...(A) == sizeof...(B) && __is_empty(tuple<tuple<A...>, tuple<B...>>), int> = 0>
CUTE_HOST_DEVICE constexpr auto zip(tuple<tuple<A...>, tuple<B...>> const&) {
  return hone_fast::Make<tuple<tuple<A, B>...>>();
}

template <class... A, class F>
CUTE_HOST_DEVICE constexpr auto transform(tuple<A...> const& a, F&& f) {
  return hone_fast::Transform(a, f, make_seq<sizeof...(A)>{});
}
template <class... A, class... B, class F>
CUTE_HOST_DEVICE constexpr auto transform(tuple<A...> const& a, tuple<B...> const& b, F&& f) {
  static_assert(sizeof...(A) == sizeof...(B), "Mismatched tuple_size");
  return hone_fast::Transform(a, b, f, make_seq<sizeof...(A)>{});
}
template <class... A, class F>
CUTE_HOST_DEVICE constexpr auto filter_tuple(tuple<A...> const& a, F&& f) {
  return hone_fast::Filter(a, f, make_seq<sizeof...(A)>{});
}
template <class... A, class... B, class F>
CUTE_HOST_DEVICE constexpr auto filter_tuple(tuple<A...> const& a, tuple<B...> const& b, F&& f) {
  return hone_fast::Filter(a, b, f, make_seq<sizeof...(A)>{});
}

}  // namespace cute
