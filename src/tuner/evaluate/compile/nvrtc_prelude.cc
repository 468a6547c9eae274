// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// There are two sets of headers (nvrtc_prelude.h). The set "base" compiles in tens of milliseconds. Headers that take a
// second to parse (libcu++'s barriers, cooperative groups) are in the set "full", which has a precompiled header of its
// own.
#include "tuner/evaluate/compile/nvrtc_prelude.h"

#include "hone/base/status.h"
#include "tuner/core/program/include_sets.h"

extern "C" {
extern const unsigned char hone_cute_fast_tuple[], hone_cute_fast_layout[], hone_cute_fast_structure[];
extern const unsigned char hone_cute_fast_algebra[], hone_cute_fast_strides[];
extern const unsigned long hone_cute_fast_tuple_size, hone_cute_fast_layout_size, hone_cute_fast_structure_size;
extern const unsigned long hone_cute_fast_algebra_size, hone_cute_fast_strides_size;
}

namespace hone {
namespace {

// The base set. It includes what candidates written for nvcc rely on, because nvcc includes the C library's headers
// before a source.
constexpr std::string_view kBase = R"(#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda.h>
#include <stdint.h>
#include <limits.h>
#include <float.h>
#include <math.h>
#include <cuda_device_runtime_api.h>
)";

// Returns the text of a standard header that includes libcu++'s header of that name and makes its names visible in std.
std::string FromLibcu(std::string_view header) {
  return "#pragma once\n#include <cuda/std/" + std::string(header) + ">\nnamespace std { using namespace cuda::std; }\n";
}

constexpr std::string_view kCuda = R"(#pragma once
// The driver API is for hosts; of it, device code uses this one type, passed by value as a __grid_constant__.
#if !defined(__cuda_cuda_h__)
struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
typedef struct CUtensorMap_st CUtensorMap;
#endif
)";

constexpr std::string_view kFloat = R"(#pragma once
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN 1.17549435082228750797e-38F
#define FLT_MAX 3.40282346638528859812e+38F
#define FLT_EPSILON 1.1920928955078125e-7F
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_EPSILON 2.22044604925031308085e-16
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#endif
)";

// The header <cmath>: only macros, because the functions are built into NVRTC.
constexpr std::string_view kMath = R"(#pragma once
#ifndef INFINITY
#define INFINITY (__builtin_bit_cast(float, 0x7f800000u))
#endif
#ifndef NAN
#define NAN (__builtin_bit_cast(float, 0x7fffffffu))
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000ull))
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
)";

constexpr std::string_view kCmath = R"(#pragma once
#include <math.h>
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::exp; using ::exp2; using ::expm1; using ::log;
using ::log2; using ::log10; using ::log1p; using ::pow; using ::sin; using ::cos; using ::tan; using ::asin;
using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh;
using ::atanh; using ::erf; using ::erfc; using ::lgamma; using ::tgamma; using ::floor; using ::ceil; using ::round;
using ::trunc; using ::rint; using ::nearbyint; using ::lrint; using ::llrint; using ::lround; using ::fmod;
using ::remainder; using ::fma; using ::fmax; using ::fmin; using ::fdim; using ::hypot; using ::copysign;
using ::ldexp; using ::frexp; using ::modf; using ::logb; using ::ilogb; using ::scalbn; using ::nextafter;
using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
}
)";

constexpr std::string_view kAlgorithm = R"(#pragma once
namespace std {
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : high < v ? high : v;
}
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T t = a; a = b; b = t; }
}
)";

constexpr std::string_view kString = "#pragma once\nnamespace std { using ::memcpy; using ::memset; }\n";
std::string Embedded(const unsigned char* bytes, unsigned long size) { return {reinterpret_cast<const char*>(bytes), size}; }

// The functions of the device runtime that are single instructions. The toolkit's own header also declares launches and
// gives warnings under NVRTC. Before compute capability 9.0 there are no such instructions, and nothing to wait for.
constexpr std::string_view kDeviceRuntime = R"(#pragma once
static inline __device__ void cudaGridDependencySynchronize(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
static inline __device__ void cudaTriggerProgrammaticLaunchCompletion(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" :::);
#endif
}
)";

// The header <compare>: the result types of <=> in namespace std, where the language looks for them. libcu++ has none
// under NVRTC.
constexpr std::string_view kCompare = R"(#pragma once
namespace std {
#define HONE_ORDERING(NAME)                                                                                           \
  __host__ __device__ friend constexpr bool operator==(NAME a, decltype(nullptr)) { return a.hone_value == 0; }       \
  __host__ __device__ friend constexpr bool operator<(NAME a, decltype(nullptr)) { return a.hone_value == -1; }       \
  __host__ __device__ friend constexpr bool operator>(NAME a, decltype(nullptr)) { return a.hone_value == 1; }        \
  __host__ __device__ friend constexpr bool operator<=(NAME a, decltype(nullptr)) { return a.hone_value == -1 || a.hone_value == 0; } \
  __host__ __device__ friend constexpr bool operator>=(NAME a, decltype(nullptr)) { return a.hone_value == 1 || a.hone_value == 0; }  \
  __host__ __device__ friend constexpr bool operator==(NAME, NAME) = default;                                         \
  signed char hone_value
struct partial_ordering {
  static const partial_ordering less, equivalent, greater, unordered;
  HONE_ORDERING(partial_ordering);
};
struct weak_ordering {
  static const weak_ordering less, equivalent, greater;
  HONE_ORDERING(weak_ordering);
  __host__ __device__ constexpr operator partial_ordering() const { return {hone_value}; }
};
struct strong_ordering {
  static const strong_ordering less, equal, equivalent, greater;
  HONE_ORDERING(strong_ordering);
  __host__ __device__ constexpr operator partial_ordering() const { return {hone_value}; }
  __host__ __device__ constexpr operator weak_ordering() const { return {hone_value}; }
};
#undef HONE_ORDERING
inline constexpr partial_ordering partial_ordering::less{-1}, partial_ordering::equivalent{0}, partial_ordering::greater{1},
    partial_ordering::unordered{2};
inline constexpr weak_ordering weak_ordering::less{-1}, weak_ordering::equivalent{0}, weak_ordering::greater{1};
inline constexpr strong_ordering strong_ordering::less{-1}, strong_ordering::equal{0}, strong_ordering::equivalent{0},
    strong_ordering::greater{1};
}
)";

constexpr std::string_view kNothing =
    "#pragma once\n";  // for headers whose contents are built in: printf, assert, malloc, size_t

}  // namespace

bool IsKnownIncludeSet(std::string_view include_set) {
  return include_set.empty() || include_set == "full" || include_set == "cute";
}

std::string NvrtcPrelude(std::string_view include_set, bool fast_cute) {
  HONE_CHECK(IsKnownIncludeSet(include_set), "the plan's parser let an unknown include set through");
  std::string prelude(kBase);
  if (include_set == "cute" && fast_cute) prelude += "#include \"hone/cute_fast_strides.cuh\"\n";
  for (const std::string_view header : IncludeSetHeaders(include_set)) prelude.append("#include ").append(header).append("\n");
  return prelude;
}

const std::vector<std::pair<std::string, std::string>>& NvrtcShimHeaders() {
  static const auto* const headers = new std::vector<std::pair<std::string, std::string>>{
      {"cuda.h", std::string(kCuda)},
      {"cudaTypedefs.h", "#pragma once\n#include <cuda.h>\n"},
      {"cuda_device_runtime_api.h", std::string(kDeviceRuntime)},
      {"compare", std::string(kCompare)},
      {"concepts", FromLibcu("concepts")},
      {"stdint.h", "#pragma once\n#include <cuda/std/cstdint>\n"},
      {"cstdint", FromLibcu("cstdint")},
      {"stddef.h", "#pragma once\n#include <cuda/std/cstddef>\n"},
      {"cstddef", FromLibcu("cstddef")},
      {"limits.h", "#pragma once\n#include <cuda/std/climits>\n"},
      {"climits", "#pragma once\n#include <cuda/std/climits>\n"},
      {"float.h", std::string(kFloat)},
      {"cfloat", std::string(kFloat)},
      {"math.h", std::string(kMath)},
      {"cmath", std::string(kCmath)},
      {"limits", FromLibcu("limits")},
      {"type_traits", FromLibcu("type_traits")},
      {"utility", FromLibcu("utility")},
      {"array", FromLibcu("array")},
      {"tuple", FromLibcu("tuple")},
      {"algorithm", std::string(kAlgorithm)},
      {"string.h", std::string(kNothing)},
      {"cstring", std::string(kString)},
      {"stdio.h", std::string(kNothing)},
      {"cstdio", std::string(kNothing)},
      {"stdlib.h", std::string(kNothing)},
      {"cstdlib", std::string(kNothing)},
      {"assert.h", std::string(kNothing)},
      {"cassert", std::string(kNothing)},
      {"hone/cute_fast_tuple.cuh", Embedded(hone_cute_fast_tuple, hone_cute_fast_tuple_size)},
      {"hone/cute_fast_layout.cuh", Embedded(hone_cute_fast_layout, hone_cute_fast_layout_size)},
      {"hone/cute_fast_structure.cuh", Embedded(hone_cute_fast_structure, hone_cute_fast_structure_size)},
      {"hone/cute_fast_algebra.cuh", Embedded(hone_cute_fast_algebra, hone_cute_fast_algebra_size)},
      {"hone/cute_fast_strides.cuh", Embedded(hone_cute_fast_strides, hone_cute_fast_strides_size)},
  };
  return *headers;
}

}  // namespace hone
