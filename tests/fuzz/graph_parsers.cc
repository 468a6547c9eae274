// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Readers open files by path, possibly several times, so each input is put in an anonymous file.
#include "fuzz/graph_parsers.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "gnn/graph/class_names.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/container/crc32c.h"
#include "gnn/graph/convert/given_split.h"
#include "gnn/graph/convert/graph_source.h"
#include "gnn/graph/convert/text_lines.h"
#include "gnn/graph/describe.h"
#include "gnn/graph/synthetic/synthetic_graph.h"

namespace hone::gnn {
namespace {

// An unlinked file in memory with the given bytes, and a path that opens it.
class AnonymousFile {
 public:
  explicit AnonymousFile(std::span<const std::byte> bytes) : fd_(memfd_create("graph", MFD_CLOEXEC)) {
    const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
    if (written != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }

 private:
  UniqueFd fd_;
};

// Reads a source to its end as convert would, without allocating memory in proportion to the ids in it.
void Drain(const Result<GraphSource>& source) {
  if (!source.ok()) return;
  constexpr int64_t kMostWork = 1 << 20;
  std::vector<int64_t> sources(512), destinations(512);
  Result<std::unique_ptr<EdgeReader>> edges = source->edges->Open();
  for (int64_t done = 0; edges.ok() && done < kMostWork;) {
    const Result<size_t> count = (*edges)->Next(sources, destinations);
    if (!count.ok() || *count == 0) break;
    (void)(*edges)->Place(*count - 1);
    done += static_cast<int64_t>(*count);
  }
  if (source->features == nullptr || source->features->width() > kMostWork) return;
  Result<std::unique_ptr<FeatureReader>> features = source->features->Open();
  std::vector<float> row(static_cast<size_t>(source->features->width()));
  const int64_t rows = std::clamp<int64_t>(source->features->rows(), 0, kMostWork / source->features->width());
  for (int64_t r = 0; features.ok() && r < rows; ++r) {
    if (!(*features)->Next(row).ok()) break;
  }
}

// Feeds a container after correcting its size and the checksum of its header, which random bytes would never meet.
void FeedContainer(std::span<const std::byte> input) {
  std::vector<std::byte> bytes(input.begin(), input.end());
  const auto put = [&](size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof(value)); };
  uint32_t header_bytes = 0;
  if (bytes.size() >= 64) {
    put(16, static_cast<int64_t>(bytes.size()));
    std::memcpy(&header_bytes, bytes.data() + 12, 4);
    if (header_bytes >= 64 && header_bytes <= bytes.size()) {
      put(60, uint32_t{0});
      put(60, Crc32c(0, bytes.data(), header_bytes));
    }
  }
  const AnonymousFile file(bytes);
  const auto graph = OpenGraph(
      file.path(), {.load = OpenGraphOptions::Load::kMap, .check = OpenGraphOptions::Check::kHeader, .threads = 1});
  // A graph opened like this is not checked before it is described.
  if (graph.ok() && (*graph)->structure().num_nodes < (1 << 20)) (void)DescribeGraph(**graph).ok();
  (void)OpenGraph(file.path(), {.load = OpenGraphOptions::Load::kCopy, .threads = 1}).ok();
  (void)ReadContainerProvenance(file.path()).ok();
}

void FeedArray(std::span<const std::byte> input) {
  const AnonymousFile file(input);
  const Result<NpyArray> array = NpyArray::InFile(file.path());
  if (!array.ok()) return;
  (void)array->Integers().ok();
  (void)array->Floats().ok();
  (void)LabelsOfArray(*array).ok();
  if (Result<std::unique_ptr<FeatureSource>> features = FeaturesOfArray(*array); features.ok()) {
    (void)(*features)->Open().ok();
  }
  for (const bool two_rows : {false, true}) {
    Result<std::unique_ptr<EdgeSource>> edges = EdgesOfArray(*array, two_rows);
    if (!edges.ok()) continue;
    GraphSource source;
    source.edges = std::move(edges).value();
    Drain(std::move(source));
  }
}

void FeedLines(std::span<const std::byte> input) {
  TextLines lines(OpenMemoryStream(input, "input"));
  std::string_view line, field;
  for (;;) {
    const Result<bool> more = lines.Next(line);
    if (!more.ok() || !*more) return;
    (void)CsvFields(line);
    float value = 0;
    for (std::string_view rest = line; TakeField(rest, field);) (void)ParseFloat(field, value);
  }
}

void FeedArchive(std::span<const std::byte> input) {
  const AnonymousFile file(input);  // lives while the source reads it
  Drain(OpenArchive(file.path()));
}

void FeedEdgeList(std::span<const std::byte> input) {
  const AnonymousFile file(input);
  Drain(OpenEdgeList(file.path()));
}

void FeedJsonLists(std::span<const std::byte> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  (void)FeaturesOfJsonLists(text, "input", 1000).ok();
}

// The names of classes, from the file of a user and from a container's section.
void FeedClassNames(std::span<const std::byte> input) {
  const AnonymousFile file(input);
  (void)ReadClassNames(file.path()).ok();
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const Result<std::vector<std::string>> names = ParseClassNames(text, 1000);
  if (names.ok()) (void)ClassNamesText(*names);
}

// A user's division of a graph of 12 nodes.
void FeedSplit(std::span<const std::byte> input) {
  static const std::shared_ptr<const Graph> graph = [] {
    const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
    const std::string path = folder / "g";
    if (!GenerateContainer("synthetic:arxiv?nodes=12&features=3&classes=2&degree=2", path, 1, {}).ok()) std::abort();
    return std::shared_ptr<const Graph>(
        std::move(OpenGraph(path, {.load = OpenGraphOptions::Load::kCopy, .threads = 1})).value());
  }();
  const AnonymousFile file(input);
  (void)WithGivenSplit(graph, file.path()).ok();
}

constexpr GraphParser kParsers[] = {
    {"container", FeedContainer},  {"array", FeedArray}, {"archive", FeedArchive},        {"edge list", FeedEdgeList},
    {"json lists", FeedJsonLists}, {"lines", FeedLines}, {"class names", FeedClassNames}, {"split", FeedSplit}};

}  // namespace

std::span<const GraphParser> GraphParsers() { return kParsers; }

void FeedGraphParser(std::span<const std::byte> input) {
  if (input.empty()) return;
  kParsers[static_cast<unsigned>(input[0]) % std::size(kParsers)].feed(input.subspan(1));
}

}  // namespace hone::gnn
