// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a registered operation gets the features of the edges that a GPU drew: training, predictions and requests
// agree with the CPU's, for narrow and wide fanouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/files/file.h"
#include "gnn/cuda/emulated/op_plants_device.h"
#include "gnn/nn/op_plants_spec.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/device.h"

namespace hone::gnn {
namespace {

class EdgeFeaturesOnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto on_device = [](const OpPlace& place) { return MakePlantedSumOnDevice(place, Plant::kNone); };
    ASSERT_TRUE(RegisterOp(std::make_unique<PlantedKind>(Plant::kNone, on_device)).ok());
  }
  // Only the edges of this graph tell a node's class. Some nodes have more neighbors than kNarrowFanout.
  const std::shared_ptr<const Graph> graph_ =
      CommunityGraph({.nodes = 300, .classes = 4, .degree = 40, .inside = 0, .noise = 1, .edge_width = 5});
  const DeviceOptions device_{.fp32 = true};
};

TEST_F(EdgeFeaturesOnDevice, TrainsAsOnTheCpuAndGoesOnFromItsCheckpoint) {
  const TrainOptions options{.fanouts = {4, 3},
                             .eval_fanouts = {6, 6},
                             .batch = 32,
                             .shards = 2,
                             .epochs = 2,
                             .learning_rate = 0.01,
                             .seed = 11};
  std::vector<double> losses[2];
  const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
  for (const bool gpu : {false, true}) {
    const RunOptions run{.threads = 2, .checkpoint = gpu ? folder.path() : ""};
    auto trainer = gpu ? MakeDeviceTrainer(graph_, PlantedModel(3), options, run, device_)
                       : MakeTrainer(graph_, PlantedModel(3), options, run);
    ASSERT_TRUE(trainer.ok()) << trainer.status().message();
    TrainEvents events;
    events.epoch = [&](const EpochReport& epoch) { losses[gpu].push_back(epoch.loss); };
    const auto result = (*trainer)->Run(events);
    ASSERT_TRUE(result.ok()) << result.status().message();
  }
  ASSERT_EQ(losses[1].size(), 2u);
  for (size_t e = 0; e < 2; ++e) EXPECT_NEAR(losses[1][e], losses[0][e], 5e-3 * losses[0][e]) << e;
  auto resumed = ResumeDeviceTrainer(graph_, folder.path(), {.checkpoint = folder.path()}, device_, 3);
  ASSERT_TRUE(resumed.ok()) << resumed.status().message();
  EXPECT_TRUE((*resumed)->Run({}).ok());
  DeviceOptions from_host = device_;
  from_host.host_batches = true;
  EXPECT_THAT(MakeDeviceTrainer(graph_, PlantedModel(3), options, {}, from_host).status().message(),
              testing::HasSubstr("do not carry"));
}

TEST_F(EdgeFeaturesOnDevice, PredictsFromTheEdgesThatTheCpuDraws) {
  ModelOptions options = PlantedModel(4);
  options.in_width = graph_->features().width;
  options.num_classes = graph_->num_classes();
  options.edge_width = graph_->edge_features().width;
  const auto model = std::move(MakeModel(options)).value();
  std::vector<NodeId> nodes;
  for (NodeId v = 0; v < 300; v += 5) nodes.push_back(v);
  for (const std::vector<int32_t>& fanouts :
       {std::vector<int32_t>{5, 3}, {33, 2}, {2, kAllNeighbors}}) {  // up to and above 32, which a warp draws
    PredictOptions predict;
    predict.fanouts = fanouts;
    predict.seed = 7;
    predict.batch = 32;
    const auto cpu = Predict(graph_, *model, nodes, predict);
    const auto gpu = PredictOnDevice(*graph_, *model, nodes, predict, device_);
    ASSERT_TRUE(gpu.ok()) << gpu.status().message();
    EXPECT_EQ(*gpu, PredictedClasses(*cpu));
  }
  PredictOptions request;
  request.fanouts = {5, 3};
  request.seed = 7;
  const auto server = MakeDeviceServer(*graph_, *model, request, device_);
  ASSERT_TRUE(server.ok()) << server.status().message();
  nodes.resize(20);
  const auto answer = (*server)->Ask(nodes);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  const auto cpu = Predict(graph_, *model, nodes, request);
  ASSERT_EQ(answer->logits.size(), cpu->logits.size());
  for (size_t i = 0; i < cpu->logits.size(); ++i) {
    EXPECT_NEAR(answer->logits[i], cpu->logits[i], 1e-3f * (1 + std::abs(cpu->logits[i]))) << i;
  }
}

}  // namespace
}  // namespace hone::gnn
