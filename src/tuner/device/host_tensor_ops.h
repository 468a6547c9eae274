// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements DeviceSession's operations on tensors, for sessions whose memory is this process's own: the simulated GPU
// and the fakes of tests. Addresses of views are pointers here.
//
// Results equal, element for element, what the CUDA harness kernels compute: drawing by values/draw.h, digests by
// values/slice_digest.h, judgement of one element by device/cuda/harness/harness_element.h (plain C++, which both sides
// compile). The functions are plain loops on the calling thread, without state. Views must be valid: `span_bytes` of
// readable (and, where written, writable) memory at `address`, strides in elements, a slice axis that exists.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/device/cuda/harness/harness_element.h"
#include "tuner/device/device_session.h"

namespace hone::host {

// Returns the pattern of an unwritten element, in the low DTypeBytes(dtype) bytes: a NaN whose payload no arithmetic
// produces, or an odd integer.
uint64_t PoisonBits(DType dtype);
// Returns the precision by which a dtype's elements are judged.
harness::Precision PrecisionOf(DType dtype);

// Returns the part of the sum of squared errors that Tolerance::absolute forgives, before c_rms limits the rest: that
// of one element in a hundred being off by `absolute`, plus four standard deviations of their number and one more,
// since ties occur at random. A quantizing kernel may round a tie the other way; a kernel that is off by one everywhere
// rounds wrongly.
double ForgivenSquares(double absolute, int64_t elements);

// Returns one element as a double (exact for all dtypes but integers beyond 2^53).
double ReadElement(DType dtype, const void* element);
// Rounds to nearest even; integers truncate and wrap. Both functions take a packed element for its byte.
void WriteElement(DType dtype, void* element, double value);
// Returns number `part` of an element, 0 or 1: of a packed element the low or the high four bits, of others the element.
double ReadNumber(DType dtype, const void* element, int64_t part);
// Writes the number of an element that ReadNumber reads. A float of 4 bits is rounded to nearest even and clipped, an
// integer of 4 bits truncates and is clipped; the other half of the byte stays.
void WriteNumber(DType dtype, void* element, int64_t part, double value);

// These functions implement DeviceSession's calls of the same names. kInvalidArgument for shapes that do not fit
// together.
Status Draw(const DrawRequest& request);
void Poison(const TensorView& view);
void FillWith(const TensorView& view, const FillSpec& fill);
// Returns the signalling NaN of a floating-point dtype whose sign and payload follow from `key`.
uint64_t NanPattern(DType dtype, uint64_t key);
// Returns which bits of random bytes `kind` keeps and which it sets. Not for kNan of floating point, which is one
// pattern.
harness::FillMask MaskOf(DType dtype, FillKind kind);
Status GatherSlices(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices);
Status GatherBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices);
// Calls use(from, to) for each element of GatherBox's copy, in row-major order of the destination: the offsets of the
// element in `source` and in `destination`, in elements.
template <typename Use>
void ForEachInBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices, Use&& use) {
  const size_t rank = destination.shape.size();
  std::vector<const std::vector<int64_t>*> listed(rank, nullptr);
  for (const auto& [axis, indices] : kept_indices) listed[static_cast<size_t>(axis)] = &indices;
  std::vector<int64_t> at(rank, 0);
  for (int64_t i = 0; i < destination.elements; ++i) {
    int64_t from = 0, to = 0;
    for (size_t d = 0; d < rank; ++d) {
      from += (listed[d] != nullptr ? (*listed[d])[static_cast<size_t>(at[d])] : at[d]) * source.strides[d];
      to += at[d] * destination.strides[d];
    }
    use(from, to);
    for (size_t d = rank; d-- > 0 && ++at[d] == destination.shape[d];) at[d] = 0;
  }
}
// Compares an output with `reference`, dense row-major doubles of the view's shape, two for each packed element
// (core/task/packed_numbers.h). A packed output's counts and `first_wrong` count numbers.
Comparison Compare(const TensorView& output, const double* reference, const Tolerance& tolerance);
std::vector<uint64_t> Digest(const TensorView& view, uint64_t key);
bool IsZero(const void* memory, int64_t bytes);

}  // namespace hone::host
