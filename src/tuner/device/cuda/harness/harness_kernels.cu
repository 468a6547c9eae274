// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the kernels of the trusted harness, which draw inputs, compare and digest outputs, check guard zones and
// bring caches into a known state. They work on the device at memory speed; only counters are copied to the host.
//
// Compiled by nvcc into a fat binary that is embedded in the library (harness.cc loads it and knows every
// name). -fmad=false: the host draws the same bits. All kernels take whole structs by value, run on any grid
// (grid-stride loops) of the block size given at each, and use no state between launches.
//
// Sums over slices: a row is the run of elements inside the slice axis, so row r belongs to slice r % slices. Long rows
// are cut into segments of one warp each; one thread handles a short row, with neighbouring threads on neighbouring
// slices, which also coalesces when the slice axis is the innermost one.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "tuner/device/cuda/harness/harness_element.h"
#include "tuner/device/cuda/harness/harness_layout.h"
#include "tuner/values/draw.h"
#include "tuner/values/float8.h"
#include "tuner/values/packed4.h"
#include "tuner/values/slice_digest.h"

namespace hone::harness {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ uint64_t ThreadNumber() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ uint64_t ThreadCount() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

// A position that advances by chunks of `step` elements and never past the end of its row. If the elements inside the
// slice axis are one contiguous run (`straight`), as they mostly are, each position follows from the previous one.
struct Walk {
  const Layout& layout;
  bool straight;
  uint64_t linear;
  Place place;

  __device__ __forceinline__ Walk(const Layout& given_layout, uint64_t first)
      : layout(given_layout),
        straight(given_layout.slice_stride[given_layout.axes - 1] == 0 && given_layout.extent[given_layout.axes - 1].divisor == static_cast<uint64_t>(given_layout.inner)),
        linear(first), place(Locate(given_layout, first)) {}
  __device__ __forceinline__ void Advance(int step) {
    linear += static_cast<uint64_t>(step);
    if (straight) {
      place.offset += step * layout.stride[layout.axes - 1];
      place.position += step;
    } else {
      place = Locate(layout, linear);
    }
  }
};

// ---------------------------------------------------------------------------------------------- drawing

// The key and the source slice with which a slice is drawn.
struct SliceSource {
  uint64_t key;
  uint64_t slice;
};

// Returns the key and the number by which a slice's values are drawn: its permuted number, or, if it is to be drawn again,
// its own number under another key.
__device__ SliceSource SourceOf(const DrawArguments& arguments, int64_t slice, int64_t slices) {
  if (arguments.redraw_key != 0) {
    int64_t low = 0, high = arguments.redrawn_count;
    while (low < high) {
      const int64_t middle = (low + high) >> 1;
      if (arguments.redrawn[middle] < slice) low = middle + 1; else high = middle;
    }
    if (low < arguments.redrawn_count && arguments.redrawn[low] == slice) {
      return {arguments.redraw_key, static_cast<uint64_t>(slice)};
    }
  }
  return {arguments.parameters.key, draw::Permute(static_cast<uint64_t>(slice), static_cast<uint64_t>(slices),
                                                  arguments.permutation_key)};
}

// Parameters for drawing the elements of one slice.
struct DrawSource {
  draw::Parameters parameters;
  uint64_t slice_hash;
  uint64_t slice;  // 0 if a slice table is used; only kDistinct and kSpecial read it, and they have no table
};

template <typename T> struct Convert {  // integers, signed or not, by width
  static __device__ __forceinline__ T Float(float v) { return static_cast<T>(static_cast<int64_t>(v)); }
  static __device__ __forceinline__ T Integer(int64_t v) { return static_cast<T>(v); }
};
template <> struct Convert<float> {
  static __device__ __forceinline__ float Float(float v) { return v; }
  static __device__ __forceinline__ float Integer(int64_t v) { return static_cast<float>(v); }
};
template <> struct Convert<double> {
  static __device__ __forceinline__ double Float(float v) { return v; }
  static __device__ __forceinline__ double Integer(int64_t v) { return static_cast<double>(v); }
};
template <> struct Convert<__half> {
  static __device__ __forceinline__ __half Float(float v) { return __float2half_rn(v); }
  static __device__ __forceinline__ __half Integer(int64_t v) { return Float(static_cast<float>(v)); }
};
template <> struct Convert<__nv_bfloat16> {
  static __device__ __forceinline__ __nv_bfloat16 Float(float v) { return __float2bfloat16_rn(v); }
  static __device__ __forceinline__ __nv_bfloat16 Integer(int64_t v) { return Float(static_cast<float>(v)); }
};

template <typename T> struct ConvertNarrow {  // 8-bit floats
  static __device__ __forceinline__ T Float(float v) { return float8::FromFloat<T>(v); }
  static __device__ __forceinline__ T Integer(int64_t v) { return Float(static_cast<float>(v)); }
};
template <> struct Convert<float8::E4M3> : ConvertNarrow<float8::E4M3> {};
template <> struct Convert<float8::E5M2> : ConvertNarrow<float8::E5M2> {};
template <> struct Convert<float8::E8M0> : ConvertNarrow<float8::E8M0> {};

template <typename T> struct ConvertPair {  // both numbers of the byte are v; DrawBody joins two such bytes
  static __device__ __forceinline__ T Float(float v) { return packed4::Join<T>(T::Code(v), T::Code(v)); }
  static __device__ __forceinline__ T Integer(int64_t v) { return packed4::Join<T>(T::Code(v), T::Code(v)); }
};
template <> struct Convert<packed4::FloatPair> : ConvertPair<packed4::FloatPair> {};
template <> struct Convert<packed4::IntPair> : ConvertPair<packed4::IntPair> {};
template <typename T> struct IsPair { static constexpr bool value = false; };
template <> struct IsPair<packed4::FloatPair> { static constexpr bool value = true; };
template <> struct IsPair<packed4::IntPair> { static constexpr bool value = true; };

// Converts a special value: NaN gets the host's bits.
template <typename T>
__device__ __forceinline__ T SpecialOf(float v) {
  if constexpr (sizeof(T) == 2) {
    if (v != v) {
      const uint16_t quiet = 0x7fff;
      T nan;
      memcpy(&nan, &quiet, sizeof nan);
      return nan;
    }
  }
  return Convert<T>::Float(v);
}

template <size_t kBytes> struct WordOf;
template <> struct WordOf<1> { using Type = uint8_t; };
template <> struct WordOf<2> { using Type = uint16_t; };
template <> struct WordOf<4> { using Type = uint32_t; };
template <> struct WordOf<8> { using Type = uint64_t; };

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Packed {
  T values[kWidth];
};

// Draws a tensor. kNormal: only the normal distribution, whose table is in shared memory as pairs. Otherwise any
// distribution.
template <typename T, int kWidth, bool kNormal>
__device__ __forceinline__ void DrawBody(const Layout& layout, const DrawArguments& arguments) {
  __shared__ float2 pairs[kNormal ? draw::kQuantiles : 1];
  if constexpr (kNormal) {
    for (int i = threadIdx.x; i < draw::kQuantiles; i += blockDim.x) {
      pairs[i] = make_float2(arguments.quantiles[i], arguments.quantiles[i + 1]);
    }
    __syncthreads();
  }
  const auto source_of = [&](int64_t slice) {
    DrawSource source{arguments.parameters, 0, 0};
    if (arguments.slice_table != nullptr) {
      source.slice_hash = arguments.slice_table[slice];
    } else {
      const SliceSource from = SourceOf(arguments, slice, layout.slices);
      source.parameters.key = from.key;
      source.slice_hash = draw::SliceHash(from.key, from.slice);
      source.slice = from.slice;
    }
    return source;
  };
  const auto chunk_at = [&](const DrawSource& source, const Place& place) {
    const draw::Parameters& parameters = source.parameters;
    const auto value_at = [&](int k) -> T {
      const uint64_t position = static_cast<uint64_t>(place.position) + k;
      const uint64_t bits = draw::HashInSlice(source.slice_hash, position);
      if constexpr (IsPair<T>::value) {
        const auto drawn = [&](uint64_t from) {
          if (draw::DrawsIntegers(parameters.kind))
            return Convert<T>::Integer(draw::IntegerFromBits(parameters, source.slice_hash, source.slice, from, position));
          if (parameters.kind == draw::kConstant && arguments.slice_table != nullptr)
            return Convert<T>::Float(__uint_as_float(static_cast<uint32_t>(source.slice_hash)));
          if (parameters.kind == draw::kSpecial)
            return Convert<T>::Float(draw::SpecialFromBits(parameters, source.slice, from, position, arguments.quantiles));
          return Convert<T>::Float(draw::ValueFromBits(parameters, from, position, arguments.quantiles, arguments.exp_quantiles));
        };
        return packed4::Join<T>(drawn(bits).bits & 0xfu, drawn(packed4::SecondBits(bits)).bits & 0xfu);
      } else if constexpr (kNormal) {
        const float2 ends = pairs[draw::QuantileIndex(bits)];
        const float v = draw::NormalBetween(bits, ends.x, ends.y) * parameters.scale + parameters.offset;
        return Convert<T>::Float(draw::Clip(parameters, v));
      } else if (draw::DrawsIntegers(parameters.kind)) {
        return Convert<T>::Integer(draw::IntegerFromBits(parameters, source.slice_hash, source.slice, bits, position));
      } else if (parameters.kind == draw::kConstant && arguments.slice_table != nullptr) {
        return Convert<T>::Float(__uint_as_float(static_cast<uint32_t>(source.slice_hash)));
      } else if (parameters.kind == draw::kSpecial) {
        return SpecialOf<T>(draw::SpecialFromBits(parameters, source.slice, bits, position, arguments.quantiles));
      } else {
        return Convert<T>::Float(draw::ValueFromBits(parameters, bits, position, arguments.quantiles, arguments.exp_quantiles));
      }
    };
    Packed<T, kWidth> packed;
    if constexpr (kNormal || kWidth == 1) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) packed.values[k] = value_at(k);
    } else {
      // The code of any distribution is long, and is written out once a word, not once an element: 16 copies of it took
      // the assembler minutes. A word's number is compared, because a register has no index.
      constexpr int kWordBytes = sizeof(T) == 8 ? 8 : 4;
      using Word = typename WordOf<kWordBytes>::Type;
      constexpr int kEach = kWordBytes / sizeof(T);
      constexpr int kWords = kWidth / kEach;
      Word words[kWords];
#pragma unroll 1
      for (int w = 0; w < kWords; ++w) {
        Packed<T, kEach> few;
#pragma unroll
        for (int k = 0; k < kEach; ++k) few.values[k] = value_at(w * kEach + k);
        Word word;
        memcpy(&word, &few, sizeof word);
#pragma unroll
        for (int each = 0; each < kWords; ++each) words[each] = each == w ? word : words[each];
      }
      memcpy(&packed, words, sizeof packed);
    }
    *reinterpret_cast<Packed<T, kWidth>*>(layout.address + place.offset * static_cast<int64_t>(sizeof(T))) = packed;
  };

  if (arguments.segment_elements == 0) {  // short rows: every chunk computes its own position
    const uint64_t chunks = static_cast<uint64_t>(layout.elements) / kWidth;
    for (uint64_t chunk = ThreadNumber(); chunk < chunks; chunk += ThreadCount()) {
      const Place place = Locate(layout, chunk * kWidth);
      chunk_at(source_of(place.slice), place);
    }
    return;
  }
  // Long rows have a segment per warp, as in the sums below; slice and position are computed once per segment.
  const uint64_t items = Quotient(layout.by_inner, static_cast<uint64_t>(layout.elements)) * arguments.by_segments.divisor;
  for (uint64_t item = ThreadNumber() >> 5; item < items; item += ThreadCount() >> 5) {
    const uint64_t row = Quotient(arguments.by_segments, item);
    const int64_t begin = static_cast<int64_t>(item - row * arguments.by_segments.divisor) * arguments.segment_elements;
    const int64_t end = begin + arguments.segment_elements < layout.inner ? begin + arguments.segment_elements : layout.inner;
    int64_t i = begin + static_cast<int>(threadIdx.x & 31) * kWidth;
    if (i >= end) continue;
    Walk walk(layout, row * static_cast<uint64_t>(layout.inner) + static_cast<uint64_t>(i));
    const DrawSource source = source_of(walk.place.slice);
    for (;;) {
      chunk_at(source, walk.place);
      i += 32 * kWidth;
      if (i >= end) break;
      walk.Advance(32 * kWidth);
    }
  }
}

// --------------------------------------------------------------------------------------- sums over slices

// Visits a tensor slice by slice; each run of elements of one slice has a copy of the Visitor. A Visitor has these
// functions: Loaded Load(linear, place) reads kWidth elements; Take(loaded, place) adds them to the copy's sum; Sum
// Total() returns it; Plus(a, b) adds two sums; Add(slice, sum) adds a sum to the slice's result.
template <int kWidth, typename Visitor>
__device__ __forceinline__ void WarpRows(const Layout& layout, const Divisor& by_segments, int64_t segment_elements,
                                         const Visitor& visitor) {
  const uint64_t rows = Quotient(layout.by_inner, static_cast<uint64_t>(layout.elements));
  const uint64_t items = rows * by_segments.divisor;
  const int lane = threadIdx.x & 31;
  for (uint64_t item = ThreadNumber() >> 5; item < items; item += ThreadCount() >> 5) {
    const uint64_t row = Quotient(by_segments, item);
    const int64_t begin = static_cast<int64_t>(item - row * by_segments.divisor) * segment_elements;
    const int64_t end = begin + segment_elements < layout.inner ? begin + segment_elements : layout.inner;
    const uint64_t base = row * static_cast<uint64_t>(layout.inner);
    Visitor mine = visitor;
    int64_t i = begin + lane * kWidth;
    Walk walk(layout, base + static_cast<uint64_t>(i < end ? i : begin));
    constexpr int kStep = 32 * kWidth;
    for (; i + kStep < end; i += 2 * kStep) {  // two loads in flight at a time
      const Place first = walk.place;
      const typename Visitor::Loaded a = mine.Load(walk.linear, first);
      walk.Advance(kStep);
      const typename Visitor::Loaded b = mine.Load(walk.linear, walk.place);
      mine.Take(a, first);
      mine.Take(b, walk.place);
      if (i + 2 * kStep < end) walk.Advance(kStep);
    }
    if (i < end) mine.Take(mine.Load(walk.linear, walk.place), walk.place);
    typename Visitor::Sum sum = mine.Total();
    for (int delta = 16; delta > 0; delta >>= 1) sum = Visitor::Plus(sum, __shfl_down_sync(kAllLanes, sum, delta));
    const uint64_t slice = row - Quotient(layout.by_slices, row) * static_cast<uint64_t>(layout.slices);
    if (lane == 0) visitor.Add(slice, sum);
  }
}

// Walks over rows, several of which one thread takes.
template <typename Visitor>
__device__ __forceinline__ void ThreadRows(const Layout& layout, int64_t rows_per_thread, const Visitor& visitor) {
  const uint64_t slices = static_cast<uint64_t>(layout.slices);
  const int64_t outer = static_cast<int64_t>(
      Quotient(layout.by_slices, Quotient(layout.by_inner, static_cast<uint64_t>(layout.elements))));
  const uint64_t items = static_cast<uint64_t>((outer + rows_per_thread - 1) / rows_per_thread) * slices;
  for (uint64_t item = ThreadNumber(); item < items; item += ThreadCount()) {
    const uint64_t group = Quotient(layout.by_slices, item);
    const uint64_t slice = item - group * slices;
    const int64_t first = static_cast<int64_t>(group) * rows_per_thread;
    const int64_t last = first + rows_per_thread < outer ? first + rows_per_thread : outer;
    Visitor mine = visitor;
    for (int64_t o = first; o < last; ++o) {
      const uint64_t base = (static_cast<uint64_t>(o) * slices + slice) * static_cast<uint64_t>(layout.inner);
      for (int64_t i = 0; i < layout.inner; ++i) {
        const uint64_t linear = base + static_cast<uint64_t>(i);
        const Place place = Locate(layout, linear);
        mine.Take(mine.Load(linear, place), place);
      }
    }
    visitor.Add(slice, mine.Total());
  }
}

// Computes the digest that values/slice_digest.h defines.
template <typename Word, int kWidth>
struct DigestVisitor {
  using Sum = unsigned long long;
  struct alignas(sizeof(Word) * kWidth) Loaded {
    Word values[kWidth];
  };
  const Layout& layout;
  unsigned long long* digests;
  digest::Sum sum;

  static __device__ __forceinline__ Sum Plus(Sum a, Sum b) { return digest::Plus(a, b); }
  __device__ __forceinline__ Loaded Load(uint64_t, const Place& place) const {
    return *reinterpret_cast<const Loaded*>(layout.address + place.offset * static_cast<int64_t>(sizeof(Word)));
  }
  __device__ __forceinline__ void Take(const Loaded& loaded, const Place& place) {
    if constexpr (kWidth == 1) {
      sum.AddElement(loaded.values[0], static_cast<uint64_t>(place.position), static_cast<int>(sizeof(Word)));
    } else {
      static_assert(kWidth * sizeof(Word) == 16, "a wide chunk is four words");
      uint32_t words[4];
      memcpy(words, loaded.values, sizeof words);
      sum.AddFour(static_cast<uint64_t>(place.position) * sizeof(Word) / 4, words[0], words[1], words[2], words[3]);
    }
  }
  __device__ __forceinline__ Sum Total() const { return sum.Total(); }
  // A carry out of 64 bits is added as its value modulo the prime: 2^64 is 8.
  __device__ __forceinline__ void Add(uint64_t slice, Sum more) const {
    while (more != 0) {
      const Sum before = atomicAdd(digests + slice, more);
      more = before + more < before ? 8 : 0;
    }
  }
};

// Sums squares of a dense double reference; values that are not finite are left out, or one infinity would excuse every
// error.
struct SquareVisitor {
  using Sum = double;
  using Loaded = double;
  const double* reference;
  double* sums;
  Precision precision;
  double sum;
  static __device__ __forceinline__ Sum Plus(Sum a, Sum b) { return a + b; }
  __device__ __forceinline__ Loaded Load(uint64_t linear, const Place&) const { return reference[linear]; }
  __device__ __forceinline__ void Take(Loaded v, const Place&) {
    const double held = Saturated(v, precision);
    sum += IsFinite(v) ? held * held : 0.0;
  }
  __device__ __forceinline__ Sum Total() const { return sum; }
  __device__ __forceinline__ void Add(uint64_t slice, Sum of_slice) const { atomicAdd(sums + slice, of_slice); }
};

// ------------------------------------------------------------------------------------------- comparing

template <typename T> __device__ __forceinline__ double ToDouble(T v) { return static_cast<double>(v); }
template <> __device__ __forceinline__ double ToDouble(__half v) { return static_cast<double>(__half2float(v)); }
template <> __device__ __forceinline__ double ToDouble(__nv_bfloat16 v) { return static_cast<double>(__bfloat162float(v)); }

template <> __device__ __forceinline__ double ToDouble(float8::E4M3 v) { return static_cast<double>(float8::ToFloat(v)); }
template <> __device__ __forceinline__ double ToDouble(float8::E5M2 v) { return static_cast<double>(float8::ToFloat(v)); }
template <> __device__ __forceinline__ double ToDouble(float8::E8M0 v) { return static_cast<double>(float8::ToFloat(v)); }


__device__ __forceinline__ unsigned long long Largest(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
__device__ __forceinline__ unsigned long long Smallest(unsigned long long a, unsigned long long b) { return a < b ? a : b; }

template <typename T>
__device__ __forceinline__ void CompareBody(const Layout& layout, const double* reference, const double* slice_rms,
                                            double c_max, double c_small, double small_floor, double absolute,
                                            UnwrittenPattern pattern, Precision precision, CompareCounters* counters) {
  using Word = typename WordOf<sizeof(T)>::Type;
  CompareCounters mine{0, 0, 0, ~0ULL, 0, 0, 0, 0.0, 0.0, 0.0};
#pragma unroll 2
  for (uint64_t linear = ThreadNumber(); linear < static_cast<uint64_t>(layout.elements); linear += ThreadCount()) {
    const Place place = Locate(layout, linear);
    const Word word = reinterpret_cast<const Word*>(layout.address)[place.offset];
    const double expected = reference[linear];
    T value;
    memcpy(&value, &word, sizeof value);
    const double actual = ToDouble(value);
    const Judged judged = Judge(actual, expected, slice_rms[place.slice], c_max, precision, absolute, c_small, small_floor);
    const bool unwritten = (static_cast<uint64_t>(word) & pattern.mask & static_cast<Word>(~Word{0})) ==
                               (pattern.value & static_cast<Word>(~Word{0})) && !(actual == expected);
    const bool is_wrong = judged.wrong || unwritten;
    mine.wrong += is_wrong;
    mine.unwritten += unwritten;
    mine.non_finite += judged.non_finite;
    if (is_wrong) mine.first_wrong = Smallest(mine.first_wrong, linear);
    mine.max_scaled_bits = Largest(mine.max_scaled_bits, BitsOf(judged.scaled));
    mine.max_ulp_bits = Largest(mine.max_ulp_bits, BitsOf(judged.ulps));
    mine.max_small_bits = Largest(mine.max_small_bits, BitsOf(judged.small));
    mine.sum_error2 += judged.error * judged.error;
    const double held = Saturated(expected, precision);
    mine.sum_reference2 += IsFinite(expected) ? held * held : 0.0;
    mine.sum_ulp += judged.ulps;
  }
  for (int delta = 16; delta > 0; delta >>= 1) {
    mine.wrong += __shfl_down_sync(kAllLanes, mine.wrong, delta);
    mine.unwritten += __shfl_down_sync(kAllLanes, mine.unwritten, delta);
    mine.non_finite += __shfl_down_sync(kAllLanes, mine.non_finite, delta);
    mine.first_wrong = Smallest(mine.first_wrong, __shfl_down_sync(kAllLanes, mine.first_wrong, delta));
    mine.max_scaled_bits = Largest(mine.max_scaled_bits, __shfl_down_sync(kAllLanes, mine.max_scaled_bits, delta));
    mine.max_ulp_bits = Largest(mine.max_ulp_bits, __shfl_down_sync(kAllLanes, mine.max_ulp_bits, delta));
    mine.max_small_bits = Largest(mine.max_small_bits, __shfl_down_sync(kAllLanes, mine.max_small_bits, delta));
    mine.sum_error2 += __shfl_down_sync(kAllLanes, mine.sum_error2, delta);
    mine.sum_reference2 += __shfl_down_sync(kAllLanes, mine.sum_reference2, delta);
    mine.sum_ulp += __shfl_down_sync(kAllLanes, mine.sum_ulp, delta);
  }
  if ((threadIdx.x & 31) != 0) return;
  if (mine.wrong != 0) atomicAdd(&counters->wrong, mine.wrong);
  if (mine.unwritten != 0) atomicAdd(&counters->unwritten, mine.unwritten);
  if (mine.non_finite != 0) atomicAdd(&counters->non_finite, mine.non_finite);
  if (mine.first_wrong != ~0ULL) atomicMin(&counters->first_wrong, mine.first_wrong);
  if (mine.max_scaled_bits != 0) atomicMax(&counters->max_scaled_bits, mine.max_scaled_bits);
  if (mine.max_ulp_bits != 0) atomicMax(&counters->max_ulp_bits, mine.max_ulp_bits);
  if (mine.max_small_bits != 0) atomicMax(&counters->max_small_bits, mine.max_small_bits);
  if (mine.sum_error2 != 0.0) atomicAdd(&counters->sum_error2, mine.sum_error2);
  if (mine.sum_reference2 != 0.0) atomicAdd(&counters->sum_reference2, mine.sum_reference2);
  if (mine.sum_ulp != 0.0) atomicAdd(&counters->sum_ulp, mine.sum_ulp);
}

// ------------------------------------------------------------------------------------------- gathering

// Copies the chosen slices into a dense tensor, a chunk of `width` elements at a time.
template <typename Word>
__device__ __forceinline__ void GatherBody(const Layout& source, Word* destination, const int64_t* slices,
                                           const Divisor& by_count, int width) {
  const uint64_t count = by_count.divisor;
  const uint64_t rows = Quotient(source.by_inner, static_cast<uint64_t>(source.elements));
  const uint64_t outer = Quotient(source.by_slices, rows);
  const uint64_t chunks = outer * count * static_cast<uint64_t>(source.inner) / static_cast<uint64_t>(width);
  for (uint64_t chunk = ThreadNumber(); chunk < chunks; chunk += ThreadCount()) {
    const uint64_t linear = chunk * static_cast<uint64_t>(width);
    const uint64_t row = Quotient(source.by_inner, linear);
    const uint64_t within = linear - row * static_cast<uint64_t>(source.inner);
    const uint64_t o = Quotient(by_count, row);
    const uint64_t slice = static_cast<uint64_t>(slices[row - o * count]);
    const Place place = Locate(source, (o * static_cast<uint64_t>(source.slices) + slice) * static_cast<uint64_t>(source.inner) + within);
    destination[chunk] = reinterpret_cast<const Word*>(source.address)[place.offset / width];
  }
}

__device__ __forceinline__ uint4 Xor(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }

__device__ __forceinline__ uint64_t GlobalNanoseconds() {
#if defined(__CUDA_ARCH__)
  uint64_t time_now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_now));
  return time_now;
#else
  return ~0ULL;  // only the fake driver of the tests compiles this branch, and it never waits
#endif
}

}  // namespace

// These kernels have blocks of 512 threads. The number of elements is a multiple of the width, as CanVectorize checked.
#define HONE_DRAW(name, type, width)                                                                                    \
  extern "C" __global__ void __launch_bounds__(512)                                                                     \
      hone_draw_##name##_x##width(const __grid_constant__ Layout layout, const __grid_constant__ DrawArguments a) {     \
    DrawBody<type, width, false>(layout, a);                                                                            \
  }
#define HONE_DRAW_NORMAL(name, type, width)                                                                             \
  extern "C" __global__ void __launch_bounds__(512)                                                                     \
      hone_draw_normal_##name##_x##width(const __grid_constant__ Layout layout, const __grid_constant__ DrawArguments a) { \
    DrawBody<type, width, true>(layout, a);                                                                             \
  }
HONE_DRAW(f64, double, 1)
HONE_DRAW(f64, double, 2)
HONE_DRAW(f32, float, 1)
HONE_DRAW(f32, float, 4)
HONE_DRAW(f16, __half, 1)
HONE_DRAW(f16, __half, 8)
HONE_DRAW(bf16, __nv_bfloat16, 1)
HONE_DRAW(bf16, __nv_bfloat16, 8)
HONE_DRAW(i64, uint64_t, 1)
HONE_DRAW(i64, uint64_t, 2)
HONE_DRAW(i32, uint32_t, 1)
HONE_DRAW(i32, uint32_t, 4)
HONE_DRAW(i16, uint16_t, 1)
HONE_DRAW(i16, uint16_t, 8)
HONE_DRAW(i8, uint8_t, 1)
HONE_DRAW(i8, uint8_t, 16)
HONE_DRAW(e4m3, float8::E4M3, 1)
HONE_DRAW(e4m3, float8::E4M3, 16)
HONE_DRAW(e5m2, float8::E5M2, 1)
HONE_DRAW(e5m2, float8::E5M2, 16)
HONE_DRAW(e8m0, float8::E8M0, 1)
HONE_DRAW(e2m1x2, packed4::FloatPair, 1)
HONE_DRAW(e2m1x2, packed4::FloatPair, 16)
HONE_DRAW(i4x2, packed4::IntPair, 1)
HONE_DRAW(i4x2, packed4::IntPair, 16)
HONE_DRAW_NORMAL(f64, double, 1)
HONE_DRAW_NORMAL(f64, double, 2)
HONE_DRAW_NORMAL(f32, float, 1)
HONE_DRAW_NORMAL(f32, float, 4)
HONE_DRAW_NORMAL(f16, __half, 1)
HONE_DRAW_NORMAL(f16, __half, 8)
HONE_DRAW_NORMAL(bf16, __nv_bfloat16, 1)
HONE_DRAW_NORMAL(bf16, __nv_bfloat16, 8)
HONE_DRAW_NORMAL(e4m3, float8::E4M3, 1)
HONE_DRAW_NORMAL(e4m3, float8::E4M3, 16)
HONE_DRAW_NORMAL(e5m2, float8::E5M2, 1)
HONE_DRAW_NORMAL(e5m2, float8::E5M2, 16)

// table [slices]: see DrawArguments::slice_table.
extern "C" __global__ void hone_slice_table(const __grid_constant__ DrawArguments arguments, int64_t slices,
                                            uint64_t* table) {
  for (uint64_t slice = ThreadNumber(); slice < static_cast<uint64_t>(slices); slice += ThreadCount()) {
    const SliceSource source = SourceOf(arguments, static_cast<int64_t>(slice), slices);
    if (arguments.parameters.kind == draw::kConstant) {
      draw::Parameters parameters = arguments.parameters;
      parameters.key = source.key;
      table[slice] = __float_as_uint(
          draw::Value(parameters, source.slice, 0, arguments.quantiles, arguments.exp_quantiles));
    } else {
      table[slice] = draw::SliceHash(source.key, source.slice);
    }
  }
}

// These kernels have blocks of 256 threads. digests [slices] start at zero and end equal to the digests modulo the
// prime. keys: digest::kKeys.
#define HONE_DIGEST(word, width)                                                                                      \
  extern "C" __global__ void __launch_bounds__(256) hone_digest_##word##_x##width(                                    \
      const __grid_constant__ Layout layout, const uint64_t* keys, unsigned long long* digests,                       \
      const __grid_constant__ Divisor by_segments, int64_t segment_elements) {                                        \
    WarpRows<width>(layout, by_segments, segment_elements, DigestVisitor<word##_t, width>{layout, digests, digest::Sum(keys)}); \
  }
#define HONE_DIGEST_THREAD(word)                                                                                      \
  extern "C" __global__ void __launch_bounds__(256) hone_digest_##word##_thread(                                      \
      const __grid_constant__ Layout layout, const uint64_t* keys, unsigned long long* digests,                       \
      int64_t rows_per_thread) {                                                                                      \
    ThreadRows(layout, rows_per_thread, DigestVisitor<word##_t, 1>{layout, digests, digest::Sum(keys)});              \
  }
HONE_DIGEST(uint8, 1)
HONE_DIGEST(uint8, 16)
HONE_DIGEST(uint16, 1)
HONE_DIGEST(uint16, 8)
HONE_DIGEST(uint32, 1)
HONE_DIGEST(uint32, 4)
HONE_DIGEST(uint64, 1)
HONE_DIGEST(uint64, 2)
HONE_DIGEST_THREAD(uint8)
HONE_DIGEST_THREAD(uint16)
HONE_DIGEST_THREAD(uint32)
HONE_DIGEST_THREAD(uint64)

// layout: the output's, used for its rows and slices only. sums [slices] start at zero.
extern "C" __global__ void __launch_bounds__(256)
    hone_squares(const __grid_constant__ Layout layout, const double* reference, double* sums,
                 const __grid_constant__ Precision precision, const __grid_constant__ Divisor by_segments,
                 int64_t segment_elements) {
  WarpRows<1>(layout, by_segments, segment_elements, SquareVisitor{reference, sums, precision, 0.0});
}
extern "C" __global__ void __launch_bounds__(256)
    hone_squares_thread(const __grid_constant__ Layout layout, const double* reference, double* sums,
                        const __grid_constant__ Precision precision, int64_t rows_per_thread) {
  ThreadRows(layout, rows_per_thread, SquareVisitor{reference, sums, precision, 0.0});
}
// Replaces sums of squares by root mean squares, but at least `floor`, in place.
extern "C" __global__ void hone_root_mean(double* sums, int64_t slices, double elements_per_slice, double floor) {
  for (uint64_t i = ThreadNumber(); i < static_cast<uint64_t>(slices); i += ThreadCount()) {
    sums[i] = fmax(sqrt(sums[i] / elements_per_slice), floor);
  }
}

// These kernels have blocks of 256 threads. The host has set `counters` to the starting values that CompareCounters
// states.
#define HONE_COMPARE(name, type)                                                                                  \
  extern "C" __global__ void __launch_bounds__(256) hone_compare_##name(                                          \
      const __grid_constant__ Layout layout, const double* reference, const double* slice_rms, double c_max,      \
      double c_small, double small_floor, double absolute, const __grid_constant__ UnwrittenPattern pattern,      \
      const __grid_constant__ Precision precision, CompareCounters* counters) {                                   \
    CompareBody<type>(layout, reference, slice_rms, c_max, c_small, small_floor, absolute, pattern, precision,    \
                      counters);                                                                                  \
  }
HONE_COMPARE(f64, double)
HONE_COMPARE(f32, float)
HONE_COMPARE(f16, __half)
HONE_COMPARE(bf16, __nv_bfloat16)
HONE_COMPARE(i64, int64_t)
HONE_COMPARE(i32, int32_t)
HONE_COMPARE(u32, uint32_t)
HONE_COMPARE(i16, int16_t)
HONE_COMPARE(i8, int8_t)
HONE_COMPARE(u8, uint8_t)
HONE_COMPARE(u64, uint64_t)
HONE_COMPARE(e4m3, float8::E4M3)
HONE_COMPARE(e5m2, float8::E5M2)
HONE_COMPARE(e8m0, float8::E8M0)

// Writes both numbers of each packed byte to `numbers`, dense and row-major, so that they are compared as float is.
#define HONE_UNPACK(name, type)                                                                                   \
  extern "C" __global__ void __launch_bounds__(256)                                                               \
      hone_unpack_##name(const __grid_constant__ Layout layout, float* numbers) {                                 \
    for (uint64_t linear = ThreadNumber(); linear < static_cast<uint64_t>(layout.elements); linear += ThreadCount()) { \
      const uint32_t byte = reinterpret_cast<const uint8_t*>(layout.address)[Locate(layout, linear).offset];      \
      numbers[2 * linear] = packed4::type::Value(byte & 0xfu);                                                    \
      numbers[2 * linear + 1] = packed4::type::Value(byte >> 4);                                                  \
    }                                                                                                             \
  }
HONE_UNPACK(e2m1x2, FloatPair)
HONE_UNPACK(i4x2, IntPair)

// destination: dense. width: elements per word copied.
#define HONE_GATHER(bytes, word)                                                                                      \
  extern "C" __global__ void __launch_bounds__(256) hone_gather_##bytes(                                              \
      const __grid_constant__ Layout source, word* destination, const int64_t* slices,                                \
      const __grid_constant__ Divisor by_count, int width) {                                                          \
    GatherBody<word>(source, destination, slices, by_count, width);                                                   \
  }
HONE_GATHER(1, uint8_t)
HONE_GATHER(2, uint16_t)
HONE_GATHER(4, uint32_t)
HONE_GATHER(8, uint64_t)
HONE_GATHER(16, uint4)

// ------------------------------------------------------------------------------------------------ memory

// Sets *different to non-zero when [a, a + bytes) differs from [b, b + bytes), or from zero when b is null. Both
// addresses have the same remainder modulo 16.
extern "C" __global__ void __launch_bounds__(256)
    hone_differs(const uint8_t* a, const uint8_t* b, int64_t bytes, unsigned* different) {
  const int64_t head = (16 - static_cast<int64_t>(reinterpret_cast<uint64_t>(a) & 15)) & 15;
  const int64_t first = head < bytes ? head : bytes;
  const int64_t words = (bytes - first) / 16;
  const int64_t tail = first + words * 16;
  bool found_difference = false;
  const uint64_t thread = ThreadNumber();
  if (thread < static_cast<uint64_t>(first)) found_difference |= a[thread] != (b != nullptr ? b[thread] : 0);
  if (thread < static_cast<uint64_t>(bytes - tail))
    found_difference |=
        a[tail + static_cast<int64_t>(thread)] != (b != nullptr ? b[tail + static_cast<int64_t>(thread)] : 0);
  const uint4* wide_a = reinterpret_cast<const uint4*>(a + first);
  const uint4* wide_b = reinterpret_cast<const uint4*>(b + first);
#pragma unroll 4
  for (uint64_t i = thread; i < static_cast<uint64_t>(words); i += ThreadCount()) {
    uint4 v = wide_a[i];
    if (b != nullptr) v = Xor(v, wide_b[i]);
    found_difference |= (v.x | v.y | v.z | v.w) != 0;
  }
  if (found_difference) atomicOr(different, 1u);
}

// Adds to *sum a keyed hash of the bytes: each 64-bit word times an odd number that the key and the word's place
// determine, so that a changed byte changes the sum.
extern "C" __global__ void __launch_bounds__(256)
    hone_watch(const uint8_t* memory, int64_t bytes, uint64_t key, uint64_t* sum) {
  const int64_t head = (16 - static_cast<int64_t>(reinterpret_cast<uint64_t>(memory) & 15)) & 15;
  const int64_t first = head < bytes ? head : bytes;
  const int64_t words = (bytes - first) / 16;
  const int64_t tail = first + words * 16;
  const uint64_t thread = ThreadNumber();
  uint64_t mine = 0;
  const uint4* wide = reinterpret_cast<const uint4*>(memory + first);
#pragma unroll 4
  for (uint64_t i = thread; i < static_cast<uint64_t>(words); i += ThreadCount()) {
    const uint4 v = wide[i];
    const uint64_t position_key = draw::Mix(key + i * 0x9e3779b97f4a7c15ULL);
    mine += (v.x | uint64_t{v.y} << 32) * (position_key | 1) + (v.z | uint64_t{v.w} << 32) * ((position_key >> 7) | 1);
  }
  // The fewer than 16 bytes at each end, which are not part of a whole 16-byte word.
  if (thread < static_cast<uint64_t>(first)) mine += memory[thread] * (draw::Mix(key ^ thread) | 1);
  if (thread < static_cast<uint64_t>(bytes - tail)) mine += memory[tail + static_cast<int64_t>(thread)] * (draw::Mix(~key ^ thread) | 1);
  for (int delta = 16; delta > 0; delta >>= 1) mine += __shfl_down_sync(kAllLanes, mine, delta);
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(mine));
}

extern "C" __global__ void __launch_bounds__(256) hone_fill64(uint64_t* words, int64_t count, uint64_t value) {
  for (uint64_t i = ThreadNumber(); i < static_cast<uint64_t>(count); i += ThreadCount()) words[i] = value;
}

// Fills memory with GapByte's bytes for this key, changed by `mask`; eight at a time if the address allows.
extern "C" __global__ void __launch_bounds__(256)
    hone_scramble(uint8_t* memory, int64_t bytes, uint64_t key, const __grid_constant__ FillMask mask) {
  const int64_t words = (reinterpret_cast<uint64_t>(memory) & 7) == 0 ? bytes / 8 : 0;
  for (uint64_t i = ThreadNumber(); i < static_cast<uint64_t>(words); i += ThreadCount()) {
    reinterpret_cast<uint64_t*>(memory)[i] = (draw::Mix(key + i * 0x9e3779b97f4a7c15ULL) & mask.keep) | mask.set;
  }
  for (uint64_t i = static_cast<uint64_t>(words) * 8 + ThreadNumber(); i < static_cast<uint64_t>(bytes); i += ThreadCount()) {
    memory[i] = MaskedByte(key, mask, static_cast<int64_t>(i));
  }
}

// Visits a gap with kGapParts blocks. `each_word(offset)` is called for whole words of eight bytes, `each_byte(offset)`
// for those at the gap's ends; returning false ends the thread's part.
template <typename EachWord, typename EachByte>
__device__ __forceinline__ void WalkGap(const Listed<Gap>& gaps, EachWord each_word, EachByte each_byte) {
  const Gap gap = gaps.items[blockIdx.x / kGapParts];
  const int64_t part = blockIdx.x % kGapParts;
  const int64_t first_word = (gap.begin + 7) / 8, end_word = gap.end / 8;  // range of whole words
  if (first_word >= end_word) {
    if (part != 0) return;
    for (int64_t at = gap.begin + threadIdx.x; at < gap.end; at += blockDim.x) {
      if (!each_byte(at)) return;
    }
    return;
  }
  if (part == 0) {
    const int64_t before = first_word * 8 - gap.begin, after = gap.end - end_word * 8;
    for (int64_t i = threadIdx.x; i < before + after; i += blockDim.x) {
      if (!each_byte(i < before ? gap.begin + i : end_word * 8 + i - before)) return;
    }
  }
  const int64_t words = end_word - first_word;
  const int64_t begin = first_word + words * part / kGapParts, end = first_word + words * (part + 1) / kGapParts;
  for (int64_t word = begin + threadIdx.x; word < end; word += blockDim.x) {
    if (!each_word(word * 8)) return;
  }
}
// Offsets are from `base`, which is a multiple of eight.
extern "C" __global__ void __launch_bounds__(256)
    hone_gap_fill(uint8_t* base, const __grid_constant__ Listed<Gap> gaps, uint64_t key) {
  WalkGap(
      gaps,
      [&](int64_t offset) {
        *reinterpret_cast<uint64_t*>(base + offset) = GapWord(key, offset);
        return true;
      },
      [&](int64_t offset) {
        base[offset] = GapByte(key, offset);
        return true;
      });
}
// *first_damaged starts at ~0 and becomes the smallest damaged offset.
extern "C" __global__ void __launch_bounds__(256)
    hone_gap_check(const uint8_t* base, const __grid_constant__ Listed<Gap> gaps, uint64_t key,
                   unsigned long long* first_damaged) {
  const auto check = [&](int64_t offset) {
    if (base[offset] == GapByte(key, offset)) return true;
    atomicMin(first_damaged, static_cast<unsigned long long>(offset));
    return false;
  };
  WalkGap(
      gaps,
      [&](int64_t offset) {
        if (*reinterpret_cast<const uint64_t*>(base + offset) == GapWord(key, offset)) return true;
        for (int64_t at = offset; check(at); ++at) {
        }
        return false;
      },
      check);
}

// Each block copies pieces in turn.
extern "C" __global__ void __launch_bounds__(32)
    hone_globals_put(const GlobalPiece* pieces, int64_t count, const uint8_t* image) {
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const GlobalPiece piece = pieces[i];
    uint8_t* const global = reinterpret_cast<uint8_t*>(piece.address);
    for (uint32_t at = threadIdx.x; at < piece.bytes; at += blockDim.x) global[at] = image[piece.offset + at];
  }
}
extern "C" __global__ void __launch_bounds__(32)
    hone_globals_take(const GlobalPiece* pieces, int64_t count, uint8_t* image) {
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const GlobalPiece piece = pieces[i];
    const uint8_t* const global = reinterpret_cast<const uint8_t*>(piece.address);
    for (uint32_t at = threadIdx.x; at < piece.bytes; at += blockDim.x) image[piece.offset + at] = global[at];
  }
}

#ifdef __CUDACC__
// --- memory of multiprocessors; not for the host's compiler ---
//
// Returns word i of a scrub: random, a signalling NaN, or a float between 0.5 and 2, depending on the key.
__device__ __forceinline__ unsigned ScrubWord(uint64_t key, unsigned i) {
  const auto drawn = static_cast<unsigned>(draw::Mix(key + i * 0x9e3779b97f4a7c15ULL));
  switch (key % 3) {
    case 0: return drawn;
    case 1: return 0x7f800001u | (drawn & 0x003ffffeu);
    default: return 0x3f000000u + (drawn >> 8);
  }
}
extern "C" __global__ void __launch_bounds__(1024) hone_scrub_shared(uint64_t key, int words16) {
  extern __shared__ uint4 shared[];
  for (int i = static_cast<int>(threadIdx.x); i < words16; i += static_cast<int>(blockDim.x)) {
    const unsigned at = 4u * static_cast<unsigned>(i) + (blockIdx.x << 16);
    shared[i] = make_uint4(ScrubWord(key, at), ScrubWord(key, at + 1), ScrubWord(key, at + 2), ScrubWord(key, at + 3));
  }
  // A block that ended at once would leave its multiprocessor to a later block, and some other multiprocessor would get
  // none.
  const uint64_t start = GlobalNanoseconds();
  while (GlobalNanoseconds() - start < 2000) {
  }
}
// Overwrites kBytes of the thread's local memory. `volatile` keeps the compiler from dropping the stores.
template <int kBytes>
__device__ __forceinline__ void ScrubLocal(uint64_t key, unsigned* sink) {
  volatile unsigned local[kBytes / 4];
#pragma unroll 1
  for (unsigned i = 0; i < kBytes / 4; ++i) local[i] = ScrubWord(key, i + threadIdx.x);
  const uint64_t start = GlobalNanoseconds();
  while (GlobalNanoseconds() - start < 2000) {
  }
  if (local[key % (kBytes / 4)] == 1u && key == 1) *sink = local[0];
}
extern "C" __global__ void __launch_bounds__(1024, 2) hone_scrub_local_256(uint64_t key, unsigned* sink) { ScrubLocal<256>(key, sink); }
extern "C" __global__ void __launch_bounds__(1024, 2) hone_scrub_local_1024(uint64_t key, unsigned* sink) { ScrubLocal<1024>(key, sink); }
extern "C" __global__ void __launch_bounds__(1024, 2) hone_scrub_local_4096(uint64_t key, unsigned* sink) { ScrubLocal<4096>(key, sink); }
extern "C" __global__ void __launch_bounds__(1024, 2) hone_scrub_local_16384(uint64_t key, unsigned* sink) { ScrubLocal<16384>(key, sink); }
#endif

// ------------------------------------------------------------------------------------------------ timing

// Reads words [0, words), which leaves exactly these lines, clean, as the most recent ones in L2. sink is written for
// only one of 2^128 values of the sum, so that the compiler cannot drop the loads.
extern "C" __global__ void __launch_bounds__(512) hone_touch(const uint4* source, int64_t words, uint4* sink) {
  uint4 sum = make_uint4(0x9e3779b9u, 0x7f4a7c15u, 0xbf58476du, 0x1ce4e5b9u);
  constexpr int kInFlight = 4;
  const uint64_t count = static_cast<uint64_t>(words), step = ThreadCount();
  uint64_t i = ThreadNumber();
  for (; i + (kInFlight - 1) * step < count; i += kInFlight * step) {
    uint4 loaded[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) loaded[k] = source[i + k * step];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum = Xor(sum, loaded[k]);
  }
  for (; i < count; i += step) sum = Xor(sum, source[i]);
  if ((sum.x | sum.y | sum.z | sum.w) == 0) *sink = sum;
}

// Every block reads a word of every page, one run per warp, so that every multiprocessor has translated the addresses.
extern "C" __global__ void __launch_bounds__(1024)
    hone_touch_pages(const __grid_constant__ Listed<PageRun> runs, uint64_t granule, unsigned* sink) {
  unsigned sum = 0;
  for (int64_t i = threadIdx.x / 32; i < runs.count; i += blockDim.x / 32) {
    const PageRun run = runs.items[i];
    for (int64_t page = threadIdx.x % 32; page < run.pages; page += 32) {
      sum += *reinterpret_cast<const volatile unsigned*>(run.address + static_cast<uint64_t>(page) * granule);
    }
  }
  if (sum == 0x9e3779b9u && runs.count < 0) *sink = sum;
}

extern "C" __global__ void hone_separator() {}

// Holds the stream, for limit_ns at most, until the host has enqueued all following work, which then runs back to back,
// whatever the host's speed. flag: pinned host memory.
extern "C" __global__ void hone_gate(const volatile unsigned* flag, unsigned expected, uint64_t limit_ns) {
  const uint64_t start = GlobalNanoseconds();
  while (*flag != expected && GlobalNanoseconds() - start < limit_ns) __nanosleep(200);
}

// Keeps every SM busy for about `duration_ns`, so that clocks rise before the first sample.
extern "C" __global__ void __launch_bounds__(256) hone_spin(uint64_t duration_ns, float* sink) {
  const uint64_t start = GlobalNanoseconds();
  float a = static_cast<float>(threadIdx.x), b = 1.0f;
  do {
#pragma unroll 32
    for (int i = 0; i < 256; ++i) { a = a * 1.0001f + b; b = b * 0.9999f + a; }
  } while (GlobalNanoseconds() - start < duration_ns);
  if (a == 1.234567e-30f) *sink = b;
}

// Implements the floor: block b reads words [b * reads / blocks, …) and writes its share likewise, 16 bytes at a time
// with several loads in flight. Words wrap at the region sizes, so that pools may be smaller than the traffic.
extern "C" __global__ void __launch_bounds__(256)
    hone_stream(const uint4* source, uint4* destination, int64_t reads, int64_t writes,
                const __grid_constant__ Divisor source_words, const __grid_constant__ Divisor destination_words,
                const __grid_constant__ Divisor by_blocks) {
  const uint64_t block = blockIdx.x;
  const uint64_t read_begin = Quotient(by_blocks, block * static_cast<uint64_t>(reads));
  const uint64_t read_end = Quotient(by_blocks, (block + 1) * static_cast<uint64_t>(reads));
  const uint64_t write_begin = Quotient(by_blocks, block * static_cast<uint64_t>(writes));
  const uint64_t write_end = Quotient(by_blocks, (block + 1) * static_cast<uint64_t>(writes));
  constexpr int kInFlight = 4;
  uint4 sum = make_uint4(0x9e3779b9u, 0x7f4a7c15u, 0xbf58476du, 0x1ce4e5b9u);
  for (uint64_t i = read_begin + threadIdx.x; i < read_end; i += kInFlight * 256) {
    uint4 loaded[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const uint64_t at = i + k * 256;
      loaded[k] = make_uint4(0, 0, 0, 0);
      if (at < read_end) loaded[k] = source[at - Quotient(source_words, at) * source_words.divisor];
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum = Xor(sum, loaded[k]);
  }
  for (uint64_t i = write_begin + threadIdx.x; i < write_end; i += 256) {
    destination[i - Quotient(destination_words, i) * destination_words.divisor] = sum;
  }
  if (writes == 0 && (sum.x | sum.y | sum.z | sum.w) == 0) *destination = sum;
}

// Copies like hone_stream, with one word per thread. Fewer bytes are then in flight at a time, which suits memory that
// is read and written at once: on an H200, copies of 32 MB and more take 4 to 5 % less time.
extern "C" __global__ void __launch_bounds__(256)
    hone_stream_each(const uint4* source, uint4* destination, int64_t reads, int64_t writes,
                     const __grid_constant__ Divisor source_words, const __grid_constant__ Divisor destination_words) {
  const uint64_t i = ThreadNumber();
  uint4 word = make_uint4(0x9e3779b9u, 0x7f4a7c15u, 0xbf58476du, 0x1ce4e5b9u);
  if (i < static_cast<uint64_t>(reads)) {
    const uint64_t at = i < source_words.divisor ? i : i - Quotient(source_words, i) * source_words.divisor;
    word = Xor(word, source[at]);
  }
  if (i < static_cast<uint64_t>(writes)) {
    destination[i < destination_words.divisor ? i : i - Quotient(destination_words, i) * destination_words.divisor] = word;
  } else if ((word.x | word.y | word.z | word.w) == 0) {
    *destination = word;
  }
}

}  // namespace hone::harness
