// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test fixture for conversions: a folder to write a source into, and its conversion.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "gnn/graph/convert/convert.h"
#include "gnn/graph/convert/test_files.h"
#include "gnn/graph/feature_dtype.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

class ConvertTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = MakeTemporaryDirectory();
    ASSERT_TRUE(made.ok()) << made.status().message();
    directory_ = std::move(made).value();
    out_ = directory_ / "out/graph.hgraph";
    in_ = directory_ / "in";
    MakeOut();
  }
  void MakeOut() { std::filesystem::create_directories(directory_ / "out"); }
  // Writes in/NAME.
  void Put(const std::string& name, std::string_view bytes) { WriteTestFile(in_ + "/" + name, bytes); }
  std::shared_ptr<const Graph> Convert(const std::string& source, const ConvertOptions& options = {}) {
    MakeOut();
    Result<ConvertReport> report = ConvertGraph(source, out_, options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    if (!report.ok()) std::abort();
    report_ = *report;
    Result<std::shared_ptr<const Graph>> graph = OpenGraph(out_, {.load = OpenGraphOptions::Load::kCopy});
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.value();
  }
  // Returns the message of a conversion that must be refused as the user's error, leaving nothing behind.
  std::string Refused(const std::string& source, const ConvertOptions& options = {}) {
    MakeOut();
    const Status status = ConvertGraph(source, out_, options).status();
    EXPECT_TRUE(status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound)
        << StatusCodeName(status.code()) << ": " << status.message();
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out") && !std::filesystem::is_empty(directory_ / "out"));
    return status.message();
  }
  // Writes a folder of arrays into in/: the path 0 -> 1 -> 2 -> 3 with labels 0 1 0 1 and two features.
  void PutPath() {
    Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {0, 1, 1, 2, 2, 3}));
    Put("features.npy", NpyBytes<float>("<f4", "4, 2", {0, 10, 1, 11, 2, 12, 3, 13}));
    Put("labels.npy", NpyBytes<int64_t>("<i8", "4,", {0, 1, 0, 1}));
  }
  // Returns the names of the parts that the last conversion did not read.
  std::vector<std::string> UnreadNames() const {
    std::vector<std::string> names;
    for (const UnreadPart& part : report_.unread) names.push_back(part.name);
    return names;
  }
  static std::vector<NodeId> Row(const Graph& graph, NodeId v) {
    const auto row = graph.structure().Neighbors(v);
    return {row.begin(), row.end()};
  }
  static std::vector<float> Features(const Graph& graph, int64_t v) {
    const FeatureView x = graph.features();
    std::vector<float> row;
    for (int64_t f = 0; f < x.width; ++f) {
      const auto* bits = reinterpret_cast<const uint16_t*>(x.Row(v));
      row.push_back(x.dtype == FeatureDtype::kFloat32   ? reinterpret_cast<const float*>(x.Row(v))[f]
                    : x.dtype == FeatureDtype::kFloat16 ? FloatFromHalf(bits[f])
                                                        : FloatFromBFloat16(bits[f]));
    }
    return row;
  }

  TemporaryDirectory directory_;
  std::string in_, out_;
  ConvertReport report_;
};

}  // namespace hone::gnn
