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
template <class Shape, class Stride, bool keep_outside = false>
using Coalesce = Parts<LayoutOf<CoalesceOf<Shape, Stride, keep_outside>>>;

template <class LeftShape, class LeftStride, int extent, int step>
struct ComposeLeaf {
  CUTE_HOST_DEVICE static constexpr Modes Get() { return Composed(Fixed<LeftShape, LeftStride>::Get(), extent, step); }
};
// A coalesced left-hand side with each mode of the right-hand side, whose structure the outcome has.
template <class LeftShape, class LeftStride, class Shape, class Stride>
struct ComposeTree;
template <class LeftShape, class LeftStride, int s, int d>
struct ComposeTree<LeftShape, LeftStride, C<s>, C<d>> : Parts<LayoutOf<ComposeLeaf<LeftShape, LeftStride, s, d>>> {};
template <class LeftShape, class LeftStride, class... S, class... D>
struct ComposeTree<LeftShape, LeftStride, tuple<S...>, tuple<D...>> {
  using shape = tuple<typename ComposeTree<LeftShape, LeftStride, S, D>::shape...>;
  using stride = tuple<typename ComposeTree<LeftShape, LeftStride, S, D>::stride...>;
};
template <class LeftShape, class LeftStride, class Shape, class Stride, class Left = Coalesce<LeftShape, LeftStride, true>>
using Compose = ComposeTree<typename Left::shape, typename Left::stride, Shape, Stride>;

template <class T>
inline constexpr bool kIsTuple = false;
template <class... T>
inline constexpr bool kIsTuple<tuple<T...>> = true;

template <class Shape, class Stride, class Target>
struct ComplementOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() {
    Modes target;
    target.count = Ints<Target>::count;
    int* to = target.shape;
    Ints<Target>::Put(to);
    return Complemented(Fixed<Shape, Stride>::Get(), target, kIsTuple<Target>);
  }
};
template <class Shape, class Stride, class Target>
using Complement = Parts<LayoutOf<ComplementOf<Shape, Stride, Target>>>;

template <class Shape, class Stride>
struct RightInverseOf {
  CUTE_HOST_DEVICE static constexpr Modes Get() { return RightInverted(Fixed<Shape, Stride>::Get()); }
};

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

// A tuple of tiles goes over a layout mode by mode: Per<shape, stride, tile> for the modes that have a tile, and those
// beyond as they are, or, with `keep_rest` false, left out. A bare mode counts as a tuple of one.
template <template <class, class, class> class Per, bool keep_rest, class Shape, class Stride, class Tiles>
struct ByMode;
template <template <class, class, class> class Per, class Shape, class Stride, class Tiles, class I, class J>
struct ByModeOf;
template <template <class, class, class> class Per, class... S, class... D, class... T, int... I, int... J>
struct ByModeOf<Per, tuple<S...>, tuple<D...>, tuple<T...>, seq<I...>, seq<J...>> {
  using shape = tuple<typename Per<ElementOf<I, S...>, ElementOf<I, D...>, T>::shape..., ElementOf<J, S...>...>;
  using stride = tuple<typename Per<ElementOf<I, S...>, ElementOf<I, D...>, T>::stride..., ElementOf<J, D...>...>;
};
template <template <class, class, class> class Per, bool keep_rest, class... S, class... D, class... T>
struct ByMode<Per, keep_rest, tuple<S...>, tuple<D...>, tuple<T...>>
    : ByModeOf<Per, tuple<S...>, tuple<D...>, tuple<T...>, make_seq<sizeof...(T)>,
               make_range<sizeof...(T), keep_rest ? sizeof...(S) : sizeof...(T)>> {
  static_assert(sizeof...(T) <= sizeof...(S), "Too many modes in tiler.");
};
template <template <class, class, class> class Per, bool keep_rest, int s, int d, class... T>
struct ByMode<Per, keep_rest, C<s>, C<d>, tuple<T...>> : ByMode<Per, keep_rest, tuple<C<s>>, tuple<C<d>>, tuple<T...>> {};

template <class Shape, class Stride, class Tile>
struct ComposeTile;
template <class Shape, class Stride>
struct ComposeTile<Shape, Stride, Underscore> : Parts<Layout<Shape, Stride>> {};
template <class Shape, class Stride, int v>
struct ComposeTile<Shape, Stride, C<v>> : Compose<Shape, Stride, C<v>, C<1>> {};
template <class Shape, class Stride, class S, class D>
struct ComposeTile<Shape, Stride, Layout<S, D>> : Compose<Shape, Stride, S, D> {};
template <class Shape, class Stride, class... T>
struct ComposeTile<Shape, Stride, tuple<T...>> : ByMode<ComposeTile, false, Shape, Stride, tuple<T...>> {};

template <class Shape, class Stride, class Tile>
struct Divide;
template <class Shape, class Stride>
struct Divide<Shape, Stride, Underscore> : Parts<Layout<Shape, Stride>> {};
template <class Shape, class Stride, int v>
struct Divide<Shape, Stride, C<v>> : Divide<Shape, Stride, Layout<C<v>, C<int(v != 1)>>> {};
template <class Shape, class Stride, class S, class D, class Rest>
using DivideWith = Compose<Shape, Stride, tuple<S, typename Rest::shape>, tuple<D, typename Rest::stride>>;
template <class Shape, class Stride, class S, class D>
struct Divide<Shape, Stride, Layout<S, D>>
    : DivideWith<Shape, Stride, S, D, Complement<S, D, typename Coalesce<Shape, Stride>::shape>> {};
template <class Shape, class Stride, class... T>
struct Divide<Shape, Stride, tuple<T...>> : ByMode<Divide, true, Shape, Stride, tuple<T...>> {};

template <class Shape, class Stride, class Profile>
struct CoalesceBy : Coalesce<Shape, Stride> {};
template <class Shape, class Stride, class... P>
struct CoalesceBy<Shape, Stride, tuple<P...>> : ByMode<CoalesceBy, true, Shape, Stride, tuple<P...>> {};

// ---- Structure -----------------------------------------------------------------------------------------------------

template <class... Tuples>
struct Cat;
template <class... A>
struct Cat<tuple<A...>> {
  using type = tuple<A...>;
};
template <class... A, class... B, class... Tuples>
struct Cat<tuple<A...>, tuple<B...>, Tuples...> : Cat<tuple<A..., B...>, Tuples...> {};

// The elements of B that stand where A has an underscore, as a tuple. What A may hold besides is CuTe's business.
template <class A, class B>
struct Lift {
  using type = decltype(detail::lift_slice(declval<A>(), declval<B>()));
};
template <class B>
struct Lift<Underscore, B> {
  using type = tuple<B>;
};
template <class B>
struct Lift<int, B> {
  using type = tuple<>;
};
template <auto v, class B>
struct Lift<C<v>, B> {
  using type = tuple<>;
};
template <class... A, class... B>
struct Lift<tuple<A...>, tuple<B...>> : Cat<tuple<>, typename Lift<A, B>::type...> {};

// ((a, b), (c, d), e) by a guide of two terminals: (a, c) and (b, d, e).
template <class T, class Guide>
struct Unzip;
template <class X, class Y, class Guide>
struct Unzip<tuple<X, Y>, Guide> {
  using first = X;
  using second = Y;
};
template <class T, class Guide, class I, class J>
struct UnzipModes;
template <class... T, class... G, int... I, int... J>
struct UnzipModes<tuple<T...>, tuple<G...>, seq<I...>, seq<J...>> {
  using first = tuple<typename Unzip<ElementOf<I, T...>, G>::first...>;
  using second = tuple<typename Unzip<ElementOf<I, T...>, G>::second..., ElementOf<J, T...>...>;
};
template <class... T, class... G>
struct Unzip<tuple<T...>, tuple<G...>>
    : UnzipModes<tuple<T...>, tuple<G...>, make_seq<sizeof...(G)>, make_range<sizeof...(G), sizeof...(T)>> {};
template <class X, class Y, class... G>
struct Unzip<tuple<X, Y>, tuple<G...>>
    : UnzipModes<tuple<X, Y>, tuple<G...>, make_seq<sizeof...(G)>, make_range<sizeof...(G), 2>> {};
template <class T, class Guide>
using Unzipped = tuple<typename Unzip<T, Guide>::first, typename Unzip<T, Guide>::second>;

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
  return hone_fast::MakeResult<hone_fast::Coalesce<tuple<S, Ss...>, tuple<D, Ds...>>>();
}
template <class S, class... Ss, class D, class... Ds, class P, class... Ps,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto coalesce(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<P, Ps...> const&) {
  return hone_fast::MakeResult<hone_fast::CoalesceBy<tuple<S, Ss...>, tuple<D, Ds...>, tuple<P, Ps...>>>();
}

template <class S, class... Ss, class D, class... Ds, class RightS, class RightD,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0, hone_fast::IfFixed<RightS, RightD> = 0>
CUTE_HOST_DEVICE constexpr auto composition(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, Layout<RightS, RightD> const&) {
  return hone_fast::MakeResult<hone_fast::Compose<tuple<S, Ss...>, tuple<D, Ds...>, RightS, RightD>>();
}
template <int s, int d, class S, class... Ss, class D, class... Ds, hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto composition(Layout<C<s>, C<d>> const&, Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&) {
  return hone_fast::MakeResult<hone_fast::Compose<C<s>, C<d>, tuple<S, Ss...>, tuple<D, Ds...>>>();
}
template <class S, class... Ss, class D, class... Ds, class T, class... Ts,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0,
          enable_if_t<hone_fast::FixedTiler<tuple<T, Ts...>>::value, int> = 0>
CUTE_HOST_DEVICE constexpr auto composition(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<T, Ts...> const&) {
  return hone_fast::MakeResult<hone_fast::ComposeTile<tuple<S, Ss...>, tuple<D, Ds...>, tuple<T, Ts...>>>();
}

template <class S, class... Ss, class D, class... Ds, class Target,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0, enable_if_t<bool(hone_fast::Ints<Target>::flat), int> = 0>
CUTE_HOST_DEVICE constexpr auto complement(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, Target const&) {
  return hone_fast::MakeResult<hone_fast::Complement<tuple<S, Ss...>, tuple<D, Ds...>, Target>>();
}
template <int s, int d, class Target, enable_if_t<bool(hone_fast::Ints<Target>::flat), int> = 0>
CUTE_HOST_DEVICE constexpr auto complement(Layout<C<s>, C<d>> const&, Target const&) {
  return hone_fast::MakeResult<hone_fast::Complement<C<s>, C<d>, Target>>();
}

template <class S, class... Ss, class D, class... Ds, hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0>
CUTE_HOST_DEVICE constexpr auto right_inverse(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&) {
  return hone_fast::Make<hone_fast::LayoutOf<hone_fast::RightInverseOf<tuple<S, Ss...>, tuple<D, Ds...>>>>();
}

template <class S, class... Ss, class D, class... Ds, class TileS, class TileD,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0, hone_fast::IfFixed<TileS, TileD> = 0>
CUTE_HOST_DEVICE constexpr auto logical_divide(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, Layout<TileS, TileD> const&) {
  return hone_fast::MakeResult<hone_fast::Divide<tuple<S, Ss...>, tuple<D, Ds...>, Layout<TileS, TileD>>>();
}
template <class S, class... Ss, class D, class... Ds, class T, class... Ts,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0,
          enable_if_t<hone_fast::FixedTiler<tuple<T, Ts...>>::value, int> = 0>
CUTE_HOST_DEVICE constexpr auto logical_divide(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<T, Ts...> const&) {
  return hone_fast::MakeResult<hone_fast::Divide<tuple<S, Ss...>, tuple<D, Ds...>, tuple<T, Ts...>>>();
}
template <class S, class... Ss, class D, class... Ds, class T, class... Ts,
          hone_fast::IfFixed<tuple<S, Ss...>, tuple<D, Ds...>> = 0,
          enable_if_t<hone_fast::FixedTiler<tuple<T, Ts...>>::value, int> = 0>
CUTE_HOST_DEVICE constexpr auto zipped_divide(Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&, tuple<T, Ts...> const&) {
  using Divided = hone_fast::Divide<tuple<S, Ss...>, tuple<D, Ds...>, tuple<T, Ts...>>;
  return hone_fast::Make<Layout<hone_fast::Unzipped<typename Divided::shape, tuple<T, Ts...>>,
                                hone_fast::Unzipped<typename Divided::stride, tuple<T, Ts...>>>>();
}

template <class A, class... As, class B, class... Bs,
          enable_if_t<sizeof...(As) == sizeof...(Bs) && __is_empty(tuple<B, Bs...>), int> = 0>
CUTE_HOST_DEVICE constexpr auto slice(tuple<A, As...> const&, tuple<B, Bs...> const&) {
  return hone_fast::Make<typename hone_fast::Lift<tuple<A, As...>, tuple<B, Bs...>>::type>();
}
template <class A, class... As, class S, class... Ss, class D, class... Ds,
          enable_if_t<sizeof...(As) == sizeof...(Ss) && sizeof...(As) == sizeof...(Ds) && __is_empty(tuple<S, Ss...>) &&
                          __is_empty(tuple<D, Ds...>), int> = 0>
CUTE_HOST_DEVICE constexpr auto slice(tuple<A, As...> const&, Layout<tuple<S, Ss...>, tuple<D, Ds...>> const&) {
  return hone_fast::Make<Layout<typename hone_fast::Lift<tuple<A, As...>, tuple<S, Ss...>>::type,
                                typename hone_fast::Lift<tuple<A, As...>, tuple<D, Ds...>>::type>>();
}

template <class T, class... Ts, class G, class... Gs,
          enable_if_t<(sizeof...(Ts) >= sizeof...(Gs)) && __is_empty(tuple<T, Ts...>), int> = 0>
CUTE_HOST_DEVICE constexpr auto zip2_by(tuple<T, Ts...> const&, tuple<G, Gs...> const&) {
  return hone_fast::Make<hone_fast::Unzipped<tuple<T, Ts...>, tuple<G, Gs...>>>();
}
template <class... A, class... B, enable_if_t<sizeof...(A) == sizeof...(B) && __is_empty(tuple<tuple<A...>, tuple<B...>>), int> = 0>
CUTE_HOST_DEVICE constexpr auto zip(tuple<tuple<A...>, tuple<B...>> const&) {
  return hone_fast::Make<tuple<tuple<A, B>...>>();
}

}  // namespace cute
