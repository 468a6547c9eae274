// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes CuTe's tuples cheaper to compile. CuTe expresses a layout as nested tuples of types, and a matrix
// product written with TiledMMA and TiledCopy makes thousands of them. Most of the compiler's time went into finding an
// element's type through a chain of five templates, and into bases and constructors of empty tuples. This file has more
// specialised forms of CuTe's own templates, which overload resolution prefers. CuTe's templates are not replaced:
// types that these forms do not match use them. Types, values and machine code are those that CuTe alone gives
// (cute_ladder_test.cc compares them).
//
// Include this file before any other of CuTe's headers. docs/cute.md has figures.
#pragma once
#include <cute/container/tuple.hpp>

namespace cute {
namespace hone_fast {

// Element<I, T...>::type is element I of a list of types. The first four need one instantiation each.
template <size_t I, class... T>
struct FarElement;
template <size_t I, class... T>
struct Element : FarElement<I, T...> {};
template <class T0, class... T>
struct Element<0, T0, T...> {
  using type = T0;
};
template <class T0, class T1, class... T>
struct Element<1, T0, T1, T...> {
  using type = T1;
};
template <class T0, class T1, class T2, class... T>
struct Element<2, T0, T1, T2, T...> {
  using type = T2;
};
template <class T0, class T1, class T2, class T3, class... T>
struct Element<3, T0, T1, T2, T3, T...> {
  using type = T3;
};
template <size_t I, class T0, class T1, class T2, class T3, class... T>
struct FarElement<I, T0, T1, T2, T3, T...> : Element<I - 4, T...> {};
template <size_t I, class... T>
using ElementOf = typename Element<I, T...>::type;

struct Nothing {};

// Returns a value of type T. For an empty type, no constructor of it, its bases or its members is called: each would be
// a function to instantiate, to emit and to inline away.
template <class T>
CUTE_HOST_DEVICE constexpr T Make() noexcept {
  if constexpr (sizeof(T) == sizeof(Nothing) && __is_empty(T) && __is_trivially_copyable(T)) {
    return __builtin_bit_cast(T, Nothing{});
  } else {
    return T{};
  }
}

}  // namespace hone_fast

// CuTe finds out which elements are empty by two variable templates, which become thousands of global variables in the
// machine code. This form asks the compiler (__is_empty).
template <class First, class... Rest>
struct tuple<First, Rest...> : eso::ESO<__is_empty(First), (__is_empty(Rest) && ...), First, Rest...> {
  CUTE_HOST_DEVICE constexpr tuple() {}
  CUTE_HOST_DEVICE constexpr tuple(First const& first, Rest const&... rest)
      : eso::ESO<__is_empty(First), (__is_empty(Rest) && ...), First, Rest...>(first, rest...) {}
};

template <size_t I, class First, class... Rest>
CUTE_HOST_DEVICE constexpr decltype(auto) get(tuple<First, Rest...> const& t) noexcept {
  static_assert(I <= sizeof...(Rest), "Index out of range");
  using E = hone_fast::ElementOf<I, First, Rest...>;
  if constexpr (__is_empty(E)) {
    return hone_fast::Make<E>();
  } else {
    return eso::getr<E const&, I>(t);
  }
}

template <size_t I, class First, class... Rest>
CUTE_HOST_DEVICE constexpr decltype(auto) get(tuple<First, Rest...>& t) noexcept {
  static_assert(I <= sizeof...(Rest), "Index out of range");
  using E = hone_fast::ElementOf<I, First, Rest...>;
  if constexpr (__is_empty(E)) {
    return hone_fast::Make<E>();
  } else {
    return eso::getr<E&, I>(t);
  }
}

template <size_t I, class First, class... Rest>
CUTE_HOST_DEVICE constexpr decltype(auto) get(tuple<First, Rest...>&& t) noexcept {
  static_assert(I <= sizeof...(Rest), "Index out of range");
  using E = hone_fast::ElementOf<I, First, Rest...>;
  if constexpr (__is_empty(E)) {
    return hone_fast::Make<E>();
  } else {
    return eso::getr<E&&, I>(static_cast<tuple<First, Rest...>&&>(t));
  }
}

template <class First, class... Rest, enable_if_t<__is_empty(tuple<First, Rest...>), int> = 0>
CUTE_HOST_DEVICE constexpr tuple<First, Rest...> make_tuple(First const&, Rest const&...) {
  return hone_fast::Make<tuple<First, Rest...>>();
}

// Type traits that are known without looking at the type's members.
template <class... T>
struct is_tuple<tuple<T...>> : true_type {};
template <auto v>
struct is_tuple<C<v>> : false_type {};
template <class... T>
struct is_integral<tuple<T...>> : false_type {};
template <class... T>
struct is_static<tuple<T...>> : bool_constant<__is_empty(tuple<T...>)> {};
template <auto v>
struct is_static<C<v>> : true_type {};
template <class... T>
struct remove_cvref<tuple<T...>> {
  using type = tuple<T...>;
};
template <class... T>
struct remove_cvref<tuple<T...>&> {
  using type = tuple<T...>;
};
template <class... T>
struct remove_cvref<tuple<T...> const&> {
  using type = tuple<T...>;
};

}  // namespace cute

namespace CUTE_STL_NAMESPACE {
template <size_t I, class First, class... Rest>
struct tuple_element<I, cute::tuple<First, Rest...>> : cute::hone_fast::Element<I, First, Rest...> {};
}  // namespace CUTE_STL_NAMESPACE
