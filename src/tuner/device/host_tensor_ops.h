// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a DeviceSession does to tensors, for sessions whose memory is this process's own: the simulated GPU
// and the fakes of tests. Addresses of views are pointers here.
//
// Element for element the same results as the CUDA harness kernels: drawing and digests by core/draw.h,
// judgement of one element by device/cuda/harness_element.h (plain C++, shared by both). Plain loops on the
// calling thread; nothing here keeps state. Views must be sound: `span_bytes` of readable (and, where written,
// writable) memory at `address`, strides in elements, a slice axis that exists.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/device/cuda/harness_element.h"
#include "tuner/device/device_session.h"

namespace hone::host {

// The pattern of an element that nobody has written, in the low DTypeBytes(dtype) bytes: a NaN whose payload
// no arithmetic makes, or an odd integer.
uint64_t PoisonBits(DType dtype);
// How finely a dtype's elements are judged.
harness::Precision PrecisionOf(DType dtype);

// What `abs` takes from the sum of squared errors that c_rms is about: one element in a hundred may be off by it, and four
// standard deviations of that number and one more, for ties come as they fall. A quantizing kernel may round a tie the
// other way; who is off by one everywhere rounds wrongly.
double ForgivenSquares(double absolute, int64_t elements);

// One element as a double (exact for all dtypes but integers beyond 2^53).
double ReadElement(DType dtype, const void* element);
// Rounds to nearest even; integers truncate and wrap.
void WriteElement(DType dtype, void* element, double value);

// DeviceSession's calls of the same names. kInvalidArgument for shapes that do not belong together.
Status Draw(const DrawRequest& request);
void Poison(const TensorView& view);
void FillWith(const TensorView& view, const FillSpec& fill);
// The signalling NaN of a floating-point dtype whose sign and payload follow from `key`.
uint64_t NanPattern(DType dtype, uint64_t key);
// Which bits of drawn bytes make what `kind` fills with. Not for kNan of floating point, which is one pattern.
harness::FillMask MaskOf(DType dtype, FillKind kind);
Status GatherSlices(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices);
// `reference`: dense row-major doubles of the view's shape.
Comparison Compare(const TensorView& output, const double* reference, const Tolerance& tolerance);
std::vector<uint64_t> Digest(const TensorView& view, uint64_t key);
bool IsZero(const void* memory, int64_t bytes);

}  // namespace hone::host
