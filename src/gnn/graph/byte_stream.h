// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes from a file, read front to back once, compressed or not.
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
  // How messages name it: a path, or "a.npz:member".
  virtual const std::string& name() const = 0;
  // Up to out.size() bytes; 0 only at the end. kIo from the system; kInvalidArgument for damaged compressed data.
  virtual Result<size_t> Read(std::span<std::byte> out) = 0;
};

// `length` bytes from `offset` on (-1: to the end). kNotFound, kIo.
Result<std::unique_ptr<ByteStream>> OpenFileStream(const std::string& path, int64_t offset = 0, int64_t length = -1);
// A file as it is, or decompressed where its first bytes are gzip's.
Result<std::unique_ptr<ByteStream>> OpenMaybeGzip(const std::string& path);
// Memory, borrowed. For tests and fuzzing.
std::unique_ptr<ByteStream> OpenMemoryStream(std::span<const std::byte> bytes, std::string name);

enum class Compression { kRawDeflate, kGzip };  // gzip: members one after the other are one stream
std::unique_ptr<ByteStream> Inflate(std::unique_ptr<ByteStream> compressed, Compression compression);

// All of `out`. kInvalidArgument says that the stream ended before.
Status ReadExactly(ByteStream& stream, std::span<std::byte> out);

}  // namespace hone::gnn
