// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the parsers of graph files end normally on every input that fuzzing has kept (kept_inputs.hex, one per
// line), and on thousands of files that are nearly valid. With HONE_FUZZ_SEEDS set to a folder, writes both there as
// the fuzzer's seeds.
#include "fuzz/graph_parsers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files/file.h"
#include "base/numbers/random.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/convert/test_files.h"
#include "gnn/graph/synthetic/synthetic_graph.h"

namespace hone::gnn {
namespace {

void Feed(const std::string& bytes) { FeedGraphParser(std::as_bytes(std::span(bytes))); }

// Returns one valid file for each parser, after the parser's number.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  const auto add = [&](char parser, const std::string& bytes) { seeds.push_back(parser + bytes); };
  Result<TemporaryDirectory> directory = MakeTemporaryDirectory();
  const std::string path = *directory / "g";
  EXPECT_TRUE(GenerateContainer("synthetic:arxiv?nodes=12&features=3&classes=2&degree=2", path, 1, {}).ok());
  add(0, ReadFile(path).value());
  add(1, NpyBytes<int64_t>("<i8", "3, 2", {0, 1, 1, 2, 2, 3}));
  add(1, NpyBytes<int32_t>("<i4", "2, 3", {0, 1, 1, 2, 2, 3}, true));
  add(1, NpyBytes<float>("<f4", "4, 2", {0, 1, 2, 3, 4, 5, 6, 7}));
  add(1, NpyBytes<int8_t>("|i1", "4,", {0, 1, 2, -1}));
  for (const ZipStyle style : {ZipStyle::kStored, ZipStyle::kDeflated, ZipStyle::kZip64}) {
    add(2, ZipBytes({{"adj_indices.npy", NpyBytes<int32_t>("<i4", "3,", {1, 2, 0})},
                     {"adj_indptr.npy", NpyBytes<int32_t>("<i4", "4,", {0, 2, 2, 3})},
                     {"adj_shape.npy", NpyBytes<int64_t>("<i8", "2,", {3, 3})},
                     {"attr_data.npy", NpyBytes<float>("<f4", "3,", {1, 2, 3})},
                     {"attr_indices.npy", NpyBytes<int32_t>("<i4", "3,", {4, 0, 2})},
                     {"attr_indptr.npy", NpyBytes<int32_t>("<i4", "4,", {0, 1, 1, 3})},
                     {"attr_shape.npy", NpyBytes<int64_t>("<i8", "2,", {3, 5})},
                     {"labels.npy", NpyBytes<int8_t>("|i1", "3,", {2, 0, 1})}},
                    style));
  }
  add(3, "# a comment\nfrom,to\n0,1\r\n1 2 0.5\n\n2\t3\n");
  add(3, GzipBytes("0 1\n1 2\n"));
  add(4, R"({"1": [3, 0], "0": [], "2": [1]})");
  add(5, "1.5,-2e3,nan,\"a, \"\"b\"\"\"\n3 4 inf 1e400\n");
  add(6, "cats\ndogs\r\nM\xc3\xa4use\n");
  add(7, NpyBytes<int8_t>("|i1", "12,", {0, 0, 0, 0, 0, 0, 1, 1, 2, 2, -1, 0}));
  return seeds;
}

std::vector<std::string> KeptInputs() {
  std::ifstream file(HONE_SOURCE_DIR "/tests/fuzz/kept_inputs.hex");
  std::vector<std::string> inputs;
  for (std::string line; std::getline(file, line);) {
    std::string bytes;
    for (size_t i = 0; i + 1 < line.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

TEST(GraphParsers, KeptInputsEndNormally) {
  const std::vector<std::string> inputs = KeptInputs();
  EXPECT_GT(inputs.size(), 100u);
  for (const std::string& input : inputs) Feed(input);
}

TEST(GraphParsers, SeedsFillTheFuzzersFolder) {
  const char* const folder = std::getenv("HONE_FUZZ_SEEDS");
  int number = 0;
  for (const std::vector<std::string>& inputs : {Seeds(), KeptInputs()}) {
    for (const std::string& input : inputs) {
      Feed(input);
      if (folder != nullptr) WriteTestFile(std::string(folder) + "/" + std::to_string(number++), input);
    }
  }
}

TEST(GraphParsers, NearlyRightFilesEndNormally) {
  Rng rng(20261121);
  const std::vector<std::string> seeds = Seeds();
  for (int i = 0; i < 6000; ++i) {
    std::string bytes = seeds[static_cast<size_t>(i) % seeds.size()];
    for (uint64_t change = rng.Below(4) + 1; change > 0; --change) {
      // In a container only the header matters; in other files every byte.
      const size_t at = 1 + rng.Below(std::min<size_t>(bytes.size() - 1, 2000));
      switch (rng.Below(4)) {
        case 0:
          bytes[at] = static_cast<char>(rng.Next());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.Below(8)));
          break;
        case 2:
          bytes[at] = rng.Below(2) == 0 ? '\x00' : '\xff';
          break;
        default:
          if (rng.Below(8) == 0) bytes.resize(at + 1);
      }
      if (bytes.size() < 3) break;
    }
    Feed(bytes);
  }
}

}  // namespace
}  // namespace hone::gnn
