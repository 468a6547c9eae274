// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the bytes of a file, compressed or not, once and from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // The stream's name in messages: a path, or "a.npz:member".
  virtual const std::string& name() const = 0;
  // Reads up to out.size() bytes; returns 0 only at the end. kIo from the system; kInvalidArgument for damaged
  // compressed data.
  virtual Result<size_t> Read(std::span<std::byte> out) = 0;
};

// Opens `length` bytes from `offset` on (-1: to the end). kNotFound, kIo.
Result<std::unique_ptr<ByteStream>> OpenFileStream(const std::string& path, int64_t offset = 0, int64_t length = -1);
// Opens a file as it is, or decompresses it if its first bytes are gzip's.
Result<std::unique_ptr<ByteStream>> OpenMaybeGzip(const std::string& path);
// Reads from borrowed memory; for tests and fuzzing.
std::unique_ptr<ByteStream> OpenMemoryStream(std::span<const std::byte> bytes, std::string name);

enum class Compression { kRawDeflate, kGzip };  // gzip: concatenated members are one stream
// Returns a stream of the decompressed bytes.
std::unique_ptr<ByteStream> Inflate(std::unique_ptr<ByteStream> compressed, Compression compression);

// Reads all of `out`. kInvalidArgument if the stream ends before.
Status ReadExactly(ByteStream& stream, std::span<std::byte> out);

}  // namespace hone::gnn
