// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Follows PKWARE's APPNOTE 6.3: the end record is searched from the back and points to the central directory, whose
// entries point to local headers.
#include "base/files/zip_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace hone {
namespace {

constexpr size_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30;  // sizes of a zip's records without names
constexpr size_t kMostComment = 65535;  // bytes of the comment behind the end record
constexpr uint32_t kEndMark = 0x06054b50, kCentralMark = 0x02014b50, kLocalMark = 0x04034b50;  // how the records begin
constexpr uint16_t kEncrypted = 1, kStored = 0, kDeflated = 8;  // a flag, and methods

Status DamagedArchive(std::string_view what) {
  return Status::InvalidArgument(fmt::format("it is no zip archive that can be read: {}", what));
}

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  bool Has(size_t at, size_t size) const { return at <= bytes_.size() && bytes_.size() - at >= size; }
  // Requires that Has(at, 2) or Has(at, 4) holds.
  uint16_t Two(size_t at) const { return static_cast<uint16_t>(Byte(at) | Byte(at + 1) << 8); }
  uint32_t Four(size_t at) const { return Two(at) | static_cast<uint32_t>(Two(at + 2)) << 16; }
  std::string_view Slice(size_t at, size_t size) const { return bytes_.substr(at, size); }
  size_t size() const { return bytes_.size(); }

 private:
  unsigned Byte(size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  std::string_view bytes_;
};

// Decompresses one file, which must have exactly `size` bytes.
Result<std::string> Inflate(std::string_view packed, size_t size, const std::string& name) {
  std::string unpacked(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Status::Internal("zlib could not be started");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(size);
  const int outcome = inflate(&stream, Z_FINISH);
  const bool inflated_fully = outcome == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!inflated_fully) return DamagedArchive(fmt::format("'{}' does not unpack to the {} bytes it says", name, size));
  return unpacked;
}

}  // namespace

Result<std::map<std::string, std::string>> ReadZip(std::string_view archive, const ZipLimits& limits) {
  const Bytes bytes(archive);
  if (archive.size() < kEndBytes) return DamagedArchive("it is too short");
  size_t end = archive.size() - kEndBytes;
  const size_t lowest = end > kMostComment ? end - kMostComment : 0;
  while (bytes.Four(end) != kEndMark || bytes.Two(end + 20) != archive.size() - end - kEndBytes) {
    if (end == lowest) return DamagedArchive("its end record is missing");
    --end;
  }
  const size_t count = bytes.Two(end + 10);
  if (bytes.Two(end + 4) != 0 || bytes.Two(end + 8) != count) return DamagedArchive("it has several volumes");
  if (count > limits.entries) {
    return Status::InvalidArgument(fmt::format("it has {} files; at most {} are read", count, limits.entries));
  }
  std::map<std::string, std::string> files;
  size_t at = bytes.Four(end + 16), total = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!bytes.Has(at, kCentralBytes) || bytes.Four(at) != kCentralMark)
      return DamagedArchive("its directory is cut off");
    const uint16_t flags = bytes.Two(at + 8), method = bytes.Two(at + 10);
    const uint32_t checksum = bytes.Four(at + 16), packed = bytes.Four(at + 20), size = bytes.Four(at + 24),
                   local = bytes.Four(at + 42);
    const size_t name_bytes = bytes.Two(at + 28);
    if (!bytes.Has(at + kCentralBytes, name_bytes)) return DamagedArchive("a name is cut off");
    const std::string name(bytes.Slice(at + kCentralBytes, name_bytes));
    at += kCentralBytes + name_bytes + bytes.Two(at + 30) + bytes.Two(at + 32);
    if (name.find('/') != std::string::npos || name.find('\\') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      return Status::InvalidArgument(
          fmt::format("'{}' lies in a folder: put the files at the top of the archive", name.substr(0, 100)));
    }
    if ((flags & kEncrypted) != 0)
      return Status::InvalidArgument(fmt::format("'{}' is encrypted: pack it without a password", name));
    if (method != kStored && method != kDeflated) {
      return Status::InvalidArgument(fmt::format("'{}' is packed with method {}: use deflate", name, method));
    }
    if (size > limits.bytes - total) {
      return Status::InvalidArgument(
          fmt::format("its files have more than {} bytes unpacked, which is as much as is read", limits.bytes));
    }
    total += size;
    if (!bytes.Has(local, kLocalBytes) || bytes.Four(local) != kLocalMark)
      return DamagedArchive(fmt::format("'{}' is not where its directory says", name));
    const size_t data_begin = size_t{local} + kLocalBytes + bytes.Two(local + 26) + bytes.Two(local + 28);
    if (!bytes.Has(data_begin, packed)) return DamagedArchive(fmt::format("'{}' is cut off", name));
    std::string file(bytes.Slice(data_begin, packed));
    if (method == kDeflated) {
      HONE_ASSIGN_OR_RETURN(file, Inflate(bytes.Slice(data_begin, packed), size, name));
    } else if (packed != size) {
      return DamagedArchive(fmt::format("'{}' has two sizes", name));
    }
    if (crc32(0, reinterpret_cast<const Bytef*>(file.data()), static_cast<uInt>(file.size())) != checksum) {
      return DamagedArchive(fmt::format("'{}' does not have its checksum", name));
    }
    if (!files.emplace(name, std::move(file)).second) return DamagedArchive(fmt::format("'{}' is in it twice", name));
  }
  return files;
}

}  // namespace hone
