// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The entry is a few lines of C++ compiled behind a host-mode candidate, through which its function is called with
// arguments known only at run time. This header also names the symbols that the loader finds in the library because of
// it.
//
// The candidate writes, say,
//   extern "C" void run(const __half* x, __half* out, int tokens, cudaStream_t stream)
// which enqueues on `stream` and returns; it may return cudaError_t or int instead, where 0 means success. It must not
// wait for the stream: work before it in the stream may be held back until everything has been enqueued.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// The entry defines these symbols, all with C linkage.
inline constexpr const char* kHostCallSymbol = "hone_host_call";              // int (const void* const* arguments)
inline constexpr const char* kHostCountSymbol = "hone_host_parameter_count";  // const unsigned, the stream included
inline constexpr const char* kHostBytesSymbol = "hone_host_parameter_bytes";  // const unsigned[count]

// hone_host_call returns this when the function threw.
inline constexpr int kHostCallThrew = 0x486f6e65;

// Returns text to append to a translation unit that defines `function`. Wrong kinds of parameters are static
// assertions.
std::string HostEntrySource(std::string_view function);

}  // namespace hone
