// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See test_files.h.
#include "gnn/graph/convert/test_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "base/files/file.h"

namespace hone::gnn {
namespace {

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string Compress(std::string_view text, int window_bits) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace

std::string NpyBytes(std::string_view type, std::string_view shape, std::string_view items, bool fortran_order) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", type,
                                   fortran_order ? "True" : "False", shape);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  Put<uint16_t>(out, static_cast<uint16_t>(header.size()));
  return out + header + std::string(items);
}

std::string ZipBytes(const std::vector<std::pair<std::string, std::string>>& members, ZipStyle style) {
  std::string out, directory;
  const bool zip64 = style == ZipStyle::kZip64;
  for (const auto& [name, content] : members) {
    const std::string stored = style == ZipStyle::kDeflated ? Compress(content, -15) : content;
    const uint16_t method = style == ZipStyle::kDeflated ? 8 : 0;
    const uint32_t crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(content.data()),
                                                     static_cast<uInt>(content.size())));
    const size_t offset = out.size();
    std::string extra;
    if (zip64) {
      Put<uint16_t>(extra, 1);
      Put<uint16_t>(extra, 24);
      Put<uint64_t>(extra, content.size());
      Put<uint64_t>(extra, stored.size());
      Put<uint64_t>(extra, offset);
    }
    Put<uint32_t>(out, 0x04034b50);
    for (const uint16_t field : {uint16_t{45}, uint16_t{0}, method, uint16_t{0}, uint16_t{33}}) Put<uint16_t>(out, field);
    Put<uint32_t>(out, crc);
    Put<uint32_t>(out, static_cast<uint32_t>(stored.size()));
    Put<uint32_t>(out, static_cast<uint32_t>(content.size()));
    Put<uint16_t>(out, static_cast<uint16_t>(name.size()));
    Put<uint16_t>(out, 4);  // size of the local header's extra field, which may differ from the directory's
    out += name;
    Put<uint16_t>(out, 0x7777);
    Put<uint16_t>(out, 0);
    out += stored;
    Put<uint32_t>(directory, 0x02014b50);
    for (const uint16_t field : {uint16_t{45}, uint16_t{45}, uint16_t{0}, method, uint16_t{0}, uint16_t{33}}) {
      Put<uint16_t>(directory, field);
    }
    Put<uint32_t>(directory, crc);
    Put<uint32_t>(directory, zip64 ? 0xffffffffu : static_cast<uint32_t>(stored.size()));
    Put<uint32_t>(directory, zip64 ? 0xffffffffu : static_cast<uint32_t>(content.size()));
    Put<uint16_t>(directory, static_cast<uint16_t>(name.size()));
    Put<uint16_t>(directory, static_cast<uint16_t>(extra.size()));
    for (int i = 0; i < 3; ++i) Put<uint16_t>(directory, 0);
    Put<uint32_t>(directory, 0);
    Put<uint32_t>(directory, zip64 ? 0xffffffffu : static_cast<uint32_t>(offset));
    directory += name + extra;
  }
  const uint64_t directory_at = out.size(), count = members.size();
  out += directory;
  if (zip64) {
    const uint64_t end64 = out.size();
    Put<uint32_t>(out, 0x06064b50);
    Put<uint64_t>(out, 44);
    Put<uint16_t>(out, 45);
    Put<uint16_t>(out, 45);
    Put<uint32_t>(out, 0);
    Put<uint32_t>(out, 0);
    for (const uint64_t field : {count, count, uint64_t{directory.size()}, directory_at}) Put<uint64_t>(out, field);
    Put<uint32_t>(out, 0x07064b50);
    Put<uint32_t>(out, 0);
    Put<uint64_t>(out, end64);
    Put<uint32_t>(out, 1);
  }
  Put<uint32_t>(out, 0x06054b50);
  Put<uint16_t>(out, 0);
  Put<uint16_t>(out, 0);
  Put<uint16_t>(out, zip64 ? 0xffff : static_cast<uint16_t>(count));
  Put<uint16_t>(out, zip64 ? 0xffff : static_cast<uint16_t>(count));
  Put<uint32_t>(out, zip64 ? 0xffffffffu : static_cast<uint32_t>(directory.size()));
  Put<uint32_t>(out, zip64 ? 0xffffffffu : static_cast<uint32_t>(directory_at));
  Put<uint16_t>(out, 0);
  return out;
}

std::string GzipBytes(std::string_view text) { return Compress(text, 15 + 16); }

void WriteTestFile(const std::string& path, std::string_view bytes) {
  const Status status = WriteFileAtomicallyUnflushed(path, bytes);
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace hone::gnn
