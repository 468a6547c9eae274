// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests read candidates of machine code from files. They write the archives byte by byte, so that they can make
// each fault of an archive.
#include "tuner/workbench/candidate_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <vector>

#include "base/files/file.h"
#include "base/files/zip_archive.h"
#include "tuner/core/program/machine_code.h"

namespace hone {
namespace {

using testing::HasSubstr;

struct Entry {
  std::string name, bytes;
  bool deflate = true;
  uint16_t flags = 0, method_override = 0;
  uint32_t wrong_size = 0;  // size to write in place of the right one; 0: the right one
};

void AppendTwoBytes(std::string& text, unsigned value) {
  text += static_cast<char>(value & 0xff);
  text += static_cast<char>(value >> 8 & 0xff);
}
void AppendFourBytes(std::string& text, uint32_t value) {
  AppendTwoBytes(text, value & 0xffff);
  AppendTwoBytes(text, value >> 16);
}

std::string Deflate(const std::string& bytes) {
  std::string packed(bytes.size() + 100, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Zip(const std::vector<Entry>& entries) {
  std::string archive, directory;
  for (const Entry& entry : entries) {
    const std::string packed = entry.deflate ? Deflate(entry.bytes) : entry.bytes;
    const auto checksum = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(entry.bytes.data()), static_cast<uInt>(entry.bytes.size())));
    const auto local = static_cast<uint32_t>(archive.size());
    const auto size = entry.wrong_size != 0 ? entry.wrong_size : static_cast<uint32_t>(entry.bytes.size());
    const unsigned method = entry.method_override != 0 ? entry.method_override : entry.deflate ? 8 : 0;
    std::string common;
    AppendTwoBytes(common, 20);
    AppendTwoBytes(common, entry.flags);
    AppendTwoBytes(common, method);
    AppendFourBytes(common, 0);
    AppendFourBytes(common, checksum);
    AppendFourBytes(common, static_cast<uint32_t>(packed.size()));
    AppendFourBytes(common, size);
    AppendTwoBytes(common, static_cast<unsigned>(entry.name.size()));
    AppendTwoBytes(common, 0);
    AppendFourBytes(archive, 0x04034b50);
    archive += common + entry.name + packed;
    AppendFourBytes(directory, 0x02014b50);
    AppendTwoBytes(directory, 20);
    directory += common;
    AppendTwoBytes(directory, 0);
    AppendTwoBytes(directory, 0);
    AppendTwoBytes(directory, 0);
    AppendFourBytes(directory, 0);
    AppendFourBytes(directory, local);
    directory += entry.name;
  }
  const auto start = static_cast<uint32_t>(archive.size());
  std::string end;
  AppendFourBytes(end, 0x06054b50);
  AppendFourBytes(end, 0);
  AppendTwoBytes(end, static_cast<unsigned>(entries.size()));
  AppendTwoBytes(end, static_cast<unsigned>(entries.size()));
  AppendFourBytes(end, static_cast<uint32_t>(directory.size()));
  AppendFourBytes(end, start);
  AppendTwoBytes(end, 0);
  return archive + directory + end;
}

const char kPlan[] = "mode = \"cubin\"\n";

class CandidateFile : public testing::Test {
 protected:
  CandidateFile() {
    auto folder_or_error = MakeTemporaryDirectory();
    HONE_CHECK(folder_or_error.ok(), folder_or_error.status().message());
    folder_.emplace(std::move(*folder_or_error));
  }
  std::string Write(const std::string& bytes) {
    const std::string path = *folder_ / "k.honek";
    EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
    return path;
  }
  std::string Refusal(const std::string& bytes) { return ReadCandidate(Write(bytes)).status().message(); }
  std::optional<TemporaryDirectory> folder_;
};

TEST_F(CandidateFile, AnArchiveAndAFolderWithTheSameFilesAreTheSameCandidate) {
  const std::string image(10000, 'x');
  for (const bool deflate : {true, false}) {
    const auto archive =
        ReadCandidate(Write(Zip({{"candidate.toml", kPlan, deflate}, {"kernel.cubin", image, deflate}})));
    ASSERT_TRUE(archive.ok()) << archive.status().message();
    EXPECT_EQ(*ImageIn(*archive, "kernel.cubin"), image);
    EXPECT_TRUE(archive->starts_with("/*hone\nmode = \"cubin\"\n*/\n"));
    const std::string folder = *folder_ / "candidate";
    ASSERT_TRUE(MakeDirectories(folder).ok());
    ASSERT_TRUE(WriteFileAtomically(folder + "/candidate.toml", kPlan).ok());
    ASSERT_TRUE(WriteFileAtomically(folder + "/kernel.cubin", image).ok());
    ASSERT_TRUE(WriteFileAtomically(folder + "/notes.txt", "mine").ok());
    const auto same = ReadCandidate(folder);
    ASSERT_TRUE(same.ok()) << same.status().message();
    EXPECT_EQ(*same, *archive);
  }
}

TEST_F(CandidateFile, AnImageMayBeNamedAfterAKernelAndItsConstants) {
  const std::string name = "kernel." + std::string(150, 'k') + ".4.128.cubin";
  const auto candidate_or_error = ReadCandidate(Write(Zip({{"candidate.toml", kPlan}, {name, "xyz"}})));
  ASSERT_TRUE(candidate_or_error.ok()) << candidate_or_error.status().message();
  EXPECT_EQ(*ImageIn(*candidate_or_error, name), "xyz");
}

TEST_F(CandidateFile, SourceIsReadAsBefore) {
  const std::string path = *folder_ / "k.cu";
  ASSERT_TRUE(WriteFileAtomically(path, "/*hone\n*/\n").ok());
  EXPECT_EQ(*ReadCandidate(path), "/*hone\n*/\n");
  EXPECT_THAT(ReadCandidate(folder_->path()).status().message(), HasSubstr("is a folder"));
  EXPECT_THAT(ReadCandidate(*folder_ / "none.honek").status().message(), HasSubstr("there is no file"));
}

TEST_F(CandidateFile, WhatDoesNotBelongIntoACandidateIsNamed) {
  EXPECT_THAT(Refusal(Zip({{"kernel.cubin", "x"}})), HasSubstr("there is no candidate.toml"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}})), HasSubstr("there is no image"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}, {"run.sh", "x"}})), HasSubstr("'run.sh' does not belong"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}, {std::string(300, 'k') + ".cubin", "x"}})),
              HasSubstr("' has 306 characters, and the name of an image has at most 240"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}, {"a b.cubin", "x"}})), HasSubstr("'a b.cubin' is not the name of an image"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", "mode = \"\xff\""}, {"kernel.cubin", "x"}})), HasSubstr("UTF-8"));
  for (const char* name : {"../kernel.cubin", "/etc/kernel.cubin", "a/kernel.cubin", "..\\kernel.cubin"}) {
    EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}, {name, "x"}})), HasSubstr("lies in a folder")) << name;
  }
}

TEST_F(CandidateFile, ArchivesThatAreNoneAreRefusedAndSizesAreBounded) {
  EXPECT_THAT(Refusal(""), HasSubstr("too short"));
  EXPECT_THAT(Refusal(std::string(100000, 'P')), HasSubstr("end record"));
  const std::string archive_bytes = Zip({{"candidate.toml", kPlan}, {"kernel.cubin", std::string(3000, 'x')}});
  for (size_t size = 0; size < archive_bytes.size(); ++size)
    EXPECT_FALSE(ReadZip(archive_bytes.substr(0, size), {}).ok()) << size;
  // The checksum shows any changed byte of the data. (Some bytes of the headers are not read.)
  std::string changed = archive_bytes;
  changed[35 + 14] = static_cast<char>(changed[35 + 14] ^ 1);
  EXPECT_FALSE(ReadZip(changed, {}).ok());
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}, {.name = "kernel.cubin", .bytes = "x", .wrong_size = 3u << 20}})),
              HasSubstr("as much as is read"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}, {.name = "kernel.cubin", .bytes = "xyz", .wrong_size = 2}})),
              HasSubstr("does not unpack"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan},
                           {.name = "kernel.cubin", .bytes = "xyz", .deflate = false, .wrong_size = 2}})),
              HasSubstr("two sizes"));
  EXPECT_THAT(Refusal(Zip({{.name = "candidate.toml", .bytes = kPlan, .flags = 1}})), HasSubstr("encrypted"));
  EXPECT_THAT(Refusal(Zip({{.name = "candidate.toml", .bytes = kPlan, .method_override = 12}})),
              HasSubstr("use deflate"));
  EXPECT_THAT(Refusal(Zip({{"candidate.toml", kPlan}, {"candidate.toml", kPlan}})), HasSubstr("twice"));
  std::vector<Entry> many;
  for (int i = 0; i < 100; ++i) many.push_back({"k" + std::to_string(i) + ".cubin", "x"});
  EXPECT_THAT(Refusal(Zip(many)), HasSubstr("at most 65 are read"));
}

}  // namespace
}  // namespace hone
