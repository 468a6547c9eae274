// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/npy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files/file.h"

namespace hone::gnn {
namespace {

class Npy : public testing::Test {
 protected:
  std::string Write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }
  // Writes a file like NumPy.
  std::string Array(const std::string& header, const std::string& body) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    return Write(bytes + header + body);
  }
  std::string Refusal(const std::string& path, int64_t nodes = 100) {
    Result<std::vector<NodeId>> nodes_or_error = ReadNodeList(path, nodes);
    EXPECT_FALSE(nodes_or_error.ok());
    EXPECT_EQ(nodes_or_error.status().code(), StatusCode::kInvalidArgument);
    return nodes_or_error.status().message();
  }
  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
  std::string path_ = scratch_ / "nodes.npy";
};

TEST_F(Npy, ReadsBackTheListItWrote) {
  const std::vector<int32_t> nodes = {5, 0, 99, 5};
  ASSERT_TRUE(WriteNpy(path_, nodes).ok());
  EXPECT_EQ(ReadNodeList(path_, 100).value(), nodes);
  ASSERT_TRUE(WriteNpy(path_, std::span<const int32_t>()).ok());
  EXPECT_TRUE(ReadNodeList(path_, 100).value().empty());
}

TEST_F(Npy, ReplacesNothingButArrays) {
  EXPECT_TRUE(CheckNpyOutput(path_).ok());  // not there yet
  EXPECT_FALSE(FileExists(path_));
  Write("HONEGRPH, a graph of hours");
  EXPECT_EQ(CheckNpyOutput(path_).code(), StatusCode::kInvalidArgument);
  Write("");
  EXPECT_TRUE(CheckNpyOutput(path_).ok());
  ASSERT_TRUE(WriteNpy(path_, std::vector<int32_t>{1}).ok());
  EXPECT_TRUE(CheckNpyOutput(path_).ok());
  EXPECT_TRUE(CheckNpyOutput("/dev/null").ok());
}

// For root, the permissions of /proc allow writing.
TEST_F(Npy, AFolderWhereNothingCanBeMadeIsFoundOutBeforeTheWork) {
  EXPECT_EQ(CheckNpyOutput("/proc/predictions.npy").code(), StatusCode::kIo);
}

TEST_F(Npy, BeginsTheDataAtAMultipleOf64WithTheShapeInTheHeader) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(WriteNpy(path_, values, 3).ok());
  const std::string bytes = ReadFile(path_).value();
  EXPECT_EQ((bytes.size() - 24) % 64, 0u);
  EXPECT_NE(bytes.find("'shape': (2, 3)"), std::string::npos);
  EXPECT_NE(bytes.find("'descr': '<f4'"), std::string::npos);
}

TEST_F(Npy, ReadsLongIds) {
  const int64_t ids[] = {7, 3};
  const std::string path = Array("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n",
                                 std::string(reinterpret_cast<const char*>(ids), sizeof(ids)));
  EXPECT_EQ(ReadNodeList(path, 8).value(), (std::vector<NodeId>{7, 3}));
  EXPECT_NE(Refusal(path, 7).find("entry 0 is node 7"), std::string::npos);
}

TEST_F(Npy, SaysWhatIsWrongWithAList) {
  EXPECT_NE(Refusal(Write("no array at all")).find("not a .npy file"), std::string::npos);
  EXPECT_NE(Refusal(Array("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "abcd")).find("<f4"),
            std::string::npos);
  EXPECT_NE(Refusal(Array("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1), }\n", "abcd")).find("(1, 1)"),
            std::string::npos);
  EXPECT_NE(Refusal(Array("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", std::string(4, '\0')))
                .find("2 entries and has 1"),
            std::string::npos);
  EXPECT_EQ(ReadNodeList(scratch_ / "absent.npy", 1).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace hone::gnn
