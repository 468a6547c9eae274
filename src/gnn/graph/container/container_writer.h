// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a graph container in bounded memory. Sections are declared first and then filled. Each is filled from front to
// back; several may be filled by turns.
//
// While it grows, the file has no name if the file system supports that, and otherwise lies next to the final path. It
// gets its name when it is complete. A failure, or the destruction of an unfinished writer, leaves nothing behind. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "gnn/graph/container/container_format.h"
#include "hone/base/status.h"

namespace hone::gnn {

// Checks before any work whether a container may be written to `path`: kInvalidArgument for a folder, a device or a
// pipe, for a path in a folder that is not there, and for an existing file that is not a container. A wrong path, such
// as the source's own, then does not destroy an irreplaceable file.
Status CheckContainerPath(const std::string& path);

class ContainerWriter {
 public:
  // Creates the file. `header.sections` need type, dtype, rank, shape, stride and name. A section's shape[0] may
  // be an upper bound that Shrink lowers. Reserves the space if the file system can: a full disk is reported here,
  // before the work. Refuses what CheckContainerPath refuses; through a symbolic link, replaces the target file.
  static Result<ContainerWriter> Create(const std::string& path, ContainerHeader header);
  ContainerWriter(ContainerWriter&&) noexcept = default;
  ContainerWriter& operator=(ContainerWriter&&) = delete;
  ~ContainerWriter();

  // Appends to a section (by its position in `header.sections`). kIo with the system's text.
  Status Append(size_t section, std::span<const std::byte> bytes);
  template <typename T>
  Status AppendValues(size_t section, std::span<const T> values) {
    return Append(section, std::as_bytes(values));
  }
  // Sets a section's first dimension to the number of rows appended. The file keeps the space behind a section that is
  // not the last one.
  void Shrink(size_t section);
  // Header whose counts and flags may be set until Finish.
  ContainerHeader& header() { return header_; }
  // Flushes the file to disk and renames it to its path. Every section must be full.
  Status Finish();

 private:
  struct Cursor {
    int64_t written = 0;
    uint32_t crc = 0;  // checksum of the chunk being written
  };
  ContainerWriter() = default;
  // Gives the file a name next to the final one, because a link cannot replace an existing file.
  Status GiveName();
  Status WriteAt(int64_t offset, std::span<const std::byte> bytes);

  std::string path_, aside_;
  UniqueFd fd_;
  ContainerHeader header_;
  int64_t header_bytes_ = 0;
  std::vector<Cursor> cursors_;
};

}  // namespace hone::gnn
