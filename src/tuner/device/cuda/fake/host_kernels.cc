// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles the harness kernels and the portable test kernels for the host, with a table to find them by name.
#include "tuner/device/cuda/harness/harness_kernels.cu"
#include "tuner/device/cuda/session_test_kernels.cu"

#include "tuner/device/cuda/fake/host_kernels.h"

namespace hone::fake {
namespace {

template <typename... Args, size_t... kIndices>
void Call(void (*function)(Args...), void** arguments, std::index_sequence<kIndices...>) {
  function(*static_cast<std::remove_cv_t<Args>*>(arguments[kIndices])...);
}

template <typename... Args>
HostKernel Make(void (*function)(Args...)) {
  return {[function](void** arguments) { Call(function, arguments, std::index_sequence_for<Args...>()); }, {sizeof(Args)...}};
}

}  // namespace

const std::map<std::string, HostKernel>& HostKernels() {
  using namespace harness;  // NOLINT: every kernel of the file above is listed here
#define HONE_KERNEL(name) {#name, Make(&name)}
  static const std::map<std::string, HostKernel> kernels = {
      HONE_KERNEL(hone_draw_f64_x1), HONE_KERNEL(hone_draw_f64_x2), HONE_KERNEL(hone_draw_f32_x1),
      HONE_KERNEL(hone_draw_f32_x4), HONE_KERNEL(hone_draw_f16_x1), HONE_KERNEL(hone_draw_f16_x8),
      HONE_KERNEL(hone_draw_bf16_x1), HONE_KERNEL(hone_draw_bf16_x8), HONE_KERNEL(hone_draw_i64_x1),
      HONE_KERNEL(hone_draw_i64_x2), HONE_KERNEL(hone_draw_i32_x1), HONE_KERNEL(hone_draw_i32_x4),
      HONE_KERNEL(hone_draw_i16_x1), HONE_KERNEL(hone_draw_i16_x8), HONE_KERNEL(hone_draw_i8_x1),
      HONE_KERNEL(hone_draw_i8_x16), HONE_KERNEL(hone_draw_normal_f64_x1), HONE_KERNEL(hone_draw_normal_f64_x2),
      HONE_KERNEL(hone_draw_normal_f32_x1), HONE_KERNEL(hone_draw_normal_f32_x4), HONE_KERNEL(hone_draw_normal_f16_x1),
      HONE_KERNEL(hone_draw_normal_f16_x8), HONE_KERNEL(hone_draw_normal_bf16_x1), HONE_KERNEL(hone_draw_normal_bf16_x8),
      HONE_KERNEL(hone_draw_e4m3_x1), HONE_KERNEL(hone_draw_e4m3_x16), HONE_KERNEL(hone_draw_e5m2_x1),
      HONE_KERNEL(hone_draw_e5m2_x16), HONE_KERNEL(hone_draw_e8m0_x1), HONE_KERNEL(hone_draw_e2m1x2_x1), HONE_KERNEL(hone_draw_e2m1x2_x16),
      HONE_KERNEL(hone_draw_i4x2_x1), HONE_KERNEL(hone_draw_i4x2_x16), HONE_KERNEL(hone_draw_normal_e4m3_x1),
      HONE_KERNEL(hone_draw_normal_e4m3_x16), HONE_KERNEL(hone_draw_normal_e5m2_x1),
      HONE_KERNEL(hone_draw_normal_e5m2_x16), HONE_KERNEL(hone_slice_table), HONE_KERNEL(hone_digest_uint8_x1), HONE_KERNEL(hone_digest_uint8_x16),
      HONE_KERNEL(hone_digest_uint16_x1), HONE_KERNEL(hone_digest_uint16_x8), HONE_KERNEL(hone_digest_uint32_x1),
      HONE_KERNEL(hone_digest_uint32_x4), HONE_KERNEL(hone_digest_uint64_x1), HONE_KERNEL(hone_digest_uint64_x2),
      HONE_KERNEL(hone_digest_uint8_thread), HONE_KERNEL(hone_digest_uint16_thread), HONE_KERNEL(hone_digest_uint32_thread),
      HONE_KERNEL(hone_digest_uint64_thread), HONE_KERNEL(hone_squares), HONE_KERNEL(hone_squares_thread),
      HONE_KERNEL(hone_root_mean), HONE_KERNEL(hone_compare_f64), HONE_KERNEL(hone_compare_f32),
      HONE_KERNEL(hone_compare_f16), HONE_KERNEL(hone_compare_bf16), HONE_KERNEL(hone_compare_i64),
      HONE_KERNEL(hone_compare_i32), HONE_KERNEL(hone_compare_u32), HONE_KERNEL(hone_compare_i16),
      HONE_KERNEL(hone_compare_i8), HONE_KERNEL(hone_compare_u8), HONE_KERNEL(hone_compare_u64),
      HONE_KERNEL(hone_compare_e4m3), HONE_KERNEL(hone_compare_e5m2), HONE_KERNEL(hone_compare_e8m0), HONE_KERNEL(hone_unpack_e2m1x2), HONE_KERNEL(hone_unpack_i4x2), HONE_KERNEL(hone_gather_1), HONE_KERNEL(hone_gather_2),
      HONE_KERNEL(hone_gather_4), HONE_KERNEL(hone_gather_8), HONE_KERNEL(hone_gather_16), HONE_KERNEL(hone_differs),
      HONE_KERNEL(hone_watch), HONE_KERNEL(hone_fill64), HONE_KERNEL(hone_globals_put), HONE_KERNEL(hone_globals_take), HONE_KERNEL(hone_scramble), HONE_KERNEL(hone_gap_fill), HONE_KERNEL(hone_gap_check), HONE_KERNEL(hone_touch), HONE_KERNEL(hone_touch_pages),
      HONE_KERNEL(hone_separator), HONE_KERNEL(hone_stream), HONE_KERNEL(hone_stream_each),
      HONE_KERNEL(add_one), HONE_KERNEL(scale), HONE_KERNEL(copy16), HONE_KERNEL(increment),
      HONE_KERNEL(count_in_global), HONE_KERNEL(count_in_two_globals), HONE_KERNEL(write_ends_of_table), HONE_KERNEL(read_global), HONE_KERNEL(write_large_global), HONE_KERNEL(write_past_end), HONE_KERNEL(read_at), HONE_KERNEL(write_at),
  };
#undef HONE_KERNEL
  return kernels;
}

const std::map<std::string, HostGlobal>& HostGlobals() {
  static const std::map<std::string, HostGlobal> globals = {
      {"kept_counter", {&kept_counter, sizeof kept_counter}},
      {"kept_large", {&kept_large, sizeof kept_large}},
      {"kept_table", {&kept_table, sizeof kept_table}},
      {"kept_first", {&kept_first, sizeof kept_first}},
      {"kept_second", {&kept_second, sizeof kept_second}},
  };
  return globals;
}

}  // namespace hone::fake
