// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// tasks/sample_mean requires the draws of the graph engine. This test computes the task's hand-worked cases, which its
// oracle must reproduce, with gnn/sample/draw.h. So a kernel that wins the task can be used in the engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gnn/sample/draw.h"
#include "hone/tuner/task.h"

namespace hone {
namespace {

constexpr uint32_t kHop = 2;  // the hop that the task draws for

std::vector<int64_t> Integers(const std::vector<double>& values) { return {values.begin(), values.end()}; }

TEST(SampleMeanTask, ItsHandCasesAreWhatTheEngineDraws) {
  const Result<Task> task = LoadTask(HONE_SOURCE_DIR "/tasks/sample_mean");
  ASSERT_TRUE(task.ok()) << task.status().message();
  int replaced = 0, drawn = 0;
  for (const HandWorkedCase& hand : task->hand_worked_cases) {
    const int64_t dim = hand.dims.at("dim"), fanout = hand.dims.at("fanout");
    const std::vector<double>& x = hand.inputs.at("x");
    const std::vector<int64_t> offsets = Integers(hand.inputs.at("row_offsets")), columns = Integers(hand.inputs.at("columns"));
    const std::vector<int64_t> key = Integers(hand.inputs.at("key")), nodes = Integers(hand.inputs.at("node"));
    const gnn::DrawKey draw{static_cast<uint64_t>(key[1]) << 32 | static_cast<uint64_t>(key[0]),
                            static_cast<uint32_t>(key[2]), static_cast<uint32_t>(key[3]), kHop};
    std::vector<double> expected;
    for (const int64_t node : nodes) {
      const int64_t begin = offsets[static_cast<size_t>(node)], degree = offsets[static_cast<size_t>(node) + 1] - begin;
      const auto u = static_cast<uint32_t>(node);
      std::vector<int64_t> slots;
      for (int64_t j = 0; j < std::min(degree, fanout); ++j) {
        int64_t slot = j;
        if (degree > fanout) {
          const auto s = static_cast<uint32_t>(j);
          slot = gnn::BoundedDraw(draw, u, s, gnn::DrawWord(draw, u, s, 0), static_cast<uint32_t>(degree - fanout + j + 1));
          ++drawn;
          if (std::find(slots.begin(), slots.end(), slot) != slots.end()) {
            slot = degree - fanout + j;
            ++replaced;
          }
        }
        slots.push_back(slot);
      }
      for (int64_t c = 0; c < dim; ++c) {
        double sum = 0;
        for (const int64_t slot : slots) {
          sum += x[static_cast<size_t>(columns[static_cast<size_t>(begin + slot)] * dim + c)];
        }
        expected.push_back(slots.empty() ? 0 : sum / static_cast<double>(slots.size()));
      }
      for (int64_t c = 0; c < dim; ++c) expected.push_back(x[static_cast<size_t>(node * dim + c)]);
    }
    const std::vector<double>& written = hand.outputs.at("out");
    ASSERT_EQ(written.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(written[i], expected[i], 1e-9) << i;
  }
  EXPECT_GE(drawn, 6);     // some rows have more neighbors than are drawn
  EXPECT_GE(replaced, 1);  // some draws are replaced by Floyd's rule
}

}  // namespace
}  // namespace hone
