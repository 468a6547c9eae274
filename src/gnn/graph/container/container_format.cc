// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See container_format.h. All integers are little-endian, as on every machine the engine runs on.
#include "gnn/graph/container/container_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/numbers/rounding.h"
#include "gnn/graph/class_names.h"
#include "gnn/graph/container/crc32c.h"
#include "gnn/graph/feature_dtype.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {
namespace {

static_assert(std::endian::native == std::endian::little, "containers are read in place as little-endian");

// Field offsets in the fixed part.
constexpr size_t kVersionAt = 8, kHeaderBytesAt = 12, kFileBytesAt = 16, kNumNodesAt = 24, kNumEdgesAt = 32,
                 kNumClassesAt = 40, kGraphFlagsAt = 44, kSectionCountAt = 48, kEntryBytesAt = 52, kChunkBytesAt = 56,
                 kHeaderCrcAt = 60;
// Field offsets in a section's entry.
constexpr size_t kTypeAt = 0, kDtypeAt = 4, kFlagsAt = 8, kRankAt = 12, kShapeAt = 16, kStrideAt = 40, kOffsetAt = 48,
                 kBytesAt = 56, kCrcOffsetAt = 64, kCrcCountAt = 72, kEntryReservedAt = 76, kNameAt = 96;

constexpr std::array kSectionTypes = {
    NamedCode{"row_offsets", 1},   NamedCode{"columns", 2},      NamedCode{"features", 3},
    NamedCode{"labels", 4},        NamedCode{"train_nodes", 5},  NamedCode{"valid_nodes", 6},
    NamedCode{"test_nodes", 7},    NamedCode{"provenance", 8},   NamedCode{"edge_ids", 16},
    NamedCode{"edge_weights", 17}, NamedCode{"edge_times", 18},  NamedCode{"edge_types", 19},
    NamedCode{"node_times", 20},   NamedCode{"node_types", 21},  NamedCode{"multi_labels", 22},
    NamedCode{"extra_split", 23},  NamedCode{"class_names", 24}, NamedCode{"edge_features", 25},
    NamedCode{"values", 26},
};
constexpr std::array kDtypes = {
    NamedCode{"int32", 1},   NamedCode{"int64", 2},    NamedCode{"float32", 3},
    NamedCode{"float16", 4}, NamedCode{"bfloat16", 5}, NamedCode{"bytes", 6},
};
constexpr std::array kFlags = {
    NamedCode{"symmetric", GraphFlags::kSymmetric},
    NamedCode{"sorted", GraphFlags::kSorted},
    NamedCode{"parallel_edges", GraphFlags::kParallelEdges},
    NamedCode{"self_loops", GraphFlags::kSelfLoops},
};

constexpr std::array kHeaderFields = {
    NamedField{"magic", 0, 8},
    NamedField{"version", kVersionAt, 4},
    NamedField{"header_bytes", kHeaderBytesAt, 4},
    NamedField{"file_bytes", kFileBytesAt, 8},
    NamedField{"num_nodes", kNumNodesAt, 8},
    NamedField{"num_edges", kNumEdgesAt, 8},
    NamedField{"num_classes", kNumClassesAt, 4},
    NamedField{"graph_flags", kGraphFlagsAt, 4},
    NamedField{"section_count", kSectionCountAt, 4},
    NamedField{"entry_bytes", kEntryBytesAt, 4},
    NamedField{"chunk_bytes", kChunkBytesAt, 4},
    NamedField{"header_crc", kHeaderCrcAt, 4},
};
constexpr std::array kEntryFields = {
    NamedField{"type", kTypeAt, 4},
    NamedField{"dtype", kDtypeAt, 4},
    NamedField{"section_flags", kFlagsAt, 4},
    NamedField{"rank", kRankAt, 4},
    NamedField{"shape", kShapeAt, 8 * kContainerMaxRank},
    NamedField{"stride_bytes", kStrideAt, 8},
    NamedField{"offset", kOffsetAt, 8},
    NamedField{"bytes", kBytesAt, 8},
    NamedField{"crc_offset", kCrcOffsetAt, 8},
    NamedField{"crc_count", kCrcCountAt, 4},
    NamedField{"reserved", kEntryReservedAt, 20},
    NamedField{"name", kNameAt, kContainerNameBytes},
};
// Returns whether the fields follow each other without gaps and fill `bytes` bytes.
template <size_t kCount>
constexpr bool CoversAllBytes(const std::array<NamedField, kCount>& fields, size_t bytes) {
  size_t at = 0;
  for (const NamedField& field : fields) {
    if (field.offset != at) return false;
    at += field.bytes;
  }
  return at == bytes;
}
static_assert(CoversAllBytes(kHeaderFields, kContainerFixedBytes), "the header's fields leave gaps");
static_assert(CoversAllBytes(kEntryFields, kContainerEntryBytes), "the entry's fields leave gaps");

template <typename T>
void WriteValue(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}
template <typename T>
T ReadValue(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// Computes the header's checksum, with the checksum's own field taken as zero.
uint32_t HeaderCrc(std::span<const std::byte> header) {
  constexpr uint32_t zero = 0;
  uint32_t crc = Crc32c(0, header.data(), kHeaderCrcAt);
  crc = Crc32c(crc, &zero, 4);
  return Crc32c(crc, header.data() + kHeaderCrcAt + 4, header.size() - kHeaderCrcAt - 4);
}

Status DamagedContainer(const std::string& path, const std::string& why) {
  return Status::InvalidArgument(
      fmt::format("'{}' is no intact graph container: {}; make it again with hone-gnn convert or generate", path, why));
}

// Checks that a known section has the shape that the header implies. Another shape would lead to reads out of bounds.
Status CheckKnownSection(const ContainerHeader& h, const ContainerSection& s, const std::string& path) {
  const auto require = [&](bool condition, std::string_view what) {
    if (condition) return Status::Ok();
    return DamagedContainer(path,
                            fmt::format("section {} has {}", SectionTypeName(static_cast<uint32_t>(s.type)), what));
  };
  const bool vector32 = s.rank == 1 && s.dtype == SectionDtype::kInt32 && s.stride_bytes == 4;
  switch (s.type) {
    case SectionType::kRowOffsets:
      return require(
          s.rank == 1 && s.dtype == SectionDtype::kInt64 && s.stride_bytes == 8 && s.shape[0] == h.num_nodes + 1,
          fmt::format("not the shape [num_nodes + 1 = {}] of int64", h.num_nodes + 1));
    case SectionType::kColumns:
      return require(vector32 && s.shape[0] == h.num_edges,
                     fmt::format("not the shape [num_edges = {}] of int32", h.num_edges));
    case SectionType::kLabels:
      return require(vector32 && s.shape[0] == h.num_nodes,
                     fmt::format("not the shape [num_nodes = {}] of int32", h.num_nodes));
    case SectionType::kTrainNodes:
    case SectionType::kValidNodes:
    case SectionType::kTestNodes:
      return require(vector32 && s.shape[0] <= h.num_nodes, "not a vector of at most num_nodes int32");
    case SectionType::kFeatures:
    case SectionType::kEdgeFeatures: {
      const bool of_edges = s.type == SectionType::kEdgeFeatures;
      const int64_t rows = of_edges ? h.num_edges : h.num_nodes;
      const bool typed =
          s.dtype == SectionDtype::kFloat32 || s.dtype == SectionDtype::kFloat16 || s.dtype == SectionDtype::kBFloat16;
      HONE_RETURN_IF_ERROR(
          require(typed && s.rank == 2 && s.shape[0] == rows && s.shape[1] > 0,
                  fmt::format("not the shape [{} = {}, width] of floats", of_edges ? "num_edges" : "num_nodes", rows)));
      const int64_t row = s.shape[1] * SectionDtypeBytes(s.dtype);
      const bool suits = of_edges && s.stride_bytes < 64 ? std::has_single_bit(static_cast<uint64_t>(s.stride_bytes))
                                                         : s.stride_bytes % (!of_edges && row > 96 ? 128 : 64) == 0;
      return require(
          s.stride_bytes >= row && suits,
          fmt::format("a row stride of {} bytes, which does not suit rows of {} bytes", s.stride_bytes, row));
    }
    case SectionType::kMultiLabels:
    case SectionType::kValues:
      return require(s.rank == 2 && s.dtype == SectionDtype::kFloat32 && s.shape[0] == h.num_nodes && s.shape[1] > 0 &&
                         s.shape[1] == h.num_classes && s.stride_bytes == 4 * s.shape[1],
                     fmt::format("not the shape [num_nodes, num_classes] = [{}, {}] of float32 without gaps",
                                 h.num_nodes, h.num_classes));
    case SectionType::kClassNames:
      return require(
          s.rank == 1 && s.dtype == SectionDtype::kBytes && s.stride_bytes == 1 && s.shape[0] <= kMostClassNameBytes,
          fmt::format("not the shape of at most {} bytes", kMostClassNameBytes));
    default:
      return Status::Ok();
  }
}

// Parses and checks the entry of one section.
Result<ContainerSection> ParseEntry(std::span<const std::byte> header, size_t at, int64_t file_bytes,
                                    const std::string& path) {
  ContainerSection s;
  const uint32_t type = ReadValue<uint32_t>(header, at + kTypeAt), dtype = ReadValue<uint32_t>(header, at + kDtypeAt);
  const std::string_view type_name = SectionTypeName(type);
  const auto bad = [&](const std::string& why) {
    return DamagedContainer(path, fmt::format("section {} ({}) {}", type, type_name, why));
  };
  s.type = static_cast<SectionType>(type);
  s.dtype = static_cast<SectionDtype>(dtype);
  s.required = (ReadValue<uint32_t>(header, at + kFlagsAt) & kSectionRequired) != 0;
  if (type_name == "unknown" && s.required) {
    return Status::InvalidArgument(fmt::format(
        "'{}' needs a newer hone-gnn: it has a required section of type {}, which this version does not know", path,
        type));
  }
  s.rank = static_cast<int>(std::min<uint32_t>(ReadValue<uint32_t>(header, at + kRankAt), 99));
  if (s.rank < 1 || s.rank > kContainerMaxRank) return bad(fmt::format("has rank {}", s.rank));
  for (int i = 0; i < kContainerMaxRank; ++i) {
    s.shape[i] = ReadValue<int64_t>(header, at + kShapeAt + static_cast<size_t>(i) * 8);
    if (s.shape[i] < 0 || s.shape[i] > (int64_t{1} << 40)) return bad(fmt::format("has an extent of {}", s.shape[i]));
  }
  s.stride_bytes = ReadValue<int64_t>(header, at + kStrideAt);
  s.offset = ReadValue<int64_t>(header, at + kOffsetAt);
  s.bytes = ReadValue<int64_t>(header, at + kBytesAt);
  if (s.stride_bytes < 0 || s.stride_bytes > (int64_t{1} << 32)) return bad("has an impossible stride");
  if (s.offset < static_cast<int64_t>(header.size()) || s.offset % kContainerAlignment != 0 || s.bytes < 0 ||
      s.bytes > file_bytes || s.offset > file_bytes - s.bytes) {
    return bad(fmt::format("lies at {} with {} bytes, outside the file of {} bytes", s.offset, s.bytes, file_bytes));
  }
  if (s.stride_bytes > 0 && s.shape[0] > file_bytes / s.stride_bytes) return bad("is larger than the file");
  if (s.bytes != s.shape[0] * s.stride_bytes) return bad("has a size that is not its shape times its stride");
  const int64_t crc_offset = ReadValue<int64_t>(header, at + kCrcOffsetAt);
  const uint32_t crc_count = ReadValue<uint32_t>(header, at + kCrcCountAt);
  if (crc_count != ChunkCount(s.bytes) || crc_offset < 0 || crc_offset > static_cast<int64_t>(header.size()) ||
      static_cast<int64_t>(header.size()) - crc_offset < int64_t{crc_count} * 4) {
    return bad("has checksums outside the header");
  }
  for (uint32_t i = 0; i < crc_count; ++i) {
    s.chunk_crcs.push_back(ReadValue<uint32_t>(header, static_cast<size_t>(crc_offset) + size_t{i} * 4));
  }
  const char* name = reinterpret_cast<const char*>(header.data() + at + kNameAt);
  s.name.assign(name, strnlen(name, kContainerNameBytes));
  return s;
}

}  // namespace

std::span<const NamedCode> SectionTypeNames() { return kSectionTypes; }
std::span<const NamedCode> SectionDtypeNames() { return kDtypes; }
std::span<const NamedCode> GraphFlagNames() { return kFlags; }
std::span<const NamedField> HeaderFields() { return kHeaderFields; }
std::span<const NamedField> EntryFields() { return kEntryFields; }

std::string_view SectionTypeName(uint32_t code) {
  for (const NamedCode& type : kSectionTypes) {
    if (type.code == code) return type.name;
  }
  return "unknown";
}

size_t ContainerHeader::Add(SectionType type, SectionDtype dtype, int64_t rows, bool required) {
  ContainerSection s;
  s.type = type;
  s.dtype = dtype;
  s.required = required;
  s.shape[0] = rows;
  s.stride_bytes = SectionDtypeBytes(dtype);
  sections.push_back(std::move(s));
  return sections.size() - 1;
}

size_t ContainerHeader::AddFeatures(SectionType type, FeatureDtype dtype, int64_t rows, int64_t width,
                                    int64_t stride_bytes) {
  const size_t at = Add(type,
                        dtype == FeatureDtype::kFloat32   ? SectionDtype::kFloat32
                        : dtype == FeatureDtype::kFloat16 ? SectionDtype::kFloat16
                                                          : SectionDtype::kBFloat16,
                        rows);
  sections[at].rank = 2;
  sections[at].shape[1] = width;
  sections[at].stride_bytes = stride_bytes;
  return at;
}

size_t ContainerHeader::AddTargets(SectionType type, int64_t rows, int64_t width) {
  const size_t at = Add(type, SectionDtype::kFloat32, rows);
  sections[at].rank = 2;
  sections[at].shape[1] = width;
  sections[at].stride_bytes = 4 * width;
  return at;
}

const ContainerSection* ContainerHeader::Find(SectionType type) const {
  for (const ContainerSection& section : sections) {
    if (section.type == type) return &section;
  }
  return nullptr;
}

int64_t ContainerHeaderBytes(size_t sections, int64_t chunks) {
  const int64_t bytes = kContainerFixedBytes + static_cast<int64_t>(sections) * kContainerEntryBytes + chunks * 4;
  return RoundUp(bytes, kContainerAlignment);
}

std::string SerializeContainerHeader(const ContainerHeader& header, int64_t header_bytes) {
  std::string bytes(static_cast<size_t>(header_bytes), '\0');
  std::memcpy(bytes.data(), kContainerMagic.data(), kContainerMagic.size());
  WriteValue<uint32_t>(bytes, kVersionAt, kContainerVersion);
  WriteValue<uint32_t>(bytes, kHeaderBytesAt, static_cast<uint32_t>(header_bytes));
  WriteValue<int64_t>(bytes, kFileBytesAt, header.file_bytes);
  WriteValue<int64_t>(bytes, kNumNodesAt, header.num_nodes);
  WriteValue<int64_t>(bytes, kNumEdgesAt, header.num_edges);
  WriteValue<int32_t>(bytes, kNumClassesAt, header.num_classes);
  WriteValue<uint32_t>(bytes, kGraphFlagsAt, header.graph_flags);
  WriteValue<uint32_t>(bytes, kSectionCountAt, static_cast<uint32_t>(header.sections.size()));
  WriteValue<uint32_t>(bytes, kEntryBytesAt, static_cast<uint32_t>(kContainerEntryBytes));
  WriteValue<uint32_t>(bytes, kChunkBytesAt, static_cast<uint32_t>(kContainerChunkBytes));
  size_t crc_at =
      static_cast<size_t>(kContainerFixedBytes) + header.sections.size() * static_cast<size_t>(kContainerEntryBytes);
  for (size_t i = 0; i < header.sections.size(); ++i) {
    const ContainerSection& s = header.sections[i];
    const size_t at = static_cast<size_t>(kContainerFixedBytes) + i * static_cast<size_t>(kContainerEntryBytes);
    WriteValue<uint32_t>(bytes, at + kTypeAt, static_cast<uint32_t>(s.type));
    WriteValue<uint32_t>(bytes, at + kDtypeAt, static_cast<uint32_t>(s.dtype));
    WriteValue<uint32_t>(bytes, at + kFlagsAt, s.required ? kSectionRequired : 0);
    WriteValue<uint32_t>(bytes, at + kRankAt, static_cast<uint32_t>(s.rank));
    for (size_t d = 0; d < kContainerMaxRank; ++d) WriteValue<int64_t>(bytes, at + kShapeAt + d * 8, s.shape[d]);
    WriteValue<int64_t>(bytes, at + kStrideAt, s.stride_bytes);
    WriteValue<int64_t>(bytes, at + kOffsetAt, s.offset);
    WriteValue<int64_t>(bytes, at + kBytesAt, s.bytes);
    WriteValue<int64_t>(bytes, at + kCrcOffsetAt, static_cast<int64_t>(crc_at));
    WriteValue<uint32_t>(bytes, at + kCrcCountAt, static_cast<uint32_t>(s.chunk_crcs.size()));
    std::memcpy(bytes.data() + at + kNameAt, s.name.data(), std::min(s.name.size(), kContainerNameBytes - 1));
    HONE_CHECK(crc_at + s.chunk_crcs.size() * 4 <= bytes.size(),
               "the container's header is too small for its checksums");
    std::memcpy(bytes.data() + crc_at, s.chunk_crcs.data(), s.chunk_crcs.size() * 4);
    crc_at += s.chunk_crcs.size() * 4;
  }
  WriteValue<uint32_t>(bytes, kHeaderCrcAt, HeaderCrc(std::as_bytes(std::span(bytes))));
  return bytes;
}

Result<int64_t> ParseContainerPrefix(std::span<const std::byte> prefix, const std::string& path) {
  if (prefix.size() < static_cast<size_t>(kContainerFixedBytes) ||
      std::memcmp(prefix.data(), kContainerMagic.data(), kContainerMagic.size()) != 0) {
    return Status::InvalidArgument(
        fmt::format("'{}' is no graph container (it does not begin with {}); make one with hone-gnn convert SOURCE OUT",
                    path, kContainerMagic));
  }
  const uint32_t version = ReadValue<uint32_t>(prefix, kVersionAt);
  if (version != kContainerVersion) {
    return Status::InvalidArgument(fmt::format("'{}' is a container of version {}; this hone-gnn reads version {}",
                                               path, version, kContainerVersion));
  }
  const int64_t bytes = ReadValue<uint32_t>(prefix, kHeaderBytesAt);
  if (bytes < kContainerAlignment || bytes > kContainerMaxHeaderBytes || bytes % kContainerAlignment != 0) {
    return DamagedContainer(path, fmt::format("its header claims {} bytes", bytes));
  }
  return bytes;
}

Result<ContainerHeader> ParseContainerHeader(std::span<const std::byte> header, int64_t file_bytes,
                                             const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const int64_t header_bytes, ParseContainerPrefix(header, path));
  if (static_cast<int64_t>(header.size()) < header_bytes) {
    return DamagedContainer(path, fmt::format("it ends within its header of {} bytes", header_bytes));
  }
  header = header.first(static_cast<size_t>(header_bytes));
  if (HeaderCrc(header) != ReadValue<uint32_t>(header, kHeaderCrcAt))
    return DamagedContainer(path, "the header's checksum is wrong");
  ContainerHeader h;
  h.file_bytes = ReadValue<int64_t>(header, kFileBytesAt);
  h.num_nodes = ReadValue<int64_t>(header, kNumNodesAt);
  h.num_edges = ReadValue<int64_t>(header, kNumEdgesAt);
  h.num_classes = ReadValue<int32_t>(header, kNumClassesAt);
  h.graph_flags = ReadValue<uint32_t>(header, kGraphFlagsAt);
  if (h.file_bytes != file_bytes) {
    return DamagedContainer(path, fmt::format("it has {} bytes and should have {}", file_bytes, h.file_bytes));
  }
  if (h.num_nodes < 1 || h.num_nodes > INT32_MAX || h.num_edges < 0 || h.num_edges > (int64_t{1} << 40) ||
      h.num_classes < 0) {
    return DamagedContainer(path,
                   fmt::format("it claims {} nodes, {} edges and {} classes", h.num_nodes, h.num_edges, h.num_classes));
  }
  if (ReadValue<uint32_t>(header, kEntryBytesAt) != kContainerEntryBytes ||
      ReadValue<uint32_t>(header, kChunkBytesAt) != kContainerChunkBytes) {
    return DamagedContainer(path, "its section entries or chunks have another size than version 1's");
  }
  const uint32_t count = ReadValue<uint32_t>(header, kSectionCountAt);
  if (count > (header_bytes - kContainerFixedBytes) / kContainerEntryBytes) {
    return DamagedContainer(path, fmt::format("it claims {} sections", count));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(kContainerFixedBytes) + size_t{i} * static_cast<size_t>(kContainerEntryBytes);
    HONE_ASSIGN_OR_RETURN(ContainerSection section, ParseEntry(header, at, file_bytes, path));
    HONE_RETURN_IF_ERROR(CheckKnownSection(h, section, path));
    h.sections.push_back(std::move(section));
  }
  int of_targets = 0;
  for (const SectionType type : {SectionType::kLabels, SectionType::kMultiLabels, SectionType::kValues}) {
    of_targets += h.Find(type) != nullptr ? 1 : 0;
  }
  if (of_targets > 1)
    return DamagedContainer(path, "it has more than one of the sections labels, multi_labels and values");
  for (const SectionType type : {SectionType::kRowOffsets, SectionType::kColumns}) {
    if (h.Find(type) == nullptr) {
      return DamagedContainer(path, fmt::format("it has no section {}", SectionTypeName(static_cast<uint32_t>(type))));
    }
  }
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const ContainerSection& s : h.sections) {
    if (s.bytes > 0) ranges.emplace_back(s.offset, s.bytes);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i - 1].first + ranges[i - 1].second > ranges[i].first)
      return DamagedContainer(path, "its sections overlap");
  }
  return h;
}

}  // namespace hone::gnn
