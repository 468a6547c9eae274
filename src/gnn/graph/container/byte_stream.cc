// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See byte_stream.h.
#include "gnn/graph/container/byte_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files/file.h"

namespace hone::gnn {
namespace {

class FileStream final : public ByteStream {
 public:
  FileStream(UniqueFd fd, std::string path, int64_t offset, int64_t length)
      : fd_(std::move(fd)), path_(std::move(path)), offset_(offset), left_(length) {}
  const std::string& name() const override { return path_; }
  Result<size_t> Read(std::span<std::byte> out) override {
    size_t want = std::min(out.size(), size_t{1} << 30);
    if (left_ >= 0) want = std::min(want, static_cast<size_t>(left_));
    for (;;) {
      const ssize_t n = pread(fd_.get(), out.data(), want, offset_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Status::Io(ErrnoMessage("read", path_, errno));
      offset_ += n;
      if (left_ >= 0) left_ -= n;
      return static_cast<size_t>(n);
    }
  }

 private:
  UniqueFd fd_;
  std::string path_;
  int64_t offset_, left_;
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  Result<size_t> Read(std::span<std::byte> out) override {
    const size_t n = std::min(out.size(), bytes_.size());
    if (n > 0) std::memcpy(out.data(), bytes_.data(), n);
    bytes_ = bytes_.subspan(n);
    return n;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

class InflateStream final : public ByteStream {
 public:
  InflateStream(std::unique_ptr<ByteStream> source, Compression compression)
      : source_(std::move(source)), gzip_(compression == Compression::kGzip), input_(256 * 1024) {
    // A window of -15 bits means data without a header (zip members); 15 + 16 means gzip's header.
    HONE_CHECK(inflateInit2(&zlib_, gzip_ ? 15 + 16 : -15) == Z_OK, "zlib could not start");
  }
  ~InflateStream() override { inflateEnd(&zlib_); }
  const std::string& name() const override { return source_->name(); }

  Result<size_t> Read(std::span<std::byte> out) override {
    zlib_.next_out = reinterpret_cast<Bytef*>(out.data());
    const uInt want = static_cast<uInt>(std::min(out.size(), size_t{1} << 30));
    zlib_.avail_out = want;
    while (zlib_.avail_out == want && !ended_) {
      if (zlib_.avail_in == 0) {
        HONE_ASSIGN_OR_RETURN(const size_t read_bytes, source_->Read(input_));
        if (read_bytes == 0) {
          if (between_members_) break;
          return Status::InvalidArgument(fmt::format("'{}' ends within its compressed data; copy it again", name()));
        }
        zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
        zlib_.avail_in = static_cast<uInt>(read_bytes);
      }
      between_members_ = false;
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        if (!gzip_) {
          ended_ = true;
          break;
        }
        inflateReset(&zlib_);
        between_members_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return Status::InvalidArgument(fmt::format("'{}' has damaged compressed data ({}); copy it again", name(),
                                                   zlib_.msg != nullptr ? zlib_.msg : "zlib error"));
      }
    }
    return static_cast<size_t>(want - zlib_.avail_out);
  }

 private:
  std::unique_ptr<ByteStream> source_;
  bool gzip_, ended_ = false, between_members_ = false;
  std::vector<std::byte> input_;
  z_stream zlib_{};
};

}  // namespace

Result<std::unique_ptr<ByteStream>> OpenFileStream(const std::string& path, int64_t offset, int64_t length) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    const std::string message = ErrnoMessage("open", path, errno);
    return errno == ENOENT || errno == ENOTDIR ? Status::NotFound(message) : Status::Io(message);
  }
  return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(std::move(fd), path, offset, length));
}

Result<std::unique_ptr<ByteStream>> OpenMaybeGzip(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> probe, OpenFileStream(path));
  std::byte magic[2] = {};
  HONE_ASSIGN_OR_RETURN(const size_t read_bytes, probe->Read(magic));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> file_stream, OpenFileStream(path));
  if (read_bytes < 2 || magic[0] != std::byte{0x1f} || magic[1] != std::byte{0x8b}) return file_stream;
  return Inflate(std::move(file_stream), Compression::kGzip);
}

std::unique_ptr<ByteStream> OpenMemoryStream(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemoryStream>(bytes, std::move(name));
}

std::unique_ptr<ByteStream> Inflate(std::unique_ptr<ByteStream> compressed, Compression compression) {
  return std::make_unique<InflateStream>(std::move(compressed), compression);
}

Status ReadExactly(ByteStream& stream, std::span<std::byte> out) {
  while (!out.empty()) {
    HONE_ASSIGN_OR_RETURN(const size_t read_bytes, stream.Read(out));
    if (read_bytes == 0) {
      return Status::InvalidArgument(fmt::format("'{}' ends {} bytes too early; copy it again", stream.name(), out.size()));
    }
    out = out.subspan(read_bytes);
  }
  return Status::Ok();
}

}  // namespace hone::gnn
