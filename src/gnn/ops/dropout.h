// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes dropout with a mask that is a pure function of node and column.
//
// Whether element (node, column) is kept depends on (seed, epoch, step, layer, site, GLOBAL node id, column) and on
// nothing else: not on the node's row, the thread, or the device. Sixteen bits per element, eight elements per block of
// nothing else: not on the node's row, the thread, or the device. Each element has sixteen bits, and a block of
// Philox4x32-7 serves eight elements. The key is the seed with kDropoutDomain folded in, so that no draw coincides with
// the sampler's. The counter is (node, step, epoch, layer << 24 | site << 16 | column / 8). The element's bits are half
// (column % 2, low first) of word (column % 8) / 2. An element is kept when its bits are at or above the threshold. The
// generator has seven rounds and not ten: on a GPU, masks cost as much as the rows to which they apply, and seven
// rounds already pass BigCrush.
#pragma once

#include <cstdint>
#include <span>

#include "base/numbers/philox.h"
#include "gnn/ops/buffer.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {

inline constexpr uint64_t kDropoutDomain = uint64_t{0x64726f70} << 32;  // "drop"

// Returns the bits of eight elements.
constexpr PhiloxWords DropoutWords(uint64_t key, PhiloxWords counter) { return Philox4x32<7>(key, counter); }

// The place of a mask in a layer. Two masks of one layer never share a site.
enum class DropoutSite : uint8_t { kActivation = 0, kNeighbors = 1, kSelf = 2, kInput = 3, kHead = 4 };

// A drop probability, rounded to a multiple of 1 / 65,536. The scale belongs to the rounded probability, so the
// expectation is exact.
struct DropoutRate {
  explicit DropoutRate(double probability);
  bool active() const { return threshold > 0; }
  // Combines this rate and `next_rate`, applied afterwards, in one draw. The bits that pass this rate's threshold are
  // uniform above it. A second, higher threshold therefore gives a second mask; on the elements that the first mask
  // keeps, it is as independent of the first as a second draw would be.
  DropoutRate Then(const DropoutRate& next_rate) const;
  uint32_t threshold = 0;  // drop probability in units of 1/65,536
  double scale = 1;        // factor of kept elements
};

// A mask with one bit per element, 1 for kept, in whole bytes per row. Bits beyond `cols` are undefined.
struct DropoutMask {
  uint8_t* bits = nullptr;
  int64_t row_bytes = 0;
};
inline int64_t MaskRowBytes(int64_t cols) { return (cols + 7) / 8; }

// Writes the mask of [rows, cols] into `memory`. Reads context.key, .layer and .nodes (at least `rows` of them).
// Requires cols <= 524,288 and layer <= 255.
DropoutMask MakeDropoutMask(const DropoutRate& rate, DropoutSite site, const LayerContext& context, int64_t rows,
                            int64_t cols, Buffer<uint8_t>& memory);

// Sets out = x * scale where the mask keeps an element, else 0, over the rows of x; `out` may be x. The backward pass
// is the same function of the gradient.
template <typename T>
void ApplyDropout(const DropoutMask& mask, double scale, Matrix<const T> x, Matrix<T> out, int threads);

}  // namespace hone::gnn
