// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each serialized struct has one list of its fields: `VisitFields(value, visit)` calls `visit(name, field)` for each
// field in the order in which people read them. Encoders and decoders are visitors, so that none of them can forget a
// field; a test of each list counts its fields (field_count.h).
//
// A third argument of `visit` says when the JSON leaves the field out.
#pragma once

#include <concepts>
#include <type_traits>

namespace hone {

// Matches the struct itself or a const one: `template <MaybeConst<DeviceFacts> Facts, typename Visitor> void
// VisitFields(…)`.
template <typename T, typename Struct>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Struct>;

// Leaves the field out if it has this value.
template <typename T>
struct Unless {
  T value;
};
template <typename T>
Unless(T) -> Unless<T>;

// Leaves the field out if it is empty, by IsEmpty.
struct UnlessEmpty {};

// Leaves the field out if it is empty, or if the verdict is not `ok`, without which it is meaningless.
struct OnlyTimed {};

struct VisitNothing {
  template <typename... Arguments>
  void operator()(Arguments&&...) const {}
};

// True if T has a list of its fields, found in T's namespace.
template <typename T>
concept HasFieldList = requires(T& value) {
  VisitFields(value, VisitNothing{});
};

}  // namespace hone
