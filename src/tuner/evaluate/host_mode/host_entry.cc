// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See host_entry.h. The entry deduces the parameters from the function's type, so that they are not declared twice.
#include "tuner/evaluate/host_mode/host_entry.h"

#include <fmt/format.h>

namespace hone {
namespace {

constexpr std::string_view kTemplate = R"(
#line 1 "hone-host-entry"
#include <cstddef>
#include <type_traits>
#include <utility>
namespace hone_host {{
template <class T> struct Caller;
template <class R, class... A> struct Caller<R (*)(A...)> {{
  static_assert(sizeof...(A) >= 1, "the host function's last parameter must be the stream");
  static constexpr unsigned kCount = sizeof...(A);
  static constexpr bool kByValue = !(std::is_reference_v<A> || ...);
  static_assert(kByValue, "the host function's parameters must be pointers and values, not references");
  template <std::size_t... I>
  static int Call(R (*function)(A...), const void* const* arguments, std::index_sequence<I...>) {{
    try {{
      if constexpr (std::is_void_v<R>) {{
        function(*static_cast<const std::remove_cv_t<A>*>(arguments[I])...);
        return 0;
      }} else {{
        return static_cast<int>(function(*static_cast<const std::remove_cv_t<A>*>(arguments[I])...));
      }}
    }} catch (...) {{
      return {threw};
    }}
  }}
}};
template <class T> struct Sizes;
template <class R, class... A> struct Sizes<R (*)(A...)> {{
  struct Table {{ unsigned bytes[sizeof...(A)]; }};
  static constexpr Table kTable = {{{{static_cast<unsigned>(sizeof(A))...}}}};
}};
using Function = decltype(&::{function});
}}
extern "C" __attribute__((visibility("default"))) int {call}(const void* const* arguments) {{
  return hone_host::Caller<hone_host::Function>::Call(
      &::{function}, arguments, std::make_index_sequence<hone_host::Caller<hone_host::Function>::kCount>());
}}
extern "C" __attribute__((visibility("default"))) const unsigned {count};
extern "C" const unsigned {count} = hone_host::Caller<hone_host::Function>::kCount;
extern "C" __attribute__((visibility("default"))) const hone_host::Sizes<hone_host::Function>::Table {bytes};
extern "C" const hone_host::Sizes<hone_host::Function>::Table {bytes} = hone_host::Sizes<hone_host::Function>::kTable;
)";

}  // namespace

std::string HostEntrySource(std::string_view function) {
  return fmt::format(kTemplate, fmt::arg("function", function), fmt::arg("threw", kHostCallThrew),
                     fmt::arg("call", kHostCallSymbol), fmt::arg("count", kHostCountSymbol),
                     fmt::arg("bytes", kHostBytesSymbol));
}

}  // namespace hone
