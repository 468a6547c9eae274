// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer's entry. See CMakeLists.txt beside this file for how to build and run it.
#include <cstddef>
#include <cstdint>

#include "fuzz/text_parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hone::FeedTextParser({reinterpret_cast<const char*>(data), size});
  return 0;
}
