// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file says how the answer to a packed output is counted. Shapes and strides of a packed tensor count bytes; what
// an oracle writes to `ref:NAME`, a [[hand]] case's outputs and every comparison count numbers. Byte i of the dense
// row-major tensor holds number 2 * i in its low four bits and number 2 * i + 1 in its high four bits.
#pragma once

#include "hone/tuner/task.h"

namespace hone {

// Returns how many numbers an element of the dtype holds: 2 if it is packed, otherwise 1.
inline int64_t NumbersPerElement(DType dtype) { return IsPacked(dtype) ? 2 : 1; }

// Returns how many numbers the answer to an output of this shape has.
inline int64_t AnswerNumbers(const TensorSpec& output, const TensorShape& shape) {
  return shape.elements * NumbersPerElement(output.dtype);
}

}  // namespace hone
