// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The entry is a few lines of C++ that are compiled after a host-mode candidate's text. Through them, Hone calls the
// candidate's function with arguments known only at run time. This header also names the symbols that the entry defines
// in the library.
//
// The candidate writes, say,
//   extern "C" void run(const __half* x, __half* out, int tokens, cudaStream_t stream)
// which enqueues work on `stream` and returns; it may return cudaError_t or int instead, where 0 means success. It must
// not wait for the stream: earlier work on the stream may be held back until everything has been enqueued.
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

// Returns text to append to a translation unit that defines `function`. Parameters of an unsupported kind fail a
// static assertion.
std::string HostEntrySource(std::string_view function);

}  // namespace hone
