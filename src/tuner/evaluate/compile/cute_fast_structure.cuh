// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds overloads of the functions of CuTe that change the structure of tuples and layouts and leave their
// numbers as they are: slices, the rearrangement of tiles, transformed and filtered tuples. For empty types (all
// constants), only the type of the result is computed. As in cute_fast_algebra.cuh, each is a more specialised form of
// a function of CuTe.
#pragma once
#include "hone/cute_fast_layout.cuh"

namespace cute {
namespace hone_fast {

template <class... A>
CUTE_HOST_DEVICE constexpr Tag<tuple<A...>> Cat(Tag<tuple<A...>>) {
  return {};
}
template <class... A, class... B, class... Tuples>
CUTE_HOST_DEVICE constexpr auto Cat(Tag<tuple<A...>>, Tag<tuple<B...>>, Tuples... tuples) {
  return Cat(Tag<tuple<A..., B...>>{}, tuples...);
}

// Lift returns the elements of B at the places where A has an underscore, as a tuple. For parts of A that are neither
// constants, underscores nor tuples, it calls CuTe's own function.
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

// Regroup computes zip2_by for a guide of two terminals: ((a, b), (c, d), e) becomes ((a, c), (b, d, e)).
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
  // Part handles a tuple that is longer than its guide, one mode after the other.
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

// Transform and Filter implement transform() and filter_tuple() without the lambda by which CuTe collects the results.
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

}  // namespace hone_fast

// ---- The overloads -------------------------------------------------------------------------------------------------

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
