// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the bytes of a graph container: constants, and its header as values. docs/formats/graph-container.md is the
// specification; container_doc_test.cc compares its tables with the constants here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

inline constexpr std::string_view kContainerMagic{"HONEGRPH", 8};
inline constexpr uint32_t kContainerVersion = 1;
inline constexpr int64_t kContainerFixedBytes = 64;   // size of the fixed part, before the section table
inline constexpr int64_t kContainerEntryBytes = 128;  // size of one section's entry
inline constexpr int64_t kContainerAlignment = 4096;  // alignment of the header's size and of every section's offset
inline constexpr int64_t kContainerChunkBytes = int64_t{64} << 20;
inline constexpr int64_t kContainerMaxHeaderBytes = int64_t{64} << 20;
inline constexpr int kContainerMaxRank = 3;
inline constexpr size_t kContainerNameBytes = 32;

enum class SectionType : uint32_t {
  kRowOffsets = 1,
  kColumns = 2,
  kFeatures = 3,
  kLabels = 4,
  kTrainNodes = 5,
  kValidNodes = 6,
  kTestNodes = 7,
  kProvenance = 8,
  // Reserved: not written yet; readers skip these types unless a section is marked required.
  kEdgeIds = 16,
  kEdgeWeights = 17,
  kEdgeTimes = 18,
  kEdgeTypes = 19,
  kNodeTimes = 20,
  kNodeTypes = 21,
  kExtraSplit = 23,
  // Optional: readers that do not know these types skip them.
  kMultiLabels = 22,
  kClassNames = 24,
  kEdgeFeatures = 25,
  kValues = 26,
};

enum class SectionDtype : uint32_t {
  kInt32 = 1,
  kInt64 = 2,
  kFloat32 = 3,
  kFloat16 = 4,
  kBFloat16 = 5,
  kBytes = 6,
};
constexpr int64_t SectionDtypeBytes(SectionDtype dtype) {
  switch (dtype) {
    case SectionDtype::kInt32:
    case SectionDtype::kFloat32:
      return 4;
    case SectionDtype::kInt64:
      return 8;
    case SectionDtype::kFloat16:
    case SectionDtype::kBFloat16:
      return 2;
    case SectionDtype::kBytes:
      return 1;
  }
  return 0;
}

// All known names in order, as the specification writes them; a test compares the two.
struct NamedCode {
  std::string_view name;
  uint32_t code;
};
std::span<const NamedCode> SectionTypeNames();
std::span<const NamedCode> SectionDtypeNames();
std::span<const NamedCode> GraphFlagNames();
// Fields of the fixed part and of a section's entry: name, offset, and size in bytes.
struct NamedField {
  std::string_view name;
  size_t offset, bytes;
};
std::span<const NamedField> HeaderFields();
std::span<const NamedField> EntryFields();
std::string_view SectionTypeName(uint32_t code);  // "unknown" for an unknown code

inline constexpr uint32_t kSectionRequired = 1;  // section flag: a reader that does not know the type must refuse

struct ContainerSection {
  SectionType type = SectionType::kProvenance;
  SectionDtype dtype = SectionDtype::kBytes;
  bool required = false;
  int rank = 1;  // number of dimensions
  int64_t shape[kContainerMaxRank] = {0, 0, 0};
  int64_t stride_bytes = 0;  // from one index of the first dimension to the next
  int64_t offset = 0;
  int64_t bytes = 0;                 // shape[0] * stride_bytes
  std::string name;                  // distinguishes sections of one type; at most kContainerNameBytes - 1 bytes
  std::vector<uint32_t> chunk_crcs;  // one for each kContainerChunkBytes of the section, the last may be shorter
};

struct ContainerHeader {
  int64_t file_bytes = 0;
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  int32_t num_classes = 0;
  uint32_t graph_flags = 0;
  std::vector<ContainerSection> sections;

  const ContainerSection* Find(SectionType type) const;
  // Appends a section and returns its number. The writer sets its offset and checksums (container_writer.h).
  //   Add          `rows` values of one dimension; `required`: a reader that does not know the type must refuse
  //   AddTargets   `rows` of `width` float32 without gaps; kMultiLabels or kValues
  //   AddFeatures  `rows` of `width` values, `stride_bytes` from one row to the next; kFeatures or kEdgeFeatures
  size_t Add(SectionType type, SectionDtype dtype, int64_t rows, bool required = false);
  size_t AddTargets(SectionType type, int64_t rows, int64_t width);
  size_t AddFeatures(SectionType type, FeatureDtype dtype, int64_t rows, int64_t width, int64_t stride_bytes);
};

// Returns the size of the header: fixed part, table and checksums, rounded up to kContainerAlignment.
int64_t ContainerHeaderBytes(size_t sections, int64_t chunks);
inline int64_t ChunkCount(int64_t bytes) { return (bytes + kContainerChunkBytes - 1) / kContainerChunkBytes; }

// Serializes the header. `header_bytes` must hold the sections and may be larger; the rest is zero.
std::string SerializeContainerHeader(const ContainerHeader& header, int64_t header_bytes);

// Returns the size of the header, from its first kContainerFixedBytes.
Result<int64_t> ParseContainerPrefix(std::span<const std::byte> prefix, const std::string& path);

// Parses the header and checks everything that does not need the sections' bytes: magic, version, checksum, that
// sections lie within the file and do not overlap, types, shapes against num_nodes and num_edges, strides. `file_bytes`
// is the true size of the file. kInvalidArgument names `path` and the field.
Result<ContainerHeader> ParseContainerHeader(std::span<const std::byte> header, int64_t file_bytes,
                                             const std::string& path);

}  // namespace hone::gnn
