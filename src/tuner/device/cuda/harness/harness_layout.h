// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Locates element i of a strided tensor, its slice and its position in the slice, for harness kernels; and defines
// other small structs that host and kernels share.
//
// A tensor is numbered row-major. Neighbouring dense axes are merged (never across the slice axis), so most tensors
// have one or two axes left. Divisions by extents are multiplications: for any divisor d and numerators below 2^62, n /
// d = mulhi(n, magic) >> shift with magic = ceil(2^(64 + shift) / d).
//
// nvcc (harness_kernels.cu) and the host include this file, so it is plain C++17 with no standard library;
// tensor_layout_test.cc tests Locate on the host, without a GPU.
#pragma once

#include <cstdint>

#include "tuner/values/draw.h"

namespace hone::harness {

inline constexpr int kMaxAxes = 6;

struct Divisor {
  uint64_t magic;    // 0: the divisor is 1
  uint64_t divisor;
  int shift;
};

__extension__ typedef unsigned __int128 Uint128;  // not ISO C++, but known to every compiler that builds Hone

HONE_HD uint64_t MulHigh(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return static_cast<uint64_t>((static_cast<Uint128>(a) * b) >> 64);
#endif
}

HONE_HD uint64_t Quotient(const Divisor& d, uint64_t n) { return d.magic == 0 ? n : MulHigh(n, d.magic) >> d.shift; }

// Describes a strided tensor to the kernels. Arrays are indexed by axis, outermost first.
struct Layout {
  uint64_t address;
  int64_t elements;
  int64_t slices;             // 1 when not sliced
  int64_t inner;              // elements of one row: the product of the extents inside the slice axis
  Divisor by_inner, by_slices;
  int axes;                   // 1 to kMaxAxes; a tensor with no axes has one of extent 1
  Divisor extent[kMaxAxes];
  int64_t stride[kMaxAxes];           // elements
  int64_t slice_stride[kMaxAxes];     // 1 on the slice axis, else 0
  int64_t position_stride[kMaxAxes];  // row-major over the axes that are not the slice axis, whose own is 0
};

struct Place {
  int64_t offset;    // elements from the base address
  int64_t slice;
  int64_t position;  // within the slice
};

HONE_HD Place Locate(const Layout& layout, uint64_t linear) {
  Place place{0, 0, 0};
  for (int axis = layout.axes - 1; axis > 0; --axis) {
    const uint64_t rest = Quotient(layout.extent[axis], linear);
    const int64_t coordinate = static_cast<int64_t>(linear - rest * layout.extent[axis].divisor);
    place.offset += coordinate * layout.stride[axis];
    place.slice += coordinate * layout.slice_stride[axis];
    place.position += coordinate * layout.position_stride[axis];
    linear = rest;
  }
  const int64_t outermost = static_cast<int64_t>(linear);
  place.offset += outermost * layout.stride[0];
  place.slice += outermost * layout.slice_stride[0];
  place.position += outermost * layout.position_stride[0];
  return place;
}

// A run of bytes between blocks of an arena, offsets from the arena's base.
struct Gap {
  int64_t begin;
  int64_t end;
};

// Number of thread blocks that share the work on one gap: a small tensor in memory of its own has gaps of 2 MiB.
inline constexpr int kGapParts = 32;

// A short list passed as a kernel argument: a copy in device memory would have to be sent again after each launch of a
// candidate.
inline constexpr int kListed = 128;
template <typename T>
struct Listed {
  int64_t count;
  T items[kListed];
};

// Consecutive pages of one mapping, from its start.
struct PageRun {
  uint64_t address;
  int64_t pages;
};

// A part of a device global and its place in an image. At most kGlobalPieceBytes long, so that many thread blocks share
// a large global.
struct GlobalPiece {
  uint64_t address;
  uint32_t bytes;
  uint32_t offset;
};
constexpr uint32_t kGlobalPieceBytes = 4096;

// Returns eight bytes of the guard pattern, at a multiple of eight from the arena's base.
HONE_HD uint64_t GapWord(uint64_t key, int64_t offset) {
  return draw::Mix(key + (static_cast<uint64_t>(offset) >> 3) * 0x9e3779b97f4a7c15ULL);
}
// Returns the byte of the guard pattern at `offset` from the arena's base.
HONE_HD uint8_t GapByte(uint64_t key, int64_t offset) {
  return static_cast<uint8_t>(GapWord(key, offset) >> (8 * (static_cast<uint64_t>(offset) & 7)));
}

// Arguments of the hone_draw_* kernels besides the layout. Pointers are to device memory.
struct DrawArguments {
  draw::Parameters parameters;   // its key is that of all slices but the redrawn ones
  uint64_t permutation_key;      // permutes which source slice a slice is drawn as (draw::Permute); 0: slice s is drawn
                                 // as slice s
  uint64_t redraw_key;           // key of the slices in `redrawn`, which are drawn as themselves; 0: there are none
  const int64_t* redrawn;        // sorted slice numbers
  int64_t redrawn_count;
  const uint64_t* slice_table;   // per slice: SliceHash with the slice's own key and source slice, or, for kConstant,
                                 // the value's bits; null: computed where needed
  Divisor by_segments;           // for long rows: divides by the number of segments of a row
  int64_t segment_elements;      // 0: rows are short and not cut into segments
  const float* quantiles;        // kQuantiles + 1 of the normal distribution
  const float* exp_quantiles;    // quantiles of the heavy-tailed magnitudes
};

// The sums and counts of a comparison. The host zeroes them right before, except where a starting value is stated.
struct CompareCounters {
  unsigned long long wrong;
  unsigned long long unwritten;
  unsigned long long non_finite;
  unsigned long long first_wrong;       // starts at ~0
  unsigned long long max_scaled_bits;   // nonnegative doubles have the order of their bits
  unsigned long long max_ulp_bits;
  unsigned long long max_small_bits;
  double sum_error2;
  double sum_reference2;
  double sum_ulp;
};

}  // namespace hone::harness
