// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a container returns what was written, and that errors name what is damaged.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/files/file.h"
#include "gnn/graph/array_graph.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/container/container_writer.h"
#include "gnn/graph/container/crc32c.h"
#include "gnn/graph/synthetic/synthetic_graph.h"

namespace hone::gnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns a 6-cycle (both directions) with a self-loop at 5, features of width 3 in float32 and two classes.
std::shared_ptr<const Graph> SixCycle() {
  GraphParts parts;
  parts.name = "cycle";
  parts.owned_offsets = {0, 2, 4, 6, 8, 10, 13};
  parts.owned_ids = {{5, 1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 0, 5}, {0, 1, 0, 1, kNoLabel, 1}, {0, 3}, {1}, {2, 5}};
  Result<MemoryRegion> rows = MemoryRegion::Anonymous(6 * 64, "features");
  for (int v = 0; v < 6; ++v) {
    const float row[3] = {1.0f * v, -0.5f, 100.0f + v};
    std::memcpy(rows->data() + v * 64, row, sizeof(row));
  }
  parts.features = {rows->data(), FeatureDtype::kFloat32, 6, 3, 64};
  parts.memory.push_back(std::move(rows).value());
  parts.structure = {6, parts.owned_offsets, parts.owned_ids[0]};
  parts.labels = parts.owned_ids[1];
  parts.num_classes = 2;
  for (size_t i = 0; i < 3; ++i) parts.split[i] = parts.owned_ids[2 + i];
  parts.flags = {.symmetric = true, .sorted = false, .parallel_edges = false, .self_loops = true};
  return std::make_shared<ArrayGraph>(std::move(parts));
}

class ContainerTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder_or_error = MakeTemporaryDirectory();
    ASSERT_TRUE(folder_or_error.ok()) << folder_or_error.status().message();
    directory_ = std::move(folder_or_error).value();
    path_ = directory_ / "cycle.hgraph";
    const Status status = WriteContainer(*SixCycle(), path_, R"({"source":"test"})");
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::string Bytes() { return ReadFile(path_).value(); }
  // Writes `bytes` as the container and opens it, checking every chunk.
  Status OpenBytes(const std::string& bytes, OpenGraphOptions::Load load = OpenGraphOptions::Load::kCopy) {
    EXPECT_TRUE(WriteFileAtomicallyUnflushed(path_, bytes).ok());
    return OpenGraph(path_, {.load = load}).status();
  }

  TemporaryDirectory directory_;
  std::string path_;
};

void ExpectSameGraph(const Graph& a, const Graph& b) {
  EXPECT_TRUE(std::ranges::equal(a.structure().row_offsets, b.structure().row_offsets));
  EXPECT_TRUE(std::ranges::equal(a.structure().columns, b.structure().columns));
  EXPECT_TRUE(std::ranges::equal(a.labels(), b.labels()));
  EXPECT_TRUE(std::ranges::equal(a.train_nodes(), b.train_nodes()));
  EXPECT_TRUE(std::ranges::equal(a.valid_nodes(), b.valid_nodes()));
  EXPECT_TRUE(std::ranges::equal(a.test_nodes(), b.test_nodes()));
  EXPECT_EQ(a.num_classes(), b.num_classes());
  EXPECT_EQ(FlagBits(a.flags()), FlagBits(b.flags()));
  const FeatureView x = a.features(), y = b.features();
  ASSERT_EQ(x.num_rows, y.num_rows);
  ASSERT_EQ(x.stride_bytes, y.stride_bytes);
  EXPECT_EQ(x.width, y.width);
  EXPECT_EQ(x.dtype, y.dtype);
  const auto bytes = [](const FeatureView& view) {
    return std::span(view.rows, static_cast<size_t>(view.num_rows * view.stride_bytes));
  };
  EXPECT_TRUE(std::ranges::equal(bytes(x), bytes(y)));
}

TEST(Crc32c, MatchesThePublishedVectors) {
  // Test vectors of RFC 3720, appendix B.4.
  EXPECT_EQ(Crc32c(0, std::string(32, '\0').data(), 32), 0x8a9136aau);
  EXPECT_EQ(Crc32c(0, std::string(32, '\xff').data(), 32), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ(Crc32c(Crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

TEST_F(ContainerTest, GivesBackWhatWasWritten) {
  for (const auto load : {OpenGraphOptions::Load::kCopy, OpenGraphOptions::Load::kMap, OpenGraphOptions::Load::kAuto}) {
    const auto graph = OpenGraph(path_, {.load = load});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ExpectSameGraph(**graph, *SixCycle());
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*graph)->features().rows) % 64, 0u);
    EXPECT_THAT((*graph)->structure().Neighbors(5), ElementsAre(4, 0, 5));
  }
  EXPECT_EQ(ReadContainerProvenance(path_).value(), R"({"source":"test"})");
}

TEST_F(ContainerTest, RewritingLeavesOneFile) {
  ASSERT_TRUE(WriteContainer(*SixCycle(), path_, "{}").ok());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    (void)entry;
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST(ContainerWriter, ANewContainerHeedsTheUmaskAndAReplacedOneKeepsItsMode) {
  const Result<TemporaryDirectory> folder = MakeTemporaryDirectory();
  ASSERT_TRUE(folder.ok());
  const std::string path = *folder / "g";
  const auto mode = [&] { return std::filesystem::status(path).permissions(); };
  const mode_t before = umask(027);
  const Status write_status = WriteContainer(*SixCycle(), path, "{}");
  umask(before);
  ASSERT_TRUE(write_status.ok()) << write_status.message();
  EXPECT_EQ(mode(), static_cast<std::filesystem::perms>(0640));
  std::filesystem::permissions(path, static_cast<std::filesystem::perms>(0600));
  ASSERT_TRUE(WriteContainer(*SixCycle(), path, "{}").ok());
  EXPECT_EQ(mode(), static_cast<std::filesystem::perms>(0600));
}

TEST(ContainerWriter, AKilledWriterLeavesNothing) {
  Result<TemporaryDirectory> folder = MakeTemporaryDirectory();
  ASSERT_TRUE(folder.ok());
  if (!UniqueFd(open(folder->path().c_str(), O_TMPFILE | O_RDWR, 0600)).valid()) {
    GTEST_SKIP() << "this file system has no files without a name";
  }
  const pid_t child = fork();
  if (child == 0) {
    const auto die = [](std::string_view step, int64_t, int64_t) {
      if (step == "features") raise(SIGKILL);
    };
    (void)GenerateContainer("synthetic:arxiv?nodes=100", *folder / "g", 1, die);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

TEST_F(ContainerTest, EveryTruncationIsRefused) {
  const std::string container_bytes = Bytes();
  for (size_t size = 0; size < container_bytes.size(); size += size < 300 ? 7 : 997) {
    const Status status = OpenBytes(container_bytes.substr(0, size), OpenGraphOptions::Load::kMap);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << size;
    EXPECT_THAT(status.message(), HasSubstr("cycle.hgraph")) << size;
  }
  EXPECT_EQ(OpenBytes(container_bytes + "x").code(), StatusCode::kInvalidArgument);
}

TEST_F(ContainerTest, EveryFlippedHeaderByteIsRefused) {
  const std::string container_bytes = Bytes();
  for (size_t at = 0; at < 64 + 8 * 128; at += 3) {
    std::string damaged = container_bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    EXPECT_EQ(OpenBytes(damaged, OpenGraphOptions::Load::kMap).code(), StatusCode::kInvalidArgument) << at;
  }
}

TEST_F(ContainerTest, FlippedSectionByteIsFoundByCopyAndByVerify) {
  std::string bytes = Bytes();
  const ContainerHeader header = ReadContainerHeader(path_).value();
  bytes[static_cast<size_t>(header.Find(SectionType::kFeatures)->offset) + 5] ^= 1;
  const Status copied = OpenBytes(bytes);
  EXPECT_EQ(copied.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(copied.message(), HasSubstr("chunk 0 of section features"));
  EXPECT_TRUE(OpenGraph(path_, {.load = OpenGraphOptions::Load::kMap}).ok());
  EXPECT_FALSE(OpenGraph(path_, {.load = OpenGraphOptions::Load::kMap, .check = OpenGraphOptions::Check::kAll}).ok());
}

// The structure is not checked again later: a sampler that used the row or the neighbor would read far outside the
// file.
TEST_F(ContainerTest, DamagedStructureOfAMappedGraphIsRefused) {
  const std::string container_bytes = Bytes();
  const ContainerHeader header = ReadContainerHeader(path_).value();
  for (const SectionType type : {SectionType::kRowOffsets, SectionType::kColumns, SectionType::kLabels, SectionType::kTrainNodes}) {
    std::string bytes = container_bytes;
    const ContainerSection& section = *header.Find(type);
    bytes[static_cast<size_t>(section.offset + section.bytes / 2) + 2] ^= 0x7f;
    const Status mapped = OpenBytes(bytes, OpenGraphOptions::Load::kMap);
    EXPECT_EQ(mapped.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(mapped.message(), HasSubstr("chunk 0 of section"));
    EXPECT_TRUE(OpenGraph(path_, {.load = OpenGraphOptions::Load::kMap, .check = OpenGraphOptions::Check::kHeader}).ok());
  }
}

// Opens headers with correct checksums and wrong contents, as a faulty writer would leave it.
TEST_F(ContainerTest, ConsistentChecksumsDoNotExcuseWrongShapes) {
  const ContainerHeader good = ReadContainerHeader(path_).value();
  const auto refused = [&](auto change) {
    ContainerHeader header = good;
    change(header);
    const std::string text = SerializeContainerHeader(header, 4096);
    return ParseContainerHeader(std::as_bytes(std::span(text)), good.file_bytes, "bad.hgraph").status();
  };
  EXPECT_TRUE(refused([](ContainerHeader&) {}).ok());
  EXPECT_THAT(refused([](ContainerHeader& h) { h.num_nodes = 7; }).message(), HasSubstr("num_nodes + 1 = 8"));
  EXPECT_THAT(refused([](ContainerHeader& h) { h.num_edges = 12; }).message(), HasSubstr("num_edges = 12"));
  EXPECT_THAT(refused([](ContainerHeader& h) { h.num_nodes = 0; }).message(), HasSubstr("0 nodes"));
  EXPECT_FALSE(refused([](ContainerHeader& h) { h.sections[1].offset += 4096; }).ok());
  EXPECT_FALSE(refused([](ContainerHeader& h) { h.sections[1].offset += 1; }).ok());
  EXPECT_FALSE(refused([](ContainerHeader& h) { h.sections[1].offset = int64_t{1} << 62; }).ok());
  EXPECT_FALSE(refused([](ContainerHeader& h) { h.sections[1].offset = h.sections[0].offset; }).ok());
  EXPECT_FALSE(refused([](ContainerHeader& h) { h.sections[2].stride_bytes = 48; }).ok());
  EXPECT_FALSE(refused([](ContainerHeader& h) { h.sections.erase(h.sections.begin()); }).ok());
  EXPECT_FALSE(refused([](ContainerHeader& h) { h.sections[0].chunk_crcs.push_back(1); }).ok());
}

TEST_F(ContainerTest, UnknownSectionsAreSkippedUnlessRequired) {
  ContainerHeader header = ReadContainerHeader(path_).value();
  header.sections.back().type = static_cast<SectionType>(999);  // was the provenance section
  std::string bytes = Bytes();
  bytes.replace(0, 4096, SerializeContainerHeader(header, 4096));
  EXPECT_TRUE(OpenBytes(bytes).ok());
  header.sections.back().required = true;
  bytes.replace(0, 4096, SerializeContainerHeader(header, 4096));
  const Status status = OpenBytes(bytes);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("required section of type 999"));
}

TEST_F(ContainerTest, NeighborOutOfRangeIsFoundEvenWithRightChecksums) {
  ContainerHeader header = ReadContainerHeader(path_).value();
  std::string bytes = Bytes();
  ContainerSection& columns = header.sections[1];
  ASSERT_EQ(columns.type, SectionType::kColumns);
  const int32_t beyond = 6;
  std::memcpy(bytes.data() + columns.offset + 8, &beyond, 4);
  columns.chunk_crcs[0] = Crc32c(0, bytes.data() + columns.offset, static_cast<size_t>(columns.bytes));
  bytes.replace(0, 4096, SerializeContainerHeader(header, 4096));
  EXPECT_THAT(OpenBytes(bytes).message(), HasSubstr("row 1 of the graph"));
}

TEST_F(ContainerTest, WhatCannotBeIsFoundThoughItsChecksumIsRight) {
  const std::string good = Bytes();
  const auto error_with = [&](SectionType type, const auto& values) {
    const size_t value_bytes = values.size() * sizeof(values[0]);
    ContainerHeader header = ReadContainerHeader(path_).value();
    std::string bytes = good;
    for (ContainerSection& s : header.sections) {
      if (s.type != type) continue;
      EXPECT_EQ(s.bytes, static_cast<int64_t>(value_bytes));
      std::memcpy(bytes.data() + s.offset, values.data(), value_bytes);
      s.chunk_crcs[0] = Crc32c(0, values.data(), value_bytes);
    }
    bytes.replace(0, 4096, SerializeContainerHeader(header, 4096));
    const Status status = OpenBytes(bytes);
    EXPECT_TRUE(WriteFileAtomicallyUnflushed(path_, good).ok());
    return status.message();
  };
  using Ids = std::vector<int32_t>;
  using Offsets = std::vector<int64_t>;
  EXPECT_THAT(error_with(SectionType::kLabels, Ids{0, 1, 2, 1, 0, 0}),
              HasSubstr("node 2 has label 2, outside the 2 classes"));
  EXPECT_THAT(error_with(SectionType::kTrainNodes, Ids{3, 0}), HasSubstr("train nodes are not ascending"));
  EXPECT_THAT(error_with(SectionType::kTrainNodes, Ids{3, 6}),
              HasSubstr("train nodes are not ascending node ids (found 6"));
  EXPECT_THAT(error_with(SectionType::kTestNodes, Ids{1, 5}),
              HasSubstr("node 1 of the test nodes is in another split too"));
  EXPECT_THAT(error_with(SectionType::kRowOffsets, Offsets{1, 2, 4, 6, 8, 10, 13}),
              HasSubstr("row offsets run from 1 to 13"));
  EXPECT_THAT(error_with(SectionType::kRowOffsets, Offsets{0, 2, 4, 6, 8, 10, 12}),
              HasSubstr("should run from 0 to 13"));
  EXPECT_THAT(error_with(SectionType::kRowOffsets, Offsets{0, 2, 6, 4, 8, 10, 13}),
              HasSubstr("row 2 of the graph has descending"));
  EXPECT_THAT(error_with(SectionType::kRowOffsets, Offsets{0, 2, 4, 6, 8, 99, 13}),
              HasSubstr("of the graph has descending"));
}

// Sections are read in pieces of some megabytes; the checksum covers all of them.
TEST_F(ContainerTest, AByteFarIntoASectionIsFound) {
  ASSERT_TRUE(GenerateContainer("synthetic:arxiv?nodes=24000", path_, 1, {}).ok());
  const ContainerHeader header = ReadContainerHeader(path_).value();
  const ContainerSection& features = *header.Find(SectionType::kFeatures);
  ASSERT_GT(features.bytes, int64_t{5} << 20);
  std::string bytes = Bytes();
  EXPECT_TRUE(OpenBytes(bytes).ok());
  bytes[static_cast<size_t>(features.offset + features.bytes - 1)] ^= 1;
  EXPECT_THAT(OpenBytes(bytes).message(), HasSubstr("the checksum of chunk 0 of section features"));
}

TEST_F(ContainerTest, WhatIsNoContainerIsNamed) {
  EXPECT_EQ(OpenGraph(directory_ / "absent").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(OpenGraph(directory_.path()).status().message(), HasSubstr("hone-gnn convert"));
  EXPECT_THAT(OpenBytes("0 1\n1 2\n").message(), HasSubstr("is no graph container"));
}

// A file-size limit stands for a full disk: EFBIG takes the place of ENOSPC, through the same code.
TEST_F(ContainerTest, FullDiskLeavesTheOldFileAndSaysSo) {
  const std::string before = Bytes();
  struct rlimit old {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tight = {256 * 1024, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Status status = GenerateContainer("synthetic:arxiv?nodes=5000", path_, 1, {});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_THAT(status.message(), HasSubstr("nothing was left behind"));
  EXPECT_EQ(Bytes(), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

TEST_F(ContainerTest, GeneratedFileEqualsGraphInMemory) {
  for (const std::string name : {"synthetic:arxiv?scale=0.02&seed=3", "synthetic:products?nodes=3000&dtype=float32",
                                 "synthetic:papers100M?nodes=20000&features=0"}) {
    ASSERT_TRUE(GenerateContainer(name, path_, 2, {}).ok());
    const auto stored = OpenGraph(path_, {.check = OpenGraphOptions::Check::kAll});
    const auto opened = OpenGraph(name);
    ASSERT_TRUE(stored.ok() && opened.ok()) << stored.status().message() << opened.status().message();
    ExpectSameGraph(**stored, **opened);
  }
}

}  // namespace
}  // namespace hone::gnn
