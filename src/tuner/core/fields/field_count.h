// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the fields of a struct and those that its list visits, for tests of field lists. A field added only to the
// struct makes the two counts differ.
#pragma once

#include <cstddef>

#include "tuner/core/fields/field_list.h"

namespace hone {

// Stands for a field of any type in a braced list.
struct AnyField {
  template <typename T>
  operator T() const;  // never defined: only the compilation of the conversion is tested
};

// Counts the fields of an aggregate: the length of the longest braced list that initializes it.
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
