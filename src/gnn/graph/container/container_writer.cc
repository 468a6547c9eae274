// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See container_writer.h.
#include "gnn/graph/container/container_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/numbers/rounding.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/container/crc32c.h"

namespace hone::gnn {
namespace {

// Returns the error of a failed write, for a full disk with the remedy.
Status WriteFailed(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return Status::Io(
        ErrnoMessage("write", path, error) +
        "; nothing was left behind; free some space (or raise the limit that `ulimit -f` shows), or choose "
        "another place for the output");
  }
  return Status::Io(ErrnoMessage("write", path, error) + "; nothing was left behind");
}

}  // namespace

Status CheckContainerPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found) {
    return Status::InvalidArgument(
        fmt::format("'{}': there is no folder '{}'; make it first, or name another one", path, folder.string()));
  }
  HONE_RETURN_IF_ERROR(ReplaceablePath(path).status());
  if (std::filesystem::file_size(path, error) == 0 || error || IsContainer(path)) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("'{}' is there and is no graph container, which is all that one replaces: name another file", path));
}

Result<ContainerWriter> ContainerWriter::Create(const std::string& given_path, ContainerHeader header) {
  HONE_RETURN_IF_ERROR(CheckContainerPath(given_path));
  HONE_ASSIGN_OR_RETURN(const std::string path, ReplaceablePath(given_path));
  ContainerWriter writer;
  writer.path_ = path;
  writer.header_ = std::move(header);
  int64_t chunks = 0;
  for (const ContainerSection& s : writer.header_.sections) chunks += ChunkCount(s.shape[0] * s.stride_bytes);
  writer.header_bytes_ = ContainerHeaderBytes(writer.header_.sections.size(), chunks);
  int64_t offset = writer.header_bytes_;
  for (ContainerSection& s : writer.header_.sections) {
    s.offset = offset;
    s.bytes = s.shape[0] * s.stride_bytes;
    offset = RoundUp(offset + s.bytes, kContainerAlignment);
    s.chunk_crcs.clear();
  }
  writer.cursors_.resize(writer.header_.sections.size());

  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  // The file has no name if the file system supports that, so that a writer that is killed or interrupted leaves no
  // gigabytes behind. A complete file gets its name through /proc.
  if (FileExists("/proc/self/fd")) {
    writer.fd_.Reset(open(parent.empty() ? "." : parent.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  }
  if (!writer.fd_.valid()) {
    HONE_ASSIGN_OR_RETURN(writer.fd_, CreateBeside(path, writer.aside_));
  }
  // Some file systems cannot reserve space; they report a full disk while the file is written.
  if (fallocate(writer.fd_.get(), 0, 0, offset) != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
    return WriteFailed(path, errno).WithContext(fmt::format("{} MiB are needed", (offset >> 20) + 1));
  }
  return writer;
}

ContainerWriter::~ContainerWriter() {
  if (fd_.valid() && !aside_.empty()) unlink(aside_.c_str());
}

Status ContainerWriter::WriteAt(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd_.get(), bytes.data(), bytes.size(), offset);
    if (n < 0) {
      if (errno == EINTR) continue;
      return WriteFailed(path_, errno);
    }
    offset += n;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return Status::Ok();
}

Status ContainerWriter::Append(size_t section, std::span<const std::byte> bytes) {
  ContainerSection& s = header_.sections[section];
  Cursor& cursor = cursors_[section];
  HONE_CHECK(cursor.written + static_cast<int64_t>(bytes.size()) <= s.bytes, "a container section was given too much");
  HONE_RETURN_IF_ERROR(WriteAt(s.offset + cursor.written, bytes));
  while (!bytes.empty()) {
    const int64_t in_chunk = cursor.written % kContainerChunkBytes;
    const size_t take = std::min(bytes.size(), static_cast<size_t>(kContainerChunkBytes - in_chunk));
    cursor.crc = Crc32c(in_chunk == 0 ? 0 : cursor.crc, bytes.data(), take);
    cursor.written += static_cast<int64_t>(take);
    if (cursor.written % kContainerChunkBytes == 0) s.chunk_crcs.push_back(cursor.crc);
    bytes = bytes.subspan(take);
  }
  return Status::Ok();
}

void ContainerWriter::Shrink(size_t section) {
  ContainerSection& s = header_.sections[section];
  s.bytes = cursors_[section].written;
  HONE_CHECK(s.bytes % s.stride_bytes == 0, "a container section ends within a row");
  s.shape[0] = s.bytes / s.stride_bytes;
}

// Gives the file a name next to the final one, because a link cannot replace an existing file.
Status ContainerWriter::GiveName() {
  const std::string open_file = fmt::format("/proc/self/fd/{}", fd_.get());
  for (int attempt = 0;; ++attempt) {
    const std::string temporary = fmt::format("{}.aside-{}-{}", path_, getpid(), attempt);
    if (linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      aside_ = temporary;
      return Status::Ok();
    }
    if (errno != EEXIST || attempt > 100) return Status::Io(ErrnoMessage("create", temporary, errno));
  }
}

Status ContainerWriter::Finish() {
  int64_t end = header_bytes_;
  for (size_t i = 0; i < cursors_.size(); ++i) {
    ContainerSection& s = header_.sections[i];
    HONE_CHECK(cursors_[i].written == s.bytes, "a container section was not filled");
    if (s.bytes % kContainerChunkBytes != 0) s.chunk_crcs.push_back(cursors_[i].crc);
    end = std::max(end, s.offset + s.bytes);
  }
  header_.file_bytes = end;
  const std::string bytes = SerializeContainerHeader(header_, header_bytes_);
  HONE_RETURN_IF_ERROR(WriteAt(0, std::as_bytes(std::span(bytes))));
  if (ftruncate(fd_.get(), end) != 0) return WriteFailed(path_, errno);
  HONE_RETURN_IF_ERROR(KeepModeOf(path_, fd_.get()));
  if (fsync(fd_.get()) != 0) return WriteFailed(path_, errno);
  if (aside_.empty()) HONE_RETURN_IF_ERROR(GiveName());
  if (rename(aside_.c_str(), path_.c_str()) != 0) return Status::Io(ErrnoMessage("rename to", path_, errno));
  aside_.clear();
  fd_.Reset();  // Finish has flushed, so close() cannot lose data
  return Status::Ok();
}

}  // namespace hone::gnn
