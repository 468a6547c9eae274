// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a graph container in bounded memory: sections are declared first, then filled from front to back, in any
// interleaving.
//
// The file grows without a name, where the file system can do that, and else beside its final one, and is renamed when it
// is complete; a failure, or a writer that is destroyed unfinished, leaves nothing behind. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "gnn/graph/container_format.h"
#include "hone/base/status.h"

namespace hone::gnn {

// Whether a container may be written to `path`, to be asked before any work: kInvalidArgument for a folder, a device or
// a pipe, and for a file that holds something else than a container. A name taken by mistake, such as that of the source,
// then costs nobody a file that cannot be had again.
Status CheckContainerPath(const std::string& path);

class ContainerWriter {
 public:
  // `sections` with type, dtype, rank, shape, stride and name set. The last one's shape[0] may be an upper bound, to be
  // lowered by Shrink. Reserves the space where the file system can: a full disk is reported here, before the work.
  // Refuses what CheckContainerPath refuses; behind a symbolic link the file that it points to is replaced.
  static Result<ContainerWriter> Create(const std::string& path, ContainerHeader header);
  ContainerWriter(ContainerWriter&&) noexcept = default;
  ContainerWriter& operator=(ContainerWriter&&) = delete;
  ~ContainerWriter();

  // Appends to a section (by its position in `header.sections`). kIo with the system's words.
  Status Append(size_t section, std::span<const std::byte> bytes);
  template <typename T>
  Status AppendValues(size_t section, std::span<const T> values) { return Append(section, std::as_bytes(values)); }
  // Sets the last section's first extent to what was appended to it.
  void Shrink();
  // Counts and flags may be set until Finish.
  ContainerHeader& header() { return header_; }
  // Every section must be full. Flushes to disk and renames.
  Status Finish();

 private:
  struct Cursor {
    int64_t written = 0;
    uint32_t crc = 0;  // of the chunk under way
  };
  ContainerWriter() = default;
  Status GiveName();
  Status WriteAt(int64_t offset, std::span<const std::byte> bytes);

  std::string path_, aside_;
  UniqueFd fd_;
  ContainerHeader header_;
  int64_t header_bytes_ = 0;
  std::vector<Cursor> cursors_;
};

}  // namespace hone::gnn
