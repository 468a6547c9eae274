// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/npy.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/files/file.h"
#include "base/numbers/rounding.h"
#include "gnn/infer/write_output.h"

namespace hone::gnn {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

// Returns the bytes of a .npy file.
std::string NpyBytes(std::string_view dtype, std::string_view shape, std::string_view body) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, shape);
  // The data begins at a multiple of 64 bytes, and the header ends with a line feed.
  const size_t fixed = kMagic.size() + 2;
  header.resize(RoundUp(fixed + header.size() + 1, 64) - fixed - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes += body;
  return bytes;
}

// Returns the text after "'key':" up to `end`; empty when absent.
std::string_view HeaderField(std::string_view header, std::string_view key, char end) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size() + 3);
  const size_t stop = header.find(end, end == '\'' ? header.find('\'') + 1 : 0);
  return stop == std::string_view::npos ? std::string_view() : header.substr(0, stop + 1);
}

}  // namespace

Status WriteNpy(const std::string& path, std::span<const int32_t> values) {
  const std::string_view body(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return WriteOutput(path, NpyBytes("<i4", fmt::format("{},", values.size()), body));
}

Status WriteNpy(const std::string& path, std::span<const float> values, int64_t columns) {
  const std::string_view body(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  const int64_t rows = columns > 0 ? static_cast<int64_t>(values.size()) / columns : 0;
  return WriteOutput(path, NpyBytes("<f4", fmt::format("{}, {}", rows, columns), body));
}

Status CheckNpyOutput(const std::string& path) {
  HONE_RETURN_IF_ERROR(CheckOutput(path));
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0) {
    std::string first_bytes(6, '\0');
    std::ifstream(path, std::ios::binary).read(first_bytes.data(), static_cast<std::streamsize>(first_bytes.size()));
    if (first_bytes == kMagic.substr(0, 6)) return Status::Ok();
    return Status::InvalidArgument(
        fmt::format("'{}' is there and is no .npy file; predictions replace nothing else: name another file", path));
  }
  const std::string extension = std::filesystem::path(path).extension();
  if (extension.empty() || extension == ".npy" || std::filesystem::exists(path, error)) return Status::Ok();
  return Status::InvalidArgument(fmt::format(
      "'{}': predictions are written as a .npy file, which numpy.load reads, or a .csv file: name it '{}.npy'", path,
      path.substr(0, path.size() - extension.size())));
}

Result<std::vector<NodeId>> ReadNodeList(const std::string& path, int64_t num_nodes) {
  HONE_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  const auto refuse = [&](std::string_view problem) {
    return Status::InvalidArgument(
        fmt::format("'{}' {}; --nodes takes a .npy file with one dimension of int32 or int64 node ids", path, problem));
  };
  std::string_view bytes = file;
  if (bytes.size() < 12 || bytes.substr(0, 6) != kMagic.substr(0, 6)) return refuse("is not a .npy file");
  const int version = bytes[6];
  if (version < 1 || version > 3) return refuse(fmt::format("is a .npy file of version {}", version));
  const size_t size_bytes = version == 1 ? 2 : 4;
  uint32_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + 8, size_bytes);
  if (header_size > bytes.size() - 8 - size_bytes) return refuse("ends within its header");
  const std::string_view header = bytes.substr(8 + size_bytes, header_size);
  const std::string_view body = bytes.substr(8 + size_bytes + header_size);

  const std::string_view dtype = HeaderField(header, "descr", '\'');
  const std::string_view shape = HeaderField(header, "shape", ')');
  const size_t width = dtype.find("<i4") != std::string_view::npos   ? 4
                       : dtype.find("<i8") != std::string_view::npos ? 8
                                                                     : 0;
  if (width == 0) return refuse(fmt::format("holds {}", dtype.empty() ? "no descr" : dtype));
  // One dimension: "(n,)" has one comma, and it comes last.
  const size_t comma = shape.find(',');
  if (comma == std::string_view::npos || shape.find_first_of("0123456789", comma) != std::string_view::npos) {
    return refuse(fmt::format("has the shape {}", shape));
  }
  if (body.size() % width != 0) return refuse("is cut off");
  std::vector<NodeId> nodes(body.size() / width);
  size_t declared = 0;
  for (char c : shape.substr(0, comma)) {
    if (c >= '0' && c <= '9') declared = declared * 10 + static_cast<size_t>(c - '0');
  }
  if (declared != nodes.size()) {
    return refuse(fmt::format("says to have {} entries and has {}", declared, nodes.size()));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    int64_t id = 0;
    if (width == 8) {
      std::memcpy(&id, body.data() + i * 8, 8);
    } else {
      int32_t narrow = 0;
      std::memcpy(&narrow, body.data() + i * 4, 4);
      id = narrow;
    }
    if (id < 0 || id >= num_nodes) {
      return Status::InvalidArgument(
          fmt::format("'{}' entry {} is node {}; the graph has nodes 0 to {}", path, i, id, num_nodes - 1));
    }
    nodes[i] = static_cast<NodeId>(id);
  }
  return nodes;
}

}  // namespace hone::gnn
