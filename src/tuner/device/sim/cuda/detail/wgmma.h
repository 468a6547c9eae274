// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements wgmma.mma_async: the product of a warp group, whose factors lie in shared memory as descriptors say.
//
// Each of the four warps computes its 16 rows by itself. The product is made when the instruction is issued, and the
// runtime watches that the memory it reads has been made visible to the tensor cores and stays unchanged until the
// wait. Sums of 8-bit floats keep 13 bits after the leading one, as Hopper's tensor cores do.
#pragma once

#include "mma.h"
#include "thread.h"

namespace hone_sim {

// Returns where in shared memory a tile has byte `byte` (of 32) of row `row`. `descriptor`: PTX's matrix descriptor, of
// a factor whose rows are contiguous along k. Its upper two bits are the swizzle: none, or rows of 128, 64 or 32 bytes.
// An address has two bits more than on a GPU, because static arrays of other kernels may stand before a tile here.
HONE_SIM_HIDDEN_INLINE unsigned PlaceInTile(uint64_t descriptor, unsigned row, unsigned byte) {
  const unsigned start = static_cast<unsigned>(descriptor & 0xffff) << 4,
                 leading = static_cast<unsigned>(descriptor >> 16 & 0x3fff) << 4,
                 stride = static_cast<unsigned>(descriptor >> 32 & 0x3fff) << 4,
                 swizzle = static_cast<unsigned>(descriptor >> 62);
  if (swizzle == 0) return start + row / 8 * stride + byte / 16 * leading + row % 8 * 16 + byte % 16;
  const unsigned width = 256u >> swizzle, place = start + row / 8 * stride + row % 8 * width + byte;
  return place ^ ((place >> 7 & (width / 16 - 1)) << 4);
}

// A lane's input: `registers` are its part of A, or null where A has a descriptor.
struct GroupFactors {
  uint64_t a, b;
  const unsigned* registers;
  const float* c;
  const unsigned char* shared;  // address 0 of shared memory
  unsigned shared_bytes;        // a tile beyond them is reported elsewhere
  unsigned warp;                // of the four
  bool add;                     // C = A B + C, else A B
  int sign;                     // of the product
};

template <typename Format>
HONE_SIM_HIDDEN_INLINE double ElementOfTile(const GroupFactors& f, uint64_t descriptor, unsigned row, unsigned k) {
  constexpr unsigned kBytes = FormatTraits<Format>::kBytes;
  const unsigned place = PlaceInTile(descriptor, row, k * kBytes);
  return place + kBytes <= f.shared_bytes ? FormatTraits<Format>::Load(f.shared + place) : 0.0;
}

HONE_SIM_HIDDEN_INLINE float KeepBits(float value, bool few) {
  return few ? __builtin_bit_cast(float, __builtin_bit_cast(unsigned, value) & ~0x3ffu) : value;
}

// Computes a warp's 16 rows of a [64, kK] b [kN, kK]^T, 32 bytes along k. Registers of C: lane = 4 * row + t has
// columns 8j + 2t and the next of its row, then of the row 8 further, for each j.
//   mine  GroupFactors      out  kN / 2 floats
template <int kN, int kK, typename FormatA, typename FormatB>
HONE_SIM_HIDDEN void MultiplyTiles(const void* const* mine, void* const* out) {
  constexpr int kAtOnce = kN % 16 == 0 ? 16 : 8, kPack = 4 / FormatTraits<FormatA>::kBytes;
  constexpr bool kFew = FormatTraits<FormatA>::kBytes == 1;
  const GroupFactors& first = *static_cast<const GroupFactors*>(mine[0]);
  double a[16 * kK], b[kK * kAtOnce], sums[16 * kAtOnce];
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < kK; ++k) {
      if (first.registers == nullptr) {
        a[row * kK + k] = ElementOfTile<FormatA>(first, first.a, first.warp * 16 + static_cast<unsigned>(row),
                                                 static_cast<unsigned>(k));
      } else {  // as of mma.sync: register 2 (k / 4 / kPack) of lane (row, k / kPack), the next for the rows from 8 on
        const GroupFactors& f = *static_cast<const GroupFactors*>(mine[row % 8 * 4 + k / kPack % 4]);
        a[row * kK + k] = FormatTraits<FormatA>::Load(
            reinterpret_cast<const unsigned char*>(f.registers + k / (4 * kPack) * 2 + row / 8) +
            k % kPack * FormatTraits<FormatA>::kBytes);
      }
    }
  }
  for (int column = 0; column < kN; column += kAtOnce) {
    for (int n = 0; n < kAtOnce; ++n) {
      for (int k = 0; k < kK; ++k) {
        b[k * kAtOnce + n] =
            ElementOfTile<FormatB>(first, first.b, static_cast<unsigned>(column + n), static_cast<unsigned>(k));
      }
    }
    DenseProduct<16, kAtOnce, kK>(a, b, sums);
    for (int row = 0; row < 16; ++row) {
      for (int n = 0; n < kAtOnce; ++n) {
        const int lane = row % 8 * 4 + n % 8 / 2, e = (column + n) / 8 * 4 + row / 8 * 2 + n % 2;
        const GroupFactors& f = *static_cast<const GroupFactors*>(mine[lane]);
        static_cast<float*>(out[lane])[e] =
            KeepBits(Accumulate(f.add ? f.c[e] : 0.0f, f.sign * sums[row * kAtOnce + n]), kFew);
      }
    }
  }
}

// Executes the instruction for this thread. `registers`: A, or null where `a` is its descriptor. `transposed`: PTX's
// last operands, not 0 where a factor's rows are contiguous along m or n.
template <int kN, int kK, typename FormatA, typename FormatB>
HONE_SIM_INLINE void WarpGroupMultiply(float* d, const unsigned* registers, uint64_t a, uint64_t b, bool add, int sign,
                                       bool transposed) {
  if (transposed) hone_sim_unsupported("wgmma with a transposed factor is not emulated by the simulated GPU");
  if (((registers == nullptr ? a : 0) | b) >> 49 & 7) {
    hone_sim_unsupported("wgmma with a base offset in a matrix descriptor is not emulated by the simulated GPU");
  }
  const unsigned shared_bytes = hone_sim_wgmma_begin();
  const unsigned lane = Index<HONE_SIM_LANE>(), warp = Index<HONE_SIM_WARP>() % 4;
  // All four warps read b; each announces a quarter.
  if (registers == nullptr)
    hone_sim_wgmma_read(hone_sim_from_shared(PlaceInTile(a, warp * 16 + lane / 2, lane % 2 * 16)));
  for (unsigned i = lane; i < kN / 2; i += 32) {
    hone_sim_wgmma_read(hone_sim_from_shared(PlaceInTile(b, warp * (kN / 4) + i / 2, i % 2 * 16)));
  }
  const GroupFactors factors = {
      a, b, registers, d, static_cast<const unsigned char*>(hone_sim_from_shared(0)), shared_bytes, warp, add, sign};
  Together(0x500000u + kN * 64u + kK + (registers == nullptr ? 0u : 0x20000u), &factors, d,
           MultiplyTiles<kN, kK, FormatA, FormatB>);
  if (lane == 0) hone_sim_count_mma(static_cast<uint64_t>(16) * kN * kK);
}

}  // namespace hone_sim
