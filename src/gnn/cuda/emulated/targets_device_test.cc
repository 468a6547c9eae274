// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests training on several labels or values a node on a device: losses, gradients, validations and requests agree with
// the CPU's, a run goes on from its checkpoint, and classes are not predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files/file.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/ops/buffer.h"
#include "gnn/ops/convert_rows.h"
#include "gnn/ops/target_loss.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/device.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {
namespace {

std::shared_ptr<const Graph> GraphWithTargets(TargetKind kind) {
  return CommunityGraph({.nodes = 300, .classes = 4, .degree = 8, .noise = 1, .targets = kind, .target_width = 35});
}

const ModelOptions kTargetModel{.hidden = 16, .layers = 2, .dropout = 0, .seed = 3};

TEST(TargetsOnDevice, GradientsOfEachLossAreTheCpus) {
  struct Case {
    TargetKind kind;
    Loss loss;
    std::vector<double> pos_weight = {};
  };
  std::vector<double> pos_weight(35, 1.0);
  pos_weight[1] = 3;
  pos_weight[34] = 0.25;
  for (const Case& c : {Case{TargetKind::kMultiLabel, Loss::kBinaryCrossEntropy},
                        {TargetKind::kMultiLabel, Loss::kBinaryCrossEntropy, pos_weight},
                        {TargetKind::kValues, Loss::kSquared},
                        {TargetKind::kValues, Loss::kAbsolute},
                        {TargetKind::kValues, Loss::kHuber}}) {
    SCOPED_TRACE(LossName(c.loss));
    const auto graph = GraphWithTargets(c.kind);
    ModelOptions options = kTargetModel;
    options.in_width = graph->features().width;
    options.num_classes = graph->num_classes();
    const auto on_gpu = std::move(MakeModel(options)).value(), on_cpu = std::move(MakeModel(options)).value();
    cuda::GpuEngineOptions engine_options;
    engine_options.fanouts = engine_options.eval_fanouts = {4, 3};
    engine_options.batch = 64;
    engine_options.fp32 = true;
    engine_options.seed = 11;
    engine_options.loss = c.loss;
    engine_options.pos_weight = c.pos_weight;
    auto engine = cuda::MakeGpuEngine(*graph, *on_gpu, engine_options);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    const auto train = graph->train_nodes();
    const auto count = static_cast<int64_t>(train.size());
    std::vector<NodeId> seeds;
    for (int64_t i = 64; i < 128; ++i) {
      seeds.push_back(train[static_cast<size_t>(PermutedIndex(engine_options.seed, 0, count, i))]);
    }
    NeighborSample sample;
    ASSERT_TRUE(MakeNeighborSampler(graph->structure(), {engine_options.fanouts, FrontierRule::kAllSoFar})
                    .value()
                    ->Sample(seeds, {engine_options.seed, 0, 1, 0}, sample)
                    .ok());
    const auto loss = (*engine)->GradientsOfStep(0, 1, *on_gpu);
    ASSERT_TRUE(loss.ok()) << loss.status().message();

    Buffer<float> inputs, outputs;
    const Matrix<float> x = inputs.Resize(sample.num_nodes(), options.in_width);
    for (int64_t i = 0; i < x.rows; ++i) {
      const auto* row = reinterpret_cast<const float*>(graph->features().Row(sample.nodes[static_cast<size_t>(i)]));
      std::copy_n(row, x.cols, x.Row(i));
    }
    const Matrix<float> out = outputs.Resize(sample.num_seeds(), options.num_classes);
    const auto state = on_cpu->MakeState();
    const LayerContext context{.training = true, .nodes = sample.nodes, .threads = 1};
    for (Parameter<float>* parameter : on_cpu->parameters()) {
      std::fill(parameter->gradient.begin(), parameter->gradient.end(), 0.0f);
    }
    on_cpu->Forward(sample, x, out, *state, context);
    const LossSums sums =
        TargetLoss<float>(out, graph->targets(), std::span(sample.nodes).first(static_cast<size_t>(out.rows)), c.loss,
                          c.pos_weight, 0, out, 1);
    on_cpu->Backward(sample, x, out, *state, context);
    EXPECT_NEAR(*loss, sums.loss / sums.weight, 1e-5 * sums.loss / sums.weight);
    const auto cpu_parameters = on_cpu->parameters(), gpu_parameters = on_gpu->parameters();
    for (size_t p = 0; p < cpu_parameters.size(); ++p) {
      double largest_magnitude = 0;
      for (const float g : cpu_parameters[p]->gradient)
        largest_magnitude = std::max(largest_magnitude, std::fabs(static_cast<double>(g)));
      for (size_t i = 0; i < cpu_parameters[p]->gradient.size(); ++i) {
        ASSERT_NEAR(gpu_parameters[p]->gradient[i], cpu_parameters[p]->gradient[i], 1e-4 * largest_magnitude + 1e-7)
            << cpu_parameters[p]->name << " " << i;
      }
    }
  }
}

TEST(TargetsOnDevice, TrainsAndValidatesAsOnTheCpuAndGoesOn) {
  for (const TargetKind kind : {TargetKind::kMultiLabel, TargetKind::kValues}) {
    SCOPED_TRACE(TargetKindName(kind));
    const auto graph = GraphWithTargets(kind);
    const TrainOptions options{.fanouts = {4, 3},
                               .eval_fanouts = {6, 6},
                               .batch = 32,
                               .shards = 2,
                               .epochs = 2,
                               .learning_rate = 0.01,
                               .standardize = kind == TargetKind::kValues,
                               .metric = kind == TargetKind::kMultiLabel ? Metric::kRocAuc : Metric::kMae,
                               .seed = 11};
    const DeviceOptions device{.fp32 = true};
    const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
    std::vector<EpochReport> epochs[2];
    for (const bool gpu : {false, true}) {
      const RunOptions run{.threads = 2, .checkpoint = gpu ? folder.path() : ""};
      auto trainer = gpu ? MakeDeviceTrainer(graph, kTargetModel, options, run, device)
                         : MakeTrainer(graph, kTargetModel, options, run);
      ASSERT_TRUE(trainer.ok()) << trainer.status().message();
      TrainEvents events;
      events.epoch = [&](const EpochReport& epoch) { epochs[gpu].push_back(epoch); };
      const auto result = (*trainer)->Run(events);
      ASSERT_TRUE(result.ok()) << result.status().message();
    }
    for (size_t e = 0; e < 2; ++e) {
      const EpochReport &cpu = epochs[0][e], &gpu = epochs[1][e];
      EXPECT_NEAR(gpu.loss, cpu.loss, 2e-3 * cpu.loss) << e;
      if (kind == TargetKind::kMultiLabel) {
        EXPECT_NEAR(gpu.valid_auc, cpu.valid_auc, 0.01);
        EXPECT_NEAR(gpu.valid_average_precision, cpu.valid_average_precision, 0.01);
        EXPECT_NEAR(gpu.valid_micro_f1, cpu.valid_micro_f1, 0.02);
      } else {
        EXPECT_NEAR(gpu.valid_rmse, cpu.valid_rmse, 5e-3 * cpu.valid_rmse);
        EXPECT_NEAR(gpu.valid_mae, cpu.valid_mae, 5e-3 * cpu.valid_mae);
        EXPECT_TRUE(std::isnan(gpu.train_accuracy));
      }
    }
    auto resumed = ResumeDeviceTrainer(graph, folder.path(), {.checkpoint = folder.path()}, device, 3);
    ASSERT_TRUE(resumed.ok()) << resumed.status().message();
    EXPECT_TRUE((*resumed)->Run({}).ok());

    const Result<LoadedModel> loaded = LoadModel(folder.path(), {});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    const std::vector<NodeId> nodes = {3, 140, 7, 299};
    PredictOptions request;
    request.fanouts = {5, 3};
    request.seed = 7;
    const auto server = MakeDeviceServer(*graph, *loaded->model, request, device);
    ASSERT_TRUE(server.ok()) << server.status().message();
    const auto answer = (*server)->Ask(nodes);
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    const auto cpu = Predict(graph, *loaded->model, nodes, request);
    ASSERT_TRUE(cpu.ok()) << cpu.status().message();
    ASSERT_EQ(answer->logits.size(), cpu->logits.size());
    for (size_t i = 0; i < cpu->logits.size(); ++i) {
      EXPECT_NEAR(answer->logits[i], cpu->logits[i], 1e-3f * (1 + std::abs(cpu->logits[i]))) << i;
    }
    EXPECT_THAT(PredictOnDevice(*graph, *loaded->model, nodes, request, device).status().message(),
                testing::HasSubstr("no classes"));
  }
}

}  // namespace
}  // namespace hone::gnn
