// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of field lists: how many fields a struct has, and how many its list visits. A field that was added to the
// struct alone makes the two differ.
#pragma once

#include <cstddef>

#include "tuner/core/field_list.h"

namespace hone {

// Stands for a field of any type in a braced list.
struct AnyField {
  template <typename T>
  operator T() const;  // never defined: it is only asked whether the conversion compiles
};

// Fields of an aggregate: the length of the longest braced list that initializes it.
template <typename Struct, typename... Fields>
consteval size_t FieldCount() {
  if constexpr (requires { Struct{Fields{}..., AnyField{}}; }) {
    return FieldCount<Struct, Fields..., AnyField>();
  } else {
    return sizeof...(Fields);
  }
}

template <HasFieldList Struct>
size_t VisitedFields() {
  size_t count = 0;
  const Struct value{};
  VisitFields(value, [&](auto&&...) { ++count; });
  return count;
}

}  // namespace hone
