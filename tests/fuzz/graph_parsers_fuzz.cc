// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines libFuzzer's entry points. See CMakeLists.txt beside this file for how to build and run it.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/chosen_parser.h"
#include "fuzz/graph_parsers.h"

namespace {

int Chosen() {
  static const int chosen = hone::ChosenParser(hone::gnn::GraphParsers());
  return chosen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // -1 keeps inputs for other parsers out of the corpus.
  if (!hone::IsForParser(Chosen(), hone::gnn::GraphParsers().size(), data, size)) return -1;
  hone::gnn::FeedGraphParser(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int) {
  return hone::MutateForParser(Chosen(), data, size, max_size);
}
