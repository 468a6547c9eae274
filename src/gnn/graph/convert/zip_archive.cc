// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See zip_archive.h. Sizes come from the central directory: local headers may leave them out.
#include "gnn/graph/convert/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace hone::gnn {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kEnd64Locator = 0x07064b50;
constexpr size_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kCentralBytes = 46, kLocalBytes = 30;
constexpr int64_t kMaxDirectoryBytes = int64_t{64} << 20;

template <typename T>
T ReadValue(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

Status DamagedZip(const std::string& path, std::string_view why) {
  return Status::InvalidArgument(fmt::format("'{}' is no intact zip or .npz file: {}; copy or write it again", path, why));
}

}  // namespace

Result<ZipDirectoryPlace> FindZipDirectory(std::span<const std::byte> tail, int64_t file_bytes, const std::string& path) {
  if (tail.size() < kEndBytes) return DamagedZip(path, "it is too short");
  size_t at = tail.size() - kEndBytes;
  while (ReadValue<uint32_t>(tail, at) != kEnd || ReadValue<uint16_t>(tail, at + 20) != tail.size() - at - kEndBytes) {
    if (at == 0) return DamagedZip(path, "it has no end-of-directory record");
    --at;
  }
  ZipDirectoryPlace place;
  place.entries = ReadValue<uint16_t>(tail, at + 10);
  place.bytes = ReadValue<uint32_t>(tail, at + 12);
  place.offset = ReadValue<uint32_t>(tail, at + 16);
  if (at >= kLocatorBytes && ReadValue<uint32_t>(tail, at - kLocatorBytes) == kEnd64Locator) {
    const int64_t end64 = ReadValue<int64_t>(tail, at - kLocatorBytes + 8);
    const int64_t in_tail = end64 - (file_bytes - static_cast<int64_t>(tail.size()));
    if (end64 < 0 || end64 > file_bytes || in_tail < 0 || in_tail + static_cast<int64_t>(kEnd64Bytes) > static_cast<int64_t>(at) ||
        ReadValue<uint32_t>(tail, static_cast<size_t>(in_tail)) != kEnd64) {
      return DamagedZip(path, "its zip64 record is misplaced");
    }
    place.entries = ReadValue<int64_t>(tail, static_cast<size_t>(in_tail) + 32);
    place.bytes = ReadValue<int64_t>(tail, static_cast<size_t>(in_tail) + 40);
    place.offset = ReadValue<int64_t>(tail, static_cast<size_t>(in_tail) + 48);
  }
  if (place.entries < 0 || place.bytes < 0 || place.offset < 0 || place.bytes > kMaxDirectoryBytes ||
      place.offset > file_bytes - place.bytes || place.entries > place.bytes / static_cast<int64_t>(kCentralBytes)) {
    return DamagedZip(path, "its directory lies outside the file");
  }
  return place;
}

Result<std::vector<ZipMember>> ParseZipDirectory(std::span<const std::byte> directory, int64_t entries,
                                                 int64_t file_bytes, const std::string& path) {
  std::vector<ZipMember> members;
  size_t at = 0;
  for (int64_t i = 0; i < entries; ++i) {
    if (directory.size() - at < kCentralBytes || ReadValue<uint32_t>(directory, at) != kCentralHeader) {
      return DamagedZip(path, fmt::format("entry {} of its directory is damaged", i));
    }
    const size_t name_bytes = ReadValue<uint16_t>(directory, at + 28),
                 extra_bytes = ReadValue<uint16_t>(directory, at + 30),
                 comment_bytes = ReadValue<uint16_t>(directory, at + 32);
    if (directory.size() - at - kCentralBytes < name_bytes + extra_bytes + comment_bytes) {
      return DamagedZip(path, fmt::format("entry {} of its directory is cut", i));
    }
    ZipMember member;
    member.name.assign(reinterpret_cast<const char*>(directory.data()) + at + kCentralBytes, name_bytes);
    const uint16_t flags = ReadValue<uint16_t>(directory, at + 8), method = ReadValue<uint16_t>(directory, at + 10);
    member.compressed_bytes = ReadValue<uint32_t>(directory, at + 20);
    member.bytes = ReadValue<uint32_t>(directory, at + 24);
    member.header_offset = ReadValue<uint32_t>(directory, at + 42);
    // Extra field 1 holds, in this order, those of the three that did not fit in 32 bits.
    std::span<const std::byte> extra = directory.subspan(at + kCentralBytes + name_bytes, extra_bytes);
    while (extra.size() >= 4) {
      const uint16_t id = ReadValue<uint16_t>(extra, 0);
      const size_t size = ReadValue<uint16_t>(extra, 2);
      if (extra.size() - 4 < size) break;
      if (id == 1) {
        size_t field = 4;
        for (int64_t* value : {&member.bytes, &member.compressed_bytes, &member.header_offset}) {
          if (*value != 0xffffffff || field + 8 > size + 4) continue;
          *value = ReadValue<int64_t>(extra, field);
          field += 8;
        }
      }
      extra = extra.subspan(4 + size);
    }
    if ((flags & 1) != 0) return DamagedZip(path, fmt::format("member '{}' is encrypted", member.name));
    if (method != 0 && method != 8) {
      return DamagedZip(path, fmt::format("member '{}' uses compression method {} (only stored and deflate are read)",
                                       member.name, method));
    }
    member.deflated = method == 8;
    if (member.bytes < 0 || member.compressed_bytes < 0 || member.header_offset < 0 ||
        member.header_offset > file_bytes - member.compressed_bytes ||
        // Deflate never compresses better than 1032 to 1. A larger claim would only make readers allocate too much
        // memory.
        (member.deflated ? member.bytes / 1040 > member.compressed_bytes + 1
                         : member.bytes != member.compressed_bytes)) {
      return DamagedZip(path, fmt::format("member '{}' lies outside the file", member.name));
    }
    members.push_back(std::move(member));
    at += kCentralBytes + name_bytes + extra_bytes + comment_bytes;
  }
  return members;
}

Result<ZipArchive> ZipArchive::Open(const std::string& path) {
  ZipArchive archive;
  archive.path_ = path;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> exists, OpenFileStream(path));
  std::error_code error;
  archive.file_bytes_ = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error) return Status::Io(fmt::format("could not examine '{}': {}", path, error.message()));
  // The end record, a comment of at most 64 KiB, and the zip64 records before it.
  std::vector<std::byte> tail(static_cast<size_t>(std::min<int64_t>(archive.file_bytes_, 66 * 1024)));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream,
                        OpenFileStream(path, archive.file_bytes_ - static_cast<int64_t>(tail.size())));
  HONE_RETURN_IF_ERROR(ReadExactly(*stream, tail));
  HONE_ASSIGN_OR_RETURN(const ZipDirectoryPlace place, FindZipDirectory(tail, archive.file_bytes_, path));
  std::vector<std::byte> directory(static_cast<size_t>(place.bytes));
  HONE_ASSIGN_OR_RETURN(stream, OpenFileStream(path, place.offset));
  HONE_RETURN_IF_ERROR(ReadExactly(*stream, directory));
  HONE_ASSIGN_OR_RETURN(archive.members_, ParseZipDirectory(directory, place.entries, archive.file_bytes_, path));
  return archive;
}

const ZipMember* ZipArchive::Find(std::string_view name) const {
  for (const ZipMember& member : members_) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

Result<std::unique_ptr<ByteStream>> ZipArchive::OpenMember(const ZipMember& member, int64_t skip) const {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> header_stream, OpenFileStream(path_, member.header_offset));
  std::byte header[kLocalBytes];
  HONE_RETURN_IF_ERROR(ReadExactly(*header_stream, header));
  if (ReadValue<uint32_t>(header, 0) != kLocalHeader)
    return DamagedZip(path_, fmt::format("member '{}' has no header", member.name));
  const int64_t begin = member.header_offset + static_cast<int64_t>(kLocalBytes) + ReadValue<uint16_t>(header, 26) +
                        ReadValue<uint16_t>(header, 28);
  if (begin > file_bytes_ - member.compressed_bytes)
    return DamagedZip(path_, fmt::format("member '{}' is cut", member.name));
  if (!member.deflated) return OpenFileStream(path_, begin + skip, std::max<int64_t>(0, member.bytes - skip));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> compressed, OpenFileStream(path_, begin, member.compressed_bytes));
  std::unique_ptr<ByteStream> stream = Inflate(std::move(compressed), Compression::kRawDeflate);
  std::vector<std::byte> skipped(static_cast<size_t>(std::min<int64_t>(skip, 1 << 20)));
  while (skip > 0) {
    const size_t take = static_cast<size_t>(std::min<int64_t>(skip, static_cast<int64_t>(skipped.size())));
    HONE_RETURN_IF_ERROR(ReadExactly(*stream, std::span(skipped).first(take)));
    skip -= static_cast<int64_t>(take);
  }
  return stream;
}

}  // namespace hone::gnn
