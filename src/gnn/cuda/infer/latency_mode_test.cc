// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares latency mode with the CPU path, with the same draws, for every model and every request size. Tests that
// results do not change where buffers are too small, and that several threads may call at once.
#include "gnn/cuda/infer/latency_mode.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <thread>

#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/base/test_specs.h"
#include "gnn/ops/convert_rows.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {
namespace {

struct Case {
  std::string name;
  ModelOptions model;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

ModelOptions ModelOfShape(const std::string& kind, int layers, int64_t hidden, int heads = 1) {
  ModelOptions shape;
  shape.kind = kind;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.seed = 5;
  return shape;
}

ModelOptions WithBiases(ModelOptions shape) {
  shape.bias = true;
  return shape;
}

class LatencyMode : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    // Node 0 has no neighbors, node 1 a self-loop and a parallel edge.
    graph_ = CommunityGraph({.nodes = 180, .classes = 5, .degree = 8, .width = 12, .seed = 2});
    ModelOptions shape = GetParam().model;
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    model_ = MakeModel(shape).value();
    constexpr int32_t kFanouts[] = {4, 3, 5};
    options_.fanouts.assign(kFanouts, kFanouts + shape.layers);
    options_.fp32 = true;
    options_.seed = 17;
  }
  std::unique_ptr<LatencyPredictor> NewPredictor() {
    auto predictor = LatencyPredictor::Make(*graph_, *model_, options_);
    EXPECT_TRUE(predictor.ok()) << predictor.status().message();
    return predictor.ok() ? std::move(predictor).value() : nullptr;
  }
  // Returns the CPU's logits of `nodes`, which must be distinct.
  std::vector<float> OnCpu(std::span<const NodeId> nodes) {
    auto sampler = MakeNeighborSampler(graph_->structure(), {options_.fanouts, FrontierRule::kAllSoFar}).value();
    NeighborSample sample;
    EXPECT_TRUE(sampler->Sample(nodes, {options_.seed, 0, 0, 0}, sample).ok());
    const int64_t width = graph_->features().width, classes = graph_->num_classes();
    std::vector<float> x(static_cast<size_t>(sample.num_nodes() * width));
    GatherRows(graph_->features(), sample.nodes, {x.data(), sample.num_nodes(), width, width}, 1);
    std::vector<float> logits(static_cast<size_t>(sample.num_seeds() * classes));
    const auto state = model_->MakeState();
    const CsrView csr = graph_->structure();
    model_->Forward(sample, {x.data(), sample.num_nodes(), width, width},
                    {logits.data(), sample.num_seeds(), classes, classes}, *state,
                    {.nodes = sample.nodes, .graph = &csr});
    return logits;
  }
  // Returns `count` distinct nodes, spread over the graph.
  static std::vector<NodeId> Nodes(int count, int from = 0) {
    std::vector<NodeId> nodes;
    for (int i = 0; i < count; ++i) nodes.push_back((from + 7 * i) % 180);
    return nodes;
  }

  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Model<float>> model_;
  LatencyOptions options_;
};

// Allows for sums of a few dozen floats in another order, in three layers, as engine_models_test.cc does.
void ExpectNear(const std::vector<float>& found, const std::vector<float>& expected) {
  float largest_magnitude = 0;
  for (const float value : expected) largest_magnitude = std::max(largest_magnitude, std::abs(value));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5f * largest_magnitude) << i;
}

TEST_P(LatencyMode, EveryRequestIsTheCpusWithTheSameDraws) {
  const auto predictor = NewPredictor();
  ASSERT_NE(predictor, nullptr);
  const auto classes = static_cast<size_t>(predictor->num_classes());
  for (const int count : {1, 2, 3, 8, 17, 64}) {
    const std::vector<NodeId> nodes = Nodes(count);  // includes node 0
    const Result<LatencyAnswer> answer = predictor->Predict(nodes);
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    ExpectNear(answer->logits, OnCpu(nodes));
    ASSERT_EQ(answer->classes.size(), nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const auto row = answer->logits.begin() + static_cast<int64_t>(i * classes);
      EXPECT_EQ(answer->classes[i], std::max_element(row, row + static_cast<int64_t>(classes)) - row);
    }
    const Result<LatencyAnswer> again = predictor->Predict(nodes);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->logits, answer->logits);
  }
  const std::vector<NodeId> repeats = {9, 4, 9};
  const Result<LatencyAnswer> answer = predictor->Predict(repeats);
  ASSERT_TRUE(answer.ok());
  for (size_t c = 0; c < classes; ++c) EXPECT_EQ(answer->logits[c], answer->logits[2 * classes + c]);
  const Result<LatencyAnswer> without = predictor->Predict(repeats, /*logits=*/false);
  ASSERT_TRUE(without.ok());
  EXPECT_TRUE(without->logits.empty());
  EXPECT_EQ(without->classes, answer->classes);
}

INSTANTIATE_TEST_SUITE_P(
    Models, LatencyMode,
    testing::Values(Case{"Sage", ModelOfShape("sage", 3, 16)}, Case{"SageOneLayer", ModelOfShape("sage", 1, 16)},
                    Case{"Gat", ModelOfShape("gat", 3, 16)}, Case{"GatTwoHeads", ModelOfShape("gat", 2, 14, 2)},
                    Case{"Gin", ModelOfShape("gin", 3, 13)}, Case{"SageRi", ModelOfShape("sage-ri", 3, 16)},
                    Case{"SageBiased", WithBiases(ModelOfShape("sage", 2, 16))}, Case{"SpecGcn", Spec(kGcn)},
                    Case{"SpecResidualGat", Spec(kResidualGat)}, Case{"SpecMixed", Spec(kMixed)}),
    [](const testing::TestParamInfo<Case>& given) { return given.param.name; });

// Uses fanouts above a warp's lanes, on a graph that has nodes with more neighbors and nodes with fewer.
class LatencyModeOfMany : public LatencyMode {
 protected:
  void SetUp() override {
    LatencyMode::SetUp();
    if (IsSkipped()) return;
    graph_ = CommunityGraph({.nodes = 180, .classes = 5, .degree = 48, .width = 12, .seed = 2});
  }
};

TEST_P(LatencyModeOfMany, EveryRequestIsTheCpusWithTheSameDraws) {
  std::vector<std::vector<int32_t>> fanout_choices = {{40, 33}, {3, kAllNeighbors}, {kAllNeighbors, 2}};
  if (model_->options().layers == 3) fanout_choices = {{1, 33, 2}};
  for (const std::vector<int32_t>& fanouts : fanout_choices) {
    SCOPED_TRACE(testing::PrintToString(fanouts));
    options_.fanouts = fanouts;
    // In the second round larger requests have no worst-case buffers, and some must be answered in halves.
    for (const int64_t most_slots : {options_.most_slots, int64_t{1}}) {
      options_.most_slots = most_slots;
      options_.envelope = most_slots == 1 ? 0.7 : 1;
      const auto predictor = NewPredictor();
      ASSERT_NE(predictor, nullptr);
      for (const int count : {1, 3}) {
        const std::vector<NodeId> nodes = Nodes(count);
        const Result<LatencyAnswer> answer = predictor->Predict(nodes);
        ASSERT_TRUE(answer.ok()) << answer.status().message();
        ExpectNear(answer->logits, OnCpu(nodes));
        EXPECT_EQ(answer->classes.size(), nodes.size());
      }
    }
    options_.most_slots = LatencyOptions().most_slots;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LatencyModeOfMany,
                         testing::Values(Case{"Sage", ModelOfShape("sage", 2, 16)},
                                         Case{"SageThree", ModelOfShape("sage", 3, 16)},
                                         Case{"Gat", ModelOfShape("gat", 2, 16)},
                                         Case{"Gin", ModelOfShape("gin", 2, 13)},
                                         Case{"SageRi", ModelOfShape("sage-ri", 2, 16)}),
                         [](const testing::TestParamInfo<Case>& given) { return given.param.name; });

class LatencyModeOfSage : public LatencyMode {};

TEST_P(LatencyModeOfSage, RequestsThatDoNotFitAreDoneAgainAndLoseNothing) {
  options_.envelope = 0.3;
  const auto tight = NewPredictor();
  ASSERT_NE(tight, nullptr);
  for (const bool spin : {true, false}) {
    options_.spin = spin;
    options_.envelope = 1;
    const auto roomy = NewPredictor();
    ASSERT_NE(roomy, nullptr);
    for (const int count : {1, 40, 64}) {
      const std::vector<NodeId> nodes = Nodes(count, 3);
      const Result<LatencyAnswer> one = tight->Predict(nodes), other = roomy->Predict(nodes);
      ASSERT_TRUE(one.ok()) << one.status().message();
      ASSERT_TRUE(other.ok()) << other.status().message();
      ExpectNear(one->logits, other->logits);  // products of another shape may round differently
    }
    EXPECT_EQ(roomy->repeated(), 0);
  }
  EXPECT_GT(tight->repeated(), 0);
}

TEST_P(LatencyModeOfSage, WhatHasNoRoomForItsWorstCaseIsAnsweredInHalves) {
  options_.fanouts.assign(static_cast<size_t>(model_->options().layers), 6);
  options_.envelope = 0.5;
  options_.most_slots = 6 * 7 * 5;  // no room for 4 nodes
  const auto predictor = NewPredictor();
  ASSERT_NE(predictor, nullptr);
  const std::vector<NodeId> nodes = Nodes(64, 1);
  const Result<LatencyAnswer> answer = predictor->Predict(nodes);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_GT(predictor->repeated(), 0);
  EXPECT_EQ(answer->classes.size(), nodes.size());
  ExpectNear(answer->logits, OnCpu(nodes));
}

TEST_P(LatencyModeOfSage, ThreadsMayAskAtOnce) {
  const auto predictor = NewPredictor();
  ASSERT_NE(predictor, nullptr);
  std::vector<std::vector<float>> expected, found(4);
  for (int t = 0; t < 4; ++t) expected.push_back(predictor->Predict(Nodes(3 + t, t))->logits);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const Result<LatencyAnswer> answer = predictor->Predict(Nodes(3 + t, t));
        if (answer.ok() && (i == 0 || answer->logits == found[static_cast<size_t>(t)])) {
          found[static_cast<size_t>(t)] = answer->logits;
        } else {
          found[static_cast<size_t>(t)].clear();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, expected);
}

TEST_P(LatencyModeOfSage, RefusesWhatItCannotAnswer) {
  const auto refusal = [](const auto& result) { return result.ok() ? std::string() : result.status().message(); };
  {
    const auto predictor = NewPredictor();
    ASSERT_NE(predictor, nullptr);
    EXPECT_NE(refusal(predictor->Predict({})).find("0 nodes"), std::string::npos);
    EXPECT_NE(refusal(predictor->Predict(Nodes(65))).find("65 nodes"), std::string::npos);
    const std::vector<NodeId> outside = {3, 180};
    EXPECT_NE(refusal(predictor->Predict(outside)).find("node 180"), std::string::npos);
    EXPECT_TRUE(predictor->Predict(Nodes(1)).ok());
  }
  options_.fanouts = {4, 1025};
  EXPECT_NE(refusal(LatencyPredictor::Make(*graph_, *model_, options_)).find("fanout 1025"), std::string::npos);
  options_.fanouts = {1024, 2};
  EXPECT_TRUE(LatencyPredictor::Make(*graph_, *model_, options_).ok());
  options_.fanouts = {4};
  EXPECT_NE(refusal(LatencyPredictor::Make(*graph_, *model_, options_)).find("2 layers"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Models, LatencyModeOfSage, testing::Values(Case{"Sage", ModelOfShape("sage", 2, 16)}),
                         [](const testing::TestParamInfo<Case>& given) { return given.param.name; });

}  // namespace
}  // namespace hone::gnn::cuda
