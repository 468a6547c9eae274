// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines libFuzzer's entry point for the reader of checkpoints and weights: the file, and the metadata about its run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gnn/train/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone::gnn;  // NOLINT: the whole file is one function
  const auto file = ParseTensorFile({reinterpret_cast<const char*>(data), size}, "input");
  if (!file.ok()) return 0;
  for (const StoredTensor& tensor : file->tensors) (void)FloatValues(tensor);
  (void)ReadCheckpointHeader(*file, "input");
  return 0;
}
