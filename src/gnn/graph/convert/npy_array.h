// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads NumPy arrays from files: a .npy, or a member of an .npz, front to back as integers or floats.
//
// Format: numpy.org, "NEP 1: A simple file format for NumPy arrays", versions 1 to 3. Pickled objects are refused,
// because reading them runs a program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gnn/graph/container/byte_stream.h"
#include "gnn/graph/convert/zip_archive.h"
#include "hone/base/status.h"

namespace hone::gnn {

struct NpyHeader {
  char kind = 'f';  // f float, i signed, u unsigned, b bool; as in NumPy's type strings
  int item_bytes = 4;
  bool fortran_order = false;
  std::vector<int64_t> shape;

  int64_t items() const;
  int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  bool integer() const { return kind != 'f'; }
  std::string Text() const;  // "int64 [100, 2]"
};

// Reads the header of a stream, which is then at the first item. kInvalidArgument names the stream and what is
// unsupported.
Result<NpyHeader> ReadNpyHeader(ByteStream& stream);

// Reads an array's items in one pass, in file order, and converts them.
class NpyItems {
 public:
  NpyItems(std::unique_ptr<ByteStream> stream, const NpyHeader& header);
  // Reads the next out.size() items; the caller must not read past header.items(). kInvalidArgument for an integer
  // beyond int64 and for a fraction.
  Status ReadIntegers(std::span<int64_t> out);
  Status ReadFloats(std::span<float> out);  // NaN is allowed

 private:
  Result<std::span<const std::byte>> Fetch(size_t items);
  std::unique_ptr<ByteStream> stream_;
  char kind_;
  size_t item_bytes_;
  int64_t position_ = 0;  // items read
  std::vector<std::byte> buffer_;
};

// The location of an array, which can be opened many times. Cheap to copy.
class NpyArray {
 public:
  static Result<NpyArray> InFile(const std::string& path);
  // kNotFound when the archive has no member `name` or `name`.npy.
  static Result<NpyArray> InArchive(std::shared_ptr<const ZipArchive> archive, const std::string& name);

  const std::string& name() const { return name_; }  // used in messages
  const NpyHeader& header() const { return header_; }
  // Opens the array at item `first`, in file order.
  Result<NpyItems> Open(int64_t first = 0) const;
  // Returns whether Open(first) takes the same time for any `first`; not in a compressed archive.
  bool seekable() const { return archive_ == nullptr || !member_->deflated; }
  // Return the whole array, in file order.
  Result<std::vector<int64_t>> Integers() const;
  Result<std::vector<float>> Floats() const;

 private:
  Result<std::unique_ptr<ByteStream>> OpenAt(int64_t skip_bytes) const;
  std::string name_, path_;
  std::shared_ptr<const ZipArchive> archive_;
  std::optional<ZipMember> member_;
  NpyHeader header_;
  int64_t header_bytes_ = 0;
};

}  // namespace hone::gnn
