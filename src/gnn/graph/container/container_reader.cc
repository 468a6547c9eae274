// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See container_reader.h.
#include "gnn/graph/container/container_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "base/files/file.h"
#include "base/process/cgroup_limits.h"
#include "gnn/graph/array_graph.h"
#include "gnn/graph/class_names.h"
#include "gnn/graph/container/container_writer.h"
#include "gnn/graph/container/crc32c.h"
#include "gnn/graph/container/memory_region.h"
#include "gnn/graph/parallel.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {
namespace {

// Bytes per read: small enough that several threads share one large section.
constexpr int64_t kReadBytes = int64_t{4} << 20;

Status ReadAt(int fd, int64_t offset, std::byte* out, int64_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t n = pread(fd, out, static_cast<size_t>(std::min(bytes, kReadBytes)), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Status::Io(ErrnoMessage("read", path, errno));
    if (n == 0)
      return Status::InvalidArgument(fmt::format("'{}' ends at byte {}: it was cut while it was read", path, offset));
    out += n;
    offset += n;
    bytes -= n;
  }
  return Status::Ok();
}

struct OpenFile {
  UniqueFd fd;
  ContainerHeader header;
};

Result<OpenFile> OpenAndCheckHeader(const std::string& path) {
  OpenFile file;
  file.fd.Reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.fd.valid()) {
    const std::string message = ErrnoMessage("open", path, errno);
    return errno == ENOENT || errno == ENOTDIR ? Status::NotFound(message) : Status::Io(message);
  }
  struct stat info {};
  if (fstat(file.fd.get(), &info) != 0) return Status::Io(ErrnoMessage("examine", path, errno));
  if (!S_ISREG(info.st_mode)) {
    return Status::InvalidArgument(
        fmt::format("'{}' is not a file; a folder is made into a container with hone-gnn convert {} OUT", path, path));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(std::min<int64_t>(info.st_size, kContainerFixedBytes)));
  HONE_RETURN_IF_ERROR(ReadAt(file.fd.get(), 0, bytes.data(), static_cast<int64_t>(bytes.size()), path));
  HONE_ASSIGN_OR_RETURN(const int64_t header_bytes, ParseContainerPrefix(bytes, path));
  bytes.resize(static_cast<size_t>(std::min<int64_t>(info.st_size, header_bytes)));
  HONE_RETURN_IF_ERROR(ReadAt(file.fd.get(), 0, bytes.data(), static_cast<int64_t>(bytes.size()), path));
  HONE_ASSIGN_OR_RETURN(file.header, ParseContainerHeader(bytes, info.st_size, path));
  return file;
}

// The place of a section's bytes in memory.
struct Placed {
  const ContainerSection* section = nullptr;
  std::byte* data = nullptr;  // null in a mapping: nothing to copy to
};

// Copies every chunk of the sections (if Placed::data is set) and checks its checksum.
Status LoadChunks(const OpenFile& file, const std::vector<Placed>& sections, const std::byte* mapping, int threads,
                  const std::string& path, const GraphProgress& progress) {
  struct Piece {
    const Placed* placed;
    int64_t chunk;
  };
  std::vector<Piece> pieces;
  int64_t total = 0;
  for (const Placed& p : sections) {
    for (int64_t chunk = 0; chunk < ChunkCount(p.section->bytes); ++chunk) pieces.push_back({&p, chunk});
    total += p.section->bytes;
  }
  std::atomic<int64_t> read_bytes{0};
  std::mutex mutex;
  Status first_error;
  ParallelPieces(
      threads, static_cast<int64_t>(pieces.size()),
      [&](int64_t i) {
        const auto& [placed, chunk] = pieces[static_cast<size_t>(i)];
        const ContainerSection& s = *placed->section;
        const int64_t begin = chunk * kContainerChunkBytes, end = std::min(s.bytes, begin + kContainerChunkBytes);
        uint32_t crc = 0;
        Status status;
        for (int64_t at = begin; at < end && status.ok(); at += kReadBytes) {
          const int64_t take = std::min(kReadBytes, end - at);
          const std::byte* bytes = mapping != nullptr ? mapping + s.offset + at : placed->data + at;
          if (mapping == nullptr) status = ReadAt(file.fd.get(), s.offset + at, placed->data + at, take, path);
          if (status.ok()) crc = Crc32c(crc, bytes, static_cast<size_t>(take));
        }
        if (status.ok() && crc != s.chunk_crcs[static_cast<size_t>(chunk)]) {
          status = Status::InvalidArgument(fmt::format(
              "'{}' is damaged: the checksum of chunk {} of section {} (bytes {} to {} of the file) is wrong; copy it "
              "again "
              "or make it again with hone-gnn convert or generate",
              path, chunk, SectionTypeName(static_cast<uint32_t>(s.type)), s.offset + begin, s.offset + end));
        }
        read_bytes.fetch_add(end - begin, std::memory_order_relaxed);
        if (!status.ok()) {
          const std::lock_guard lock(mutex);
          if (first_error.ok()) first_error = status;
        }
      },
      [&](int64_t) {
        if (progress) progress("reading", read_bytes.load(std::memory_order_relaxed), total);
      });
  return first_error;
}

// Checks that row offsets ascend, and that column ids, labels and splits are in range.
Status CheckStructure(const CsrView& csr, const GraphParts& parts, int threads, const std::string& path) {
  constexpr int64_t kRows = 1 << 20;
  std::atomic<int64_t> bad_row{-1}, bad_label{-1};
  ParallelPieces(threads, (csr.num_nodes + kRows - 1) / kRows, [&](int64_t piece) {
    for (int64_t v = piece * kRows; v < std::min(csr.num_nodes, (piece + 1) * kRows); ++v) {
      const int64_t begin = csr.row_offsets[static_cast<size_t>(v)], end = csr.row_offsets[static_cast<size_t>(v) + 1];
      bool good = begin >= 0 && begin <= end && end <= csr.num_edges();
      for (int64_t e = begin; good && e < end; ++e) {
        good = static_cast<uint32_t>(csr.columns[static_cast<size_t>(e)]) < static_cast<uint64_t>(csr.num_nodes);
      }
      if (!good) bad_row = v;
      if (!parts.labels.empty()) {
        const int32_t label = parts.labels[static_cast<size_t>(v)];
        if (label < kNoLabel || label >= parts.num_classes) bad_label = v;
      }
    }
  });
  if (bad_row >= 0) {
    return Status::InvalidArgument(fmt::format(
        "'{}': row {} of the graph has descending offsets or a neighbor that is not one of the {} nodes; make the "
        "container again with hone-gnn convert",
        path, bad_row.load(), csr.num_nodes));
  }
  if (bad_label >= 0) {
    return Status::InvalidArgument(fmt::format("'{}': node {} has label {}, outside the {} classes", path,
                                               bad_label.load(), parts.labels[static_cast<size_t>(bad_label)],
                                               parts.num_classes));
  }
  constexpr std::string_view names[] = {"train", "valid", "test"};
  std::vector<bool> in_a_split(static_cast<size_t>(csr.num_nodes));
  for (int i = 0; i < 3; ++i) {
    NodeId previous = -1;
    for (const NodeId v : parts.split[i]) {
      if (v <= previous || v >= csr.num_nodes) {
        return Status::InvalidArgument(fmt::format("'{}': the {} nodes are not ascending node ids (found {} after {})",
                                                   path, names[i], v, previous));
      }
      if (in_a_split[static_cast<size_t>(v)]) {
        return Status::InvalidArgument(
            fmt::format("'{}': node {} of the {} nodes is in another split too", path, v, names[i]));
      }
      in_a_split[static_cast<size_t>(v)] = true;
      previous = v;
    }
  }
  return Status::Ok();
}

}  // namespace

uint32_t FlagBits(const GraphFlags& flags) {
  return (flags.symmetric ? GraphFlags::kSymmetric : 0) | (flags.sorted ? GraphFlags::kSorted : 0) |
         (flags.parallel_edges ? GraphFlags::kParallelEdges : 0) | (flags.self_loops ? GraphFlags::kSelfLoops : 0);
}

GraphFlags FlagsOfBits(uint32_t bits) {
  return {(bits & GraphFlags::kSymmetric) != 0, (bits & GraphFlags::kSorted) != 0,
          (bits & GraphFlags::kParallelEdges) != 0, (bits & GraphFlags::kSelfLoops) != 0};
}

bool IsContainer(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char magic[kContainerMagic.size()] = {};
  return fd.valid() && pread(fd.get(), magic, sizeof(magic), 0) == static_cast<ssize_t>(sizeof(magic)) &&
         std::string_view(magic, sizeof(magic)) == kContainerMagic;
}

Result<ContainerHeader> ReadContainerHeader(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(OpenFile file, OpenAndCheckHeader(path));
  return std::move(file.header);
}

Result<std::string> ReadContainerProvenance(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const OpenFile file, OpenAndCheckHeader(path));
  const ContainerSection* s = file.header.Find(SectionType::kProvenance);
  if (s == nullptr || s->bytes > (1 << 20)) return std::string("{}");
  std::string text(static_cast<size_t>(s->bytes), '\0');
  HONE_RETURN_IF_ERROR(ReadAt(file.fd.get(), s->offset, reinterpret_cast<std::byte*>(text.data()), s->bytes, path));
  return text;
}

Result<std::shared_ptr<const Graph>> OpenContainer(const std::string& path, const OpenGraphOptions& options) {
  Result<OpenFile> opened = OpenAndCheckHeader(path);
  if (opened.status().code() == StatusCode::kNotFound) {
    return Status::NotFound(
        opened.status().message() +
        "; name a container (hone-gnn convert and generate make them) or synthetic:SHAPE?scale=0.1&seed=1");
  }
  HONE_RETURN_IF_ERROR(opened.status());
  const OpenFile file = *std::move(opened);
  const ContainerHeader& h = file.header;
  const int threads = ThreadCount(options.threads);
  using Check = OpenGraphOptions::Check;
  const bool copy = options.load == OpenGraphOptions::Load::kCopy ||
                    (options.load == OpenGraphOptions::Load::kAuto && h.file_bytes <= AvailableMemoryBytes() / 2);

  GraphParts parts;
  parts.name = path;
  parts.num_classes = h.num_classes;
  parts.flags = FlagsOfBits(h.graph_flags);
  std::vector<Placed> placed;
  if (copy) {
    for (const ContainerSection& s : h.sections) {
      // Only sections that the engine uses are read into memory.
      if (static_cast<uint32_t>(s.type) > static_cast<uint32_t>(SectionType::kTestNodes) &&
          s.type != SectionType::kClassNames && s.type != SectionType::kEdgeFeatures &&
          s.type != SectionType::kMultiLabels && s.type != SectionType::kValues) {
        continue;
      }
      HONE_ASSIGN_OR_RETURN(
          MemoryRegion region,
          MemoryRegion::Anonymous(
              s.bytes, fmt::format("section {} of '{}'", SectionTypeName(static_cast<uint32_t>(s.type)), path)));
      placed.push_back({&s, region.data()});
      parts.memory.push_back(std::move(region));
    }
    HONE_RETURN_IF_ERROR(LoadChunks(file, placed, nullptr, threads, path, options.progress));
  } else {
    HONE_ASSIGN_OR_RETURN(MemoryRegion mapping, MemoryRegion::MapFile(file.fd.get(), h.file_bytes, path));
    std::vector<Placed> checked;
    for (const ContainerSection& s : h.sections) {
      placed.push_back({&s, mapping.data() + s.offset});
      const auto type = static_cast<uint32_t>(s.type);
      const bool structure =
          (type <= static_cast<uint32_t>(SectionType::kTestNodes) && s.type != SectionType::kFeatures) ||
          s.type == SectionType::kClassNames || s.type == SectionType::kMultiLabels || s.type == SectionType::kValues;
      if (options.check == Check::kAll || (structure && options.check == Check::kStructure))
        checked.push_back(placed.back());
    }
    HONE_RETURN_IF_ERROR(LoadChunks(file, checked, mapping.data(), threads, path, options.progress));
    parts.memory.push_back(std::move(mapping));
  }

  for (const Placed& p : placed) {
    const ContainerSection& s = *p.section;
    const auto ids = [&] {
      return std::span<const int32_t>(reinterpret_cast<const int32_t*>(p.data), static_cast<size_t>(s.shape[0]));
    };
    switch (s.type) {
      case SectionType::kRowOffsets:
        parts.structure.num_nodes = h.num_nodes;
        parts.structure.row_offsets = {reinterpret_cast<const int64_t*>(p.data), static_cast<size_t>(s.shape[0])};
        break;
      case SectionType::kColumns:
        parts.structure.columns = ids();
        break;
      case SectionType::kFeatures:
      case SectionType::kEdgeFeatures:
        (s.type == SectionType::kFeatures ? parts.features : parts.edge_features) = {
            p.data,
            s.dtype == SectionDtype::kFloat32   ? FeatureDtype::kFloat32
            : s.dtype == SectionDtype::kFloat16 ? FeatureDtype::kFloat16
                                                : FeatureDtype::kBFloat16,
            s.shape[0], s.shape[1], s.stride_bytes};
        break;
      case SectionType::kLabels:
        parts.labels = ids();
        break;
      case SectionType::kMultiLabels:
      case SectionType::kValues:
        parts.targets = {s.type == SectionType::kValues ? TargetKind::kValues : TargetKind::kMultiLabel,
                         reinterpret_cast<const float*>(p.data), s.shape[0], s.shape[1]};
        break;
      case SectionType::kTrainNodes:
        parts.split[0] = ids();
        break;
      case SectionType::kValidNodes:
        parts.split[1] = ids();
        break;
      case SectionType::kTestNodes:
        parts.split[2] = ids();
        break;
      case SectionType::kClassNames: {
        Result<std::vector<std::string>> names =
            ParseClassNames({reinterpret_cast<const char*>(p.data), static_cast<size_t>(s.bytes)}, h.num_classes);
        if (!names.ok()) {
          return Status::InvalidArgument(
              fmt::format("'{}' is damaged: in section class_names {}; make it again with hone-gnn convert", path,
                          names.status().message()));
        }
        parts.class_names = *std::move(names);
        break;
      }
      default:
        break;
    }
  }
  if (parts.targets.num_rows > 0) {
    Result<std::vector<int32_t>> labels = LabelsOfTargets(parts.targets, threads);
    if (!labels.ok()) return Status::InvalidArgument(fmt::format("'{}': {}", path, labels.status().message()));
    parts.owned_ids.push_back(*std::move(labels));
    parts.labels = parts.owned_ids.back();
  }
  const CsrView& csr = parts.structure;
  if (csr.row_offsets.front() != 0 || csr.row_offsets.back() != h.num_edges) {
    return Status::InvalidArgument(fmt::format(
        "'{}' is damaged: its row offsets run from {} to {} and should run from 0 to {}; make it again with hone-gnn "
        "convert or generate",
        path, csr.row_offsets.front(), csr.row_offsets.back(), h.num_edges));
  }
  if (copy || options.check != Check::kHeader) HONE_RETURN_IF_ERROR(CheckStructure(csr, parts, threads, path));
  return std::shared_ptr<const Graph>(std::make_shared<ArrayGraph>(std::move(parts)));
}

Status WriteContainer(const Graph& graph, const std::string& path, const std::string& provenance,
                      const GraphProgress& progress) {
  ContainerHeader header;
  const CsrView csr = graph.structure();
  header.num_nodes = csr.num_nodes;
  header.num_edges = csr.num_edges();
  header.num_classes = graph.num_classes();
  header.graph_flags = FlagBits(graph.flags());
  std::vector<std::span<const std::byte>> contents;
  const auto add = [&](SectionType type, SectionDtype dtype, int64_t rows, std::span<const std::byte> bytes,
                       bool required) {
    header.Add(type, dtype, rows, required);
    contents.push_back(bytes);
  };
  const auto add_ids = [&](SectionType type, std::span<const int32_t> ids) {
    if (!ids.empty())
      add(type, SectionDtype::kInt32, static_cast<int64_t>(ids.size()), std::as_bytes(ids), /*required=*/false);
  };
  add(SectionType::kRowOffsets, SectionDtype::kInt64, csr.num_nodes + 1, std::as_bytes(csr.row_offsets),
      /*required=*/true);
  add(SectionType::kColumns, SectionDtype::kInt32, csr.num_edges(), std::as_bytes(csr.columns), /*required=*/true);
  const auto add_features = [&](SectionType type, const FeatureView& view) {
    if (view.num_rows == 0) return;
    header.AddFeatures(type, view.dtype, view.num_rows, view.width, view.stride_bytes);
    contents.emplace_back(view.rows, static_cast<size_t>(view.num_rows * view.stride_bytes));
  };
  add_features(SectionType::kFeatures, graph.features());
  const TargetView targets = graph.targets();
  if (targets.num_rows == 0) add_ids(SectionType::kLabels, graph.labels());
  add_ids(SectionType::kTrainNodes, graph.train_nodes());
  add_ids(SectionType::kValidNodes, graph.valid_nodes());
  add_ids(SectionType::kTestNodes, graph.test_nodes());
  add(SectionType::kProvenance, SectionDtype::kBytes, static_cast<int64_t>(provenance.size()),
      std::as_bytes(std::span(provenance)), /*required=*/false);
  const std::string names = ClassNamesText(graph.class_names());
  if (!names.empty()) {
    add(SectionType::kClassNames, SectionDtype::kBytes, static_cast<int64_t>(names.size()),
        std::as_bytes(std::span(names)), /*required=*/false);
  }
  add_features(SectionType::kEdgeFeatures, graph.edge_features());
  if (targets.num_rows > 0) {
    header.AddTargets(TargetSection(targets.kind), targets.num_rows, targets.width);
    contents.emplace_back(reinterpret_cast<const std::byte*>(targets.rows),
                          static_cast<size_t>(targets.num_rows * targets.width * 4));
  }
  int64_t total = 0, done = 0;
  for (const auto& bytes : contents) total += static_cast<int64_t>(bytes.size());
  HONE_ASSIGN_OR_RETURN(ContainerWriter writer, ContainerWriter::Create(path, std::move(header)));
  for (size_t i = 0; i < contents.size(); ++i) {
    for (std::span<const std::byte> unwritten = contents[i]; !unwritten.empty();) {
      const size_t take = std::min(unwritten.size(), static_cast<size_t>(kContainerChunkBytes));
      HONE_RETURN_IF_ERROR(writer.Append(i, unwritten.first(take)));
      unwritten = unwritten.subspan(take);
      done += static_cast<int64_t>(take);
      if (progress) progress("writing", done, total);
    }
  }
  return writer.Finish();
}

}  // namespace hone::gnn
