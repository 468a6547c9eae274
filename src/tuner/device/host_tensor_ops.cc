// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/host_tensor_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tuner/core/task/packed_numbers.h"
#include "tuner/device/cuda/harness/harness_layout.h"
#include "tuner/values/draw.h"
#include "tuner/values/draw_table.h"
#include "tuner/values/float8.h"
#include "tuner/values/packed4.h"
#include "tuner/values/slice_digest.h"

namespace hone::host {
namespace {

// These storage types say by their name how their bits are read.
struct Half { uint16_t bits; };
struct Brain { uint16_t bits; };

float ToFloat(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  const uint32_t exponent = (h.bits >> 10) & 0x1fu;
  const uint32_t mantissa = h.bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24, exact in float
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

Half ToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7fffu)};
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {
    // Below 2^-14: adding 0.5 lets the float adder round to multiples of 2^-24, nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)))};
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

float ToFloat(Brain b) { return std::bit_cast<float>(static_cast<uint32_t>(b.bits) << 16); }

Brain ToBrain(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

template <typename T>
inline constexpr bool kFloat8 =
    std::is_same_v<T, float8::E4M3> || std::is_same_v<T, float8::E5M2> || std::is_same_v<T, float8::E8M0>;
// True for the types whose values are rounded from a float.
template <typename T>
inline constexpr bool kNarrow = std::is_same_v<T, Half> || std::is_same_v<T, Brain> || kFloat8<T>;

template <typename T>
inline constexpr bool kPair = std::is_same_v<T, packed4::FloatPair> || std::is_same_v<T, packed4::IntPair>;

template <typename T>
double ToDouble(T value) {
  if constexpr (kPair<T>) {
    return static_cast<double>(value.bits);  // the byte: what a [[hand]] case writes
  } else if constexpr (kFloat8<T>) {
    return static_cast<double>(float8::ToFloat(value));
  } else if constexpr (kNarrow<T>) {
    return static_cast<double>(ToFloat(value));
  } else {
    return static_cast<double>(value);
  }
}

// Converts a float as the harness kernels do: integers via 64 bits, so that they wrap alike.
template <typename T>
T FromFloat(float value) {
  if constexpr (kPair<T>) {
    return packed4::Join<T>(T::Code(value), T::Code(value));
  } else if constexpr (std::is_same_v<T, Half>) {
    return ToHalf(value);
  } else if constexpr (std::is_same_v<T, Brain>) {
    return ToBrain(value);
  } else if constexpr (kFloat8<T>) {
    return float8::FromFloat<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<int64_t>(value));
  }
}

template <typename T>
T FromInteger(int64_t value) {
  if constexpr (kPair<T>) {
    return packed4::Join<T>(T::Code(value), T::Code(value));
  } else if constexpr (kNarrow<T>) {
    return FromFloat<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Returns the float from which a narrow type is rounded: to odd, which prevents a false tie in the second rounding.
float ToOddFloat(double value) {
  const auto narrowed = static_cast<float>(value);
  if (!std::isfinite(narrowed) || static_cast<double>(narrowed) == value) return narrowed;
  uint32_t bits = std::bit_cast<uint32_t>(narrowed);
  if (std::abs(static_cast<double>(narrowed)) > std::abs(value)) --bits;  // towards zero
  return std::bit_cast<float>(bits | 1u);
}

// Rounds a double once.
template <typename T>
T FromDouble(double value) {
  if constexpr (kPair<T>) {
    return T{static_cast<uint8_t>(value)};
  } else if constexpr (kNarrow<T>) {
    return FromFloat<T>(ToOddFloat(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<int64_t>(value));
  }
}

// Returns the number in the low (0) or high (1) half of a pair.
template <typename T>
double PackedToDouble(T value, int64_t part) {
  return static_cast<double>(T::Value((static_cast<uint32_t>(value.bits) >> (4 * part)) & 0xfu));
}

// Returns number `part` of an element.
template <typename T>
double NumberOf(T value, int64_t part) {
  if constexpr (kPair<T>) {
    return PackedToDouble(value, part);
  } else {
    return ToDouble(value);
  }
}

template <typename T>
struct TypeTag {
  using Type = T;
};

// Calls `f` with the storage type of `dtype`.
template <typename F>
decltype(auto) WithType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat64: return f(TypeTag<double>{});
    case DType::kFloat32: return f(TypeTag<float>{});
    case DType::kFloat16: return f(TypeTag<Half>{});
    case DType::kBFloat16: return f(TypeTag<Brain>{});
    case DType::kInt64: return f(TypeTag<int64_t>{});
    case DType::kInt32: return f(TypeTag<int32_t>{});
    case DType::kUInt32: return f(TypeTag<uint32_t>{});
    case DType::kInt16: return f(TypeTag<int16_t>{});
    case DType::kInt8: return f(TypeTag<int8_t>{});
    case DType::kUInt8: return f(TypeTag<uint8_t>{});
    case DType::kUInt64: return f(TypeTag<uint64_t>{});
    case DType::kBool: return f(TypeTag<uint8_t>{});
    case DType::kFloat8E4M3: return f(TypeTag<float8::E4M3>{});
    case DType::kFloat8E5M2: return f(TypeTag<float8::E5M2>{});
    case DType::kFloat8E8M0: return f(TypeTag<float8::E8M0>{});
    case DType::kFloat4Pair: return f(TypeTag<packed4::FloatPair>{});
    case DType::kInt4Pair: return f(TypeTag<packed4::IntPair>{});
  }
  CheckFailed(__FILE__, __LINE__, "dtype", "a dtype outside its enumeration");
}

// Maps T to the unsigned integer of the same width.
template <typename T>
using WordOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <typename F>
decltype(auto) WithWord(DType dtype, F&& f) {
  switch (DTypeBytes(dtype)) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<uint16_t>{});
    case 4: return f(TypeTag<uint32_t>{});
    default: return f(TypeTag<uint64_t>{});
  }
}

// A run of elements along the last axis.
struct Row {
  int64_t linear = 0;    // row-major number of its first element
  int64_t offset = 0;    // elements from the base address
  int64_t slice = 0;     // slice of its first element
  int64_t position = 0;  // position of its first element within its slice
  int64_t count = 0;
  int64_t stride = 1;           // elements
  int64_t slice_step = 0;       // 1 when the last axis is the slice axis
  int64_t position_step = 1;    // 0 when the last axis is the slice axis
};

// Visits all rows in row-major order. Positions number the elements of a slice row-major over the other axes.
template <typename F>
void ForEachRow(const TensorView& view, F&& visit) {
  if (view.elements == 0) return;
  Row row;
  const size_t rank = view.shape.size();
  if (rank == 0) {
    row.count = 1;
    visit(row);
    return;
  }
  const auto slice_axis = static_cast<size_t>(view.slice_axis);  // -1 becomes an axis that does not exist
  std::vector<int64_t> position_stride(rank, 0);
  int64_t elements_in_slice = 1;
  for (size_t axis = rank; axis-- > 0;) {
    if (axis == slice_axis) continue;
    position_stride[axis] = elements_in_slice;
    elements_in_slice *= view.shape[axis];
  }
  const size_t last = rank - 1;
  row.count = view.shape[last];
  row.stride = view.strides[last];
  row.slice_step = last == slice_axis ? 1 : 0;
  row.position_step = last == slice_axis ? 0 : 1;
  std::vector<int64_t> index(rank, 0);
  for (;;) {
    visit(row);
    row.linear += row.count;
    size_t axis = last;
    while (axis-- > 0) {
      ++index[axis];
      row.offset += view.strides[axis];
      (axis == slice_axis ? row.slice : row.position) += axis == slice_axis ? 1 : position_stride[axis];
      if (index[axis] < view.shape[axis]) break;
      row.offset -= view.strides[axis] * index[axis];
      (axis == slice_axis ? row.slice : row.position) -= (axis == slice_axis ? 1 : position_stride[axis]) * index[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

template <typename T>
T* BaseOf(const TensorView& view) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(view.address));  // NOLINT: addresses are pointers here
}

// memcpy is used because a view may be unaligned.
template <typename T>
T Load(const T* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

harness::Precision PrecisionOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return harness::kBinary64;
    case DType::kFloat32: return harness::kBinary32;
    case DType::kFloat16: return harness::kBinary16;
    case DType::kBFloat16: return harness::kBrain16;
    case DType::kFloat8E4M3: return harness::kE4M3;
    case DType::kFloat8E5M2: return harness::kE5M2;
    case DType::kFloat4Pair: return harness::kE2M1;
    default: return harness::kInteger;
  }
}

uint64_t PoisonBits(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 0x7ff4b0b0b0b0b0b1ULL;
    case DType::kFloat32: return 0x7fa5b0b1ULL;
    case DType::kFloat16: return 0x7d5bULL;
    case DType::kBFloat16: return 0x7fabULL;
    case DType::kInt64:
    case DType::kUInt64: return 0x5bd1e995a5a5a5a5ULL;
    case DType::kInt32:
    case DType::kUInt32: return 0x5bd1e9a5ULL;
    case DType::kInt16: return 0x5ba5ULL;
    case DType::kInt8:
    case DType::kBool:
    case DType::kFloat4Pair:
    case DType::kInt4Pair:
    case DType::kUInt8: return 0xa5ULL;
    case DType::kFloat8E4M3: return 0xffULL;
    case DType::kFloat8E5M2: return 0xfdULL;
    case DType::kFloat8E8M0: return 0xffULL;
  }
  return 0;
}

double ForgivenSquares(double absolute, int64_t elements) {
  const double ties = static_cast<double>(elements) / 100;
  return absolute * absolute * (ties + 4 * std::sqrt(ties) + 1);
}

double ReadElement(DType dtype, const void* element) {
  return WithType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return ToDouble(Load(static_cast<const T*>(element)));
  });
}

void WriteElement(DType dtype, void* element, double value) {
  WithType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T stored = FromDouble<T>(value);
    std::memcpy(element, &stored, sizeof stored);
  });
}

double ReadNumber(DType dtype, const void* element, int64_t part) {
  return WithType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    return NumberOf(Load(static_cast<const T*>(element)), part);
  });
}

void WriteNumber(DType dtype, void* element, int64_t part, double value) {
  if (!IsPacked(dtype)) return WriteElement(dtype, element, value);
  WithType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    if constexpr (kPair<T>) {
      const uint32_t other_nibble = Load(static_cast<const T*>(element)).bits & (part == 0 ? 0xf0u : 0x0fu);
      const T stored{static_cast<uint8_t>(other_nibble | (T::Code(ToOddFloat(value)) << (4 * part)))};
      std::memcpy(element, &stored, sizeof stored);
    }
  });
}

Status Draw(const DrawRequest& request) {
  const TensorView& view = request.view;
  if (view.elements == 0) return Status::Ok();
  const int64_t slices = view.slices();
  draw::Parameters base =
      MakeParameters(request.values, view.dtype, request.key, request.index_bound,
                     view.elements / std::max<int64_t>(slices, 1), view.shape.empty() ? 1 : view.shape.back());
  SetMaskLines(request.values, view.shape, view.slice_axis, &base);
  base.pattern_key = request.pattern_key;
  base.sliced = view.slice_axis >= 0;
  const float* quantiles = NormalQuantiles();
  const float* exp_quantiles = ExpQuantiles();

  // Key and source slice for the elements of a slice.
  struct Source {
    draw::Parameters parameters;
    uint64_t slice;  // number of the slice whose values are drawn
    uint64_t slice_hash;
  };
  const auto source_of = [&](int64_t slice) {
    Source source{base, 0, 0};
    if (request.redraw_key != 0 && std::binary_search(request.redrawn.begin(), request.redrawn.end(), slice)) {
      source.parameters.key = request.redraw_key;
      source.slice = static_cast<uint64_t>(slice);
    } else {
      source.slice =
          draw::Permute(static_cast<uint64_t>(slice), static_cast<uint64_t>(slices), request.permutation_key);
    }
    source.slice_hash = draw::SliceHash(source.parameters.key, source.slice);
    return source;
  };

  WithType(view.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T* memory = BaseOf<T>(view);
    ForEachRow(view, [&](const Row& row) {
      Source source = source_of(row.slice);
      for (int64_t i = 0; i < row.count; ++i) {
        if (row.slice_step != 0 && i > 0) source = source_of(row.slice + i);
        const auto position = static_cast<uint64_t>(row.position + i * row.position_step);
        const uint64_t bits = draw::HashInSlice(source.slice_hash, position);
        const auto drawn = [&](uint64_t from) {
          return draw::DrawsIntegers(base.kind)
                     ? FromInteger<T>(
                           draw::IntegerFromBits(source.parameters, source.slice_hash, source.slice, from, position))
                 : base.kind == draw::kSpecial
                     ? FromFloat<T>(draw::SpecialFromBits(source.parameters, source.slice, from, position, quantiles))
                     : FromFloat<T>(draw::ValueFromBits(source.parameters, from, position, quantiles, exp_quantiles));
        };
        T value = drawn(bits);
        if constexpr (kPair<T>) value = packed4::Join<T>(value.bits & 0xfu, drawn(packed4::SecondBits(bits)).bits & 0xfu);
        std::memcpy(memory + row.offset + i * row.stride, &value, sizeof value);
      }
    });
  });
  return Status::Ok();
}

namespace {

void FillPattern(const TensorView& view, uint64_t bits) {
  const int64_t width = DTypeBytes(view.dtype);
  char* memory = BaseOf<char>(view);
  for (int64_t at = 0; at + width <= view.span_bytes; at += width) {
    std::memcpy(memory + at, &bits, static_cast<size_t>(width));  // little-endian: the low bytes
  }
}

}  // namespace

void Poison(const TensorView& view) { FillPattern(view, PoisonBits(view.dtype)); }

uint64_t NanPattern(DType dtype, uint64_t key) {
  if (IsFloat8(dtype)) return PoisonBits(dtype) ^ (dtype == DType::kFloat8E8M0 ? 0 : draw::Mix(key) & 0x80);
  const harness::UnwrittenPattern fixed = harness::UnwrittenOf(PoisonBits(dtype), PrecisionOf(dtype));
  return (draw::Mix(key) & ~fixed.mask) | fixed.value;
}

harness::FillMask MaskOf(DType dtype, FillKind kind) {
  // Each byte of packed numbers is plausible.
  if (kind != FillKind::kPlausible || IsPacked(dtype)) return harness::BytesMask();
  return harness::PlausibleMask(PrecisionOf(dtype), static_cast<int>(DTypeBytes(dtype)));
}

void FillWith(const TensorView& view, const FillSpec& fill) {
  if (fill.kind == FillKind::kNan && IsFloating(view.dtype)) {
    FillPattern(view, NanPattern(view.dtype, fill.key));
    return;
  }
  const harness::FillMask mask = MaskOf(view.dtype, fill.kind);
  char* memory = BaseOf<char>(view);
  for (int64_t at = 0; at < view.span_bytes; ++at) memory[at] = static_cast<char>(harness::MaskedByte(fill.key, mask, at));
}

Status GatherSlices(const TensorView& source, const TensorView& destination, const std::vector<int64_t>& slices) {
  if (source.dtype != destination.dtype || source.shape.size() != destination.shape.size() ||
      source.slice_axis != destination.slice_axis) {
    return Status::InvalidArgument("gathering slices between tensors of different dtype, rank or slice axis");
  }
  for (size_t axis = 0; axis < source.shape.size(); ++axis) {
    const int64_t expected = static_cast<int>(axis) == source.slice_axis ? static_cast<int64_t>(slices.size())
                                                                         : source.shape[axis];
    if (destination.shape[axis] != expected) {
      return Status::InvalidArgument(fmt::format("gathering {} slices into an axis {} of extent {}, expected {}",
                                                 slices.size(), axis, destination.shape[axis], expected));
    }
  }
  int64_t slice_stride = 0;
  if (source.slice_axis >= 0) {
    slice_stride = source.strides[static_cast<size_t>(source.slice_axis)];
    for (int64_t slice : slices) {
      if (slice < 0 || slice >= source.slices()) {
        return Status::InvalidArgument(fmt::format("slice {} of a tensor with {}", slice, source.slices()));
      }
    }
  }
  // The loop follows the destination; the source element has the same index except on the slice axis.
  const size_t rank = destination.shape.size();
  TensorView from = destination;
  from.strides = source.strides;
  const auto width = static_cast<size_t>(DTypeBytes(source.dtype));
  const char* source_base = BaseOf<const char>(source);
  char* write = BaseOf<char>(destination);
  std::vector<int64_t> read_offsets;  // per row of `from`, in elements, slice axis moved to the listed slice
  ForEachRow(from, [&](const Row& row) {
    const int64_t shift = source.slice_axis >= 0 && row.slice_step == 0
                              ? (slices[static_cast<size_t>(row.slice)] - row.slice) * slice_stride
                              : 0;
    read_offsets.push_back(row.offset + shift);
  });
  size_t at = 0;
  ForEachRow(destination, [&](const Row& row) {
    const int64_t read_offset = read_offsets[at++];
    const int64_t read_stride = rank == 0 ? 1 : source.strides[rank - 1];
    if (row.slice_step == 0 && row.stride == 1 && read_stride == 1) {
      std::memcpy(write + static_cast<size_t>(row.offset) * width,
                  source_base + static_cast<size_t>(read_offset) * width, static_cast<size_t>(row.count) * width);
      return;
    }
    for (int64_t i = 0; i < row.count; ++i) {
      const int64_t source_index = row.slice_step != 0 ? slices[static_cast<size_t>(row.slice + i)] : i;
      std::memcpy(write + static_cast<size_t>(row.offset + i * row.stride) * width,
                  source_base + static_cast<size_t>(read_offset + source_index * read_stride) * width, width);
    }
  });
  return Status::Ok();
}

Status GatherBox(const TensorView& source, const TensorView& destination, const KeptIndices& kept_indices) {
  if (source.dtype != destination.dtype || source.shape.size() != destination.shape.size()) {
    return Status::InvalidArgument("gathering a box between tensors of different dtype or rank");
  }
  for (size_t axis = 0; axis < source.shape.size(); ++axis) {
    const auto listed = kept_indices.find(static_cast<int>(axis));
    const int64_t expected =
        listed != kept_indices.end() ? static_cast<int64_t>(listed->second.size()) : source.shape[axis];
    if (destination.shape[axis] != expected) {
      return Status::InvalidArgument(fmt::format("gathering {} of {} indices into an axis {} of extent {}", expected,
                                                 source.shape[axis], axis, destination.shape[axis]));
    }
    if (listed == kept_indices.end()) continue;
    for (const int64_t index : listed->second) {
      if (index < 0 || index >= source.shape[axis]) {
        return Status::InvalidArgument(fmt::format("index {} of an axis of extent {}", index, source.shape[axis]));
      }
    }
  }
  const auto width = static_cast<size_t>(DTypeBytes(source.dtype));
  const char* source_base = BaseOf<const char>(source);
  char* write = BaseOf<char>(destination);
  ForEachInBox(source, destination, kept_indices, [&](int64_t from, int64_t to) {
    std::memcpy(write + static_cast<size_t>(to) * width, source_base + static_cast<size_t>(from) * width, width);
  });
  return Status::Ok();
}

Comparison Compare(const TensorView& output, const double* reference, const Tolerance& tolerance) {
  Comparison result;
  const int64_t numbers = NumbersPerElement(output.dtype);
  result.total = output.elements * numbers;
  if (output.elements == 0) return result;
  const auto slices = static_cast<size_t>(output.slices());
  const harness::Precision precision = PrecisionOf(output.dtype);

  // Root mean square of the reference per slice. Values that are not finite are left out: one infinity would excuse all
  // errors.
  std::vector<double> rms(slices, 0.0);
  double sum_reference2 = 0;
  ForEachRow(output, [&](const Row& row) {
    for (int64_t i = 0; i < row.count * numbers; ++i) {
      double expected = reference[row.linear * numbers + i];
      if (!std::isfinite(expected)) continue;
      expected = harness::Saturated(expected, precision);
      rms[static_cast<size_t>(row.slice + i / numbers * row.slice_step)] += expected * expected;
      sum_reference2 += expected * expected;
    }
  });
  const double per_slice = static_cast<double>(result.total) / static_cast<double>(slices);
  const double smallest_normal = harness::SmallestNormal(precision);
  for (double& sum : rms) sum = std::max({std::sqrt(sum / per_slice), tolerance.floor, smallest_normal});

  double sum_error2 = 0, sum_ulp = 0;
  WithType(output.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using Word = WordOf<T>;
    const harness::UnwrittenPattern pattern = harness::UnwrittenOf(PoisonBits(output.dtype), precision);
    const auto pattern_mask = static_cast<Word>(pattern.mask), pattern_value = static_cast<Word>(pattern.value);
    const T* memory = BaseOf<const T>(output);
    ForEachRow(output, [&](const Row& row) {
      constexpr int64_t kNumbers = kPair<T> ? 2 : 1;
      for (int64_t i = 0; i < row.count * kNumbers; ++i) {
        const T stored = Load(memory + row.offset + i / kNumbers * row.stride);
        const auto word = std::bit_cast<Word>(stored);
        const double expected = reference[row.linear * kNumbers + i];
        const double actual = NumberOf(stored, i % kNumbers);
        const harness::Judged judged =
            harness::Judge(actual, expected, rms[static_cast<size_t>(row.slice + i / kNumbers * row.slice_step)], tolerance.c_max,
                           precision, tolerance.absolute, tolerance.c_small, tolerance.small_floor);
        const bool unwritten = (word & pattern_mask) == pattern_value && !(actual == expected);
        if (judged.wrong || unwritten) {
          if (result.wrong == 0) {
            result.first_wrong = row.linear * kNumbers + i;
            result.first_expected = expected;
            result.first_actual = actual;
          }
          ++result.wrong;
        }
        result.unwritten += unwritten;
        result.non_finite += judged.non_finite;
        result.max_scaled = std::max(result.max_scaled, judged.scaled);
        result.max_small = std::max(result.max_small, judged.small);
        result.max_ulp = std::max(result.max_ulp, judged.ulps);
        sum_error2 += judged.error * judged.error;
        sum_ulp += judged.ulps;
      }
    });
  });
  sum_error2 = std::max(0.0, sum_error2 - ForgivenSquares(tolerance.absolute, result.total));
  if (sum_error2 > 0) {
    const double scale2 =
        std::max(sum_reference2, static_cast<double>(result.total) * smallest_normal * smallest_normal);
    result.rms_error = scale2 > 0 ? std::sqrt(sum_error2 / scale2) : std::numeric_limits<double>::infinity();
  }
  result.mean_ulp = sum_ulp / static_cast<double>(result.total);
  return result;
}

std::vector<uint64_t> Digest(const TensorView& view, uint64_t key) {
  std::vector<uint64_t> digests(static_cast<size_t>(view.slices()), 0);
  if (view.elements == 0) return digests;
  std::vector<uint64_t> keys(digest::kKeys);
  const int64_t width = DTypeBytes(view.dtype);
  digest::MakeKeys(key, static_cast<uint64_t>(view.elements / view.slices() * width), keys.data());
  WithWord(view.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::Type;
    const Word* memory = BaseOf<const Word>(view);
    ForEachRow(view, [&](const Row& row) {
      digest::Sum sum(keys.data());
      for (int64_t i = 0; i < row.count; ++i) {
        const uint64_t bits = Load(memory + row.offset + i * row.stride);
        sum.AddElement(bits, static_cast<uint64_t>(row.position + i * row.position_step), static_cast<int>(sizeof(Word)));
        if (row.slice_step == 0 && i + 1 < row.count) continue;
        uint64_t& digest = digests[static_cast<size_t>(row.slice + i * row.slice_step)];
        digest = digest::Plus(digest, sum.Total());
        sum = digest::Sum(keys.data());
      }
    });
  });
  for (uint64_t& sum : digests) sum = digest::Canonical(sum);
  return digests;
}

bool IsZero(const void* memory, int64_t bytes) {
  if (bytes <= 0) return true;
  const char* at = static_cast<const char*>(memory);
  return at[0] == 0 && std::memcmp(at, at + 1, static_cast<size_t>(bytes - 1)) == 0;
}

}  // namespace hone::host
