// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the members of a zip file, as NumPy writes them (.npz): stored or deflated, zip64 where large.
//
// Each member can be opened any number of times, concurrently: papers100M's [2, E] edge list is read by two readers,
// one per row. The code does not use libzip: 200 lines replace a shared library with five dependencies, and a stored
// member is an ordinary range of the file. Format: PKWARE APPNOTE 6.3, sections 4.3 and 4.5.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/graph/container/byte_stream.h"
#include "hone/base/status.h"

namespace hone::gnn {

struct ZipMember {
  std::string name;
  bool deflated = false;
  int64_t compressed_bytes = 0;
  int64_t bytes = 0;
  int64_t header_offset = 0;  // offset of the local header
};

class ZipArchive {
 public:
  // Reads the directory. kInvalidArgument names the file and the damaged or unsupported part.
  static Result<ZipArchive> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<ZipMember>& members() const { return members_; }
  const ZipMember* Find(std::string_view name) const;
  // `skip`: uncompressed bytes of the member to skip (a seek if it is stored).
  Result<std::unique_ptr<ByteStream>> OpenMember(const ZipMember& member, int64_t skip = 0) const;

 private:
  std::string path_;
  int64_t file_bytes_ = 0;
  std::vector<ZipMember> members_;
};

// Place of the central directory. Open finds it from the file's last bytes; its two steps are separate for fuzzing.
struct ZipDirectoryPlace {
  int64_t offset = 0, bytes = 0, entries = 0;
};
Result<ZipDirectoryPlace> FindZipDirectory(std::span<const std::byte> tail, int64_t file_bytes, const std::string& path);
// Parses the entries of the central directory.
Result<std::vector<ZipMember>> ParseZipDirectory(std::span<const std::byte> directory, int64_t entries,
                                                 int64_t file_bytes, const std::string& path);

}  // namespace hone::gnn
