// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer's entry. See CMakeLists.txt beside this file for how to build and run it.
#include <cstdint>

#include "fuzz/graph_parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hone::gnn::FeedGraphParser(std::as_bytes(std::span(data, size)));
  return 0;
}
