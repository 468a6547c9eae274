// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One list of fields for each struct that travels: `VisitFields(value, visit)` calls `visit(name, field)` for each
// field in the order in which people read them. Encoders and decoders are visitors, so that none of them can forget a
// field; a test of each list counts its fields (field_count.h).
//
// A list says of a field, by a third argument, when its JSON leaves it out.
#pragma once

#include <concepts>
#include <type_traits>

namespace hone {

// The struct itself or a const one: `template <MaybeConst<DeviceFacts> Facts, typename Visitor> void VisitFields(…)`.
template <typename T, typename Struct>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Struct>;

// The field is left out where it has this value.
template <typename T>
struct Unless {
  T value;
};
template <typename T>
Unless(T) -> Unless<T>;

// The field is left out where it is empty, as IsEmpty says.
struct UnlessEmpty {};

// The field is worth nothing without the verdict `ok`: it is left out with another one, and where it is empty.
struct OnlyTimed {};

struct VisitNothing {
  template <typename... Arguments>
  void operator()(Arguments&&...) const {}
};

// Whether T has a list of its fields, found beside T's namespace.
template <typename T>
concept HasFieldList = requires(T& value) {
  VisitFields(value, VisitNothing{});
};

}  // namespace hone
