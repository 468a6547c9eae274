// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/csv.h"

#include <gmock/gmock.h>

#include <vector>

#include "base/files/file.h"

namespace hone::gnn {
namespace {

class Csv : public testing::Test {
 protected:
  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
  std::string path_ = scratch_ / "out.csv";
};

TEST_F(Csv, ClassesStandBesideTheirNames) {
  const std::vector<NodeId> nodes = {7, 2};
  ASSERT_TRUE(WriteCsv(path_, nodes, std::vector<int32_t>{1, 0}, {}).ok());
  EXPECT_EQ(ReadFile(path_).value(), "node,class\n7,1\n2,0\n");
  const std::vector<std::string> names = {"plain", "with, a \"quote\""};
  ASSERT_TRUE(WriteCsv(path_, nodes, std::vector<int32_t>{1, 2}, names).ok());
  EXPECT_EQ(ReadFile(path_).value(), "node,class,name\n7,1,\"with, a \"\"quote\"\"\"\n2,2,\n");
}

TEST_F(Csv, NumbersReadBackAsTheSameFloats) {
  const std::vector<float> values = {0.1f, -2.0f, 1.0f / 3, 1e-30f};
  ASSERT_TRUE(WriteCsv(path_, std::vector<NodeId>{4, 0}, values, std::vector<std::string>{"e0", "e1"}).ok());
  const std::string text = ReadFile(path_).value();
  EXPECT_EQ(text.substr(0, text.find("\n0,")), "node,e0,e1\n4,0.1,-2");
  const std::string last = text.substr(text.find("\n0,") + 3);
  EXPECT_EQ(std::stof(last), values[2]);
  EXPECT_EQ(std::stof(last.substr(last.find(',') + 1)), values[3]);
}

TEST_F(Csv, ReplacesNothingButPredictions) {
  EXPECT_TRUE(CheckCsvOutput(path_).ok());
  ASSERT_TRUE(WriteFileAtomically(path_, "source,target\n0,1\n").ok());
  const Status refused = CheckCsvOutput(path_);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), testing::HasSubstr("name another file"));
  ASSERT_TRUE(WriteCsv(scratch_ / "mine.csv", std::vector<NodeId>{1}, std::vector<int32_t>{0}, {}).ok());
  EXPECT_TRUE(CheckCsvOutput(scratch_ / "mine.csv").ok());
}

}  // namespace
}  // namespace hone::gnn
