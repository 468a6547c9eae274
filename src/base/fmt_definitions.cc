// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles the out-of-line part of {fmt} once. Distributions ship that part as a shared library only, and the
// header-only form costs 40 % of the compile time of every file that formats a string.
#include <fmt/chrono.h>
#include <fmt/format-inl.h>

#include <locale>

FMT_BEGIN_NAMESPACE
namespace detail {
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template locale_ref::locale_ref(const std::locale&);
template std::locale locale_ref::get<std::locale>() const;
template void buffer<char>::append(const char*, const char*);
namespace dragonbox {
template decimal_fp<float> to_decimal(float) noexcept;
template decimal_fp<double> to_decimal(double) noexcept;
}  // namespace dragonbox
}  // namespace detail
FMT_END_NAMESPACE
