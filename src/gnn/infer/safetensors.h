// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes safetensors files: named arrays behind a JSON header, without executable code.
//
// Layout: 8 bytes little-endian header length, a JSON object (padded with spaces so that the data starts at a multiple
// of 8), then the arrays without gaps. https://github.com/huggingface/safetensors, format section.
//
// Written files carry a CRC-32C in their metadata, over the other metadata and every tensor's name, dtype, shape and
// bytes. Other programs ignore the checksum; the reader compares it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

struct StoredTensor {
  std::string name;
  std::string dtype;  // "F32", "F64", "F16", "BF16", "I64", …
  std::vector<int64_t> shape;
  std::string bytes;  // little-endian, row-major

  int64_t elements() const;
};

inline constexpr std::string_view kChecksumKey = "hone.crc32c";  // metadata: eight hexadecimal digits

struct TensorFile {
  std::map<std::string, std::string> metadata;  // the header's __metadata__, without the checksum
  std::vector<StoredTensor> tensors;            // the file's tensors, in the order of their bytes
  bool has_checksum = false;                    // true: the file had a checksum, which was correct

  const StoredTensor* Find(std::string_view name) const;
};

StoredTensor MakeFloatTensor(std::string name, std::vector<int64_t> shape, std::span<const float> values);

// Returns the values as float, converted from F64, F16, BF16 or I64 if necessary. kInvalidArgument names the tensor.
Result<std::vector<float>> FloatValues(const StoredTensor& tensor);

// Returns the file's bytes, with a checksum: the same for the same content.
std::string SerializeTensorFile(const TensorFile& file);

// Parses a file. kInvalidArgument says what is wrong and where; `what` names the file. Refuses what the format does not
// allow: gaps, overlaps, sizes that do not follow from dtype and shape, and bytes left over. Also refuses a wrong
// checksum.
Result<TensorFile> ParseTensorFile(std::string_view bytes, std::string_view what);

Result<TensorFile> ReadTensorFile(const std::string& path);
// Writes a temporary file, flushes it to disk and renames it; errors are those of WriteOutput.
Status WriteTensorFile(const std::string& path, const TensorFile& file);

// Returns a note for users about a file without a checksum, which another program or an older version wrote.
std::string NoChecksumNote(std::string_view what);

}  // namespace hone::gnn
