// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares every model on the GPU engine with its CPU version, in fp32: gradients and running statistics of a step,
// losses of several steps, predictions without dropout, the same bits from run to run, and steps repeated in a larger
// envelope. The graph is small enough for the emulated runtime and has a node without neighbors, a self-loop and
// parallel edges.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/base/test_specs.h"
#include "gnn/cuda/engine/gpu_engine.h"
#include "gnn/ops/convert_rows.h"
#include "gnn/ops/softmax_loss.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/neighbor_sampler.h"
#include "hone/gnn/optimizer.h"

namespace hone::gnn::cuda {
namespace {

struct Case {
  std::string name;
  ModelOptions model;
  bool wide = false;  // whether fanouts exceed a warp's lanes or take all neighbors
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

ModelOptions ModelOfShape(const std::string& kind, int layers, int64_t hidden) {
  ModelOptions shape;
  shape.kind = kind;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.seed = 5;
  return shape;
}
ModelOptions WithSettings(ModelOptions shape, double dropout, const std::string& activation, const std::string& norm) {
  shape.dropout = dropout;
  shape.activation = activation;
  shape.norm = norm;
  return shape;
}
ModelOptions Sum(ModelOptions shape) {
  shape.aggregation = "sum";
  return shape;
}
ModelOptions Max(ModelOptions shape) {
  shape.aggregation = "max";
  return shape;
}
ModelOptions WithBiases(ModelOptions shape) {
  shape.bias = true;
  return shape;
}
ModelOptions WithHeads(ModelOptions shape, int heads) {
  shape.heads = heads;
  return shape;
}

class EngineModels : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = CommunityGraph({.nodes = 180, .classes = 5, .degree = 8, .width = 12, .seed = 2});
    constexpr int32_t kFanouts[] = {3, 9, 4}, kWideFanouts[] = {35, kAllNeighbors, 40};
    if (GetParam().wide) graph_ = CommunityGraph({.nodes = 150, .classes = 5, .degree = 44, .width = 12, .seed = 2});
    options_.fanouts.assign(GetParam().wide ? kWideFanouts : kFanouts,
                            (GetParam().wide ? kWideFanouts : kFanouts) + GetParam().model.layers);
    options_.eval_fanouts.assign(static_cast<size_t>(GetParam().model.layers), GetParam().wide ? kAllNeighbors : 17);
    options_.batch = 32;
    options_.eval_batch = 32;
    options_.fp32 = true;
    options_.seed = 17;
    options_.learning_rate = 0.01;
  }
  std::unique_ptr<Model<float>> NewModel() const {
    ModelOptions shape = GetParam().model;
    shape.in_width = graph_->features().width;
    shape.num_classes = graph_->num_classes();
    return MakeModel(shape).value();
  }
  std::unique_ptr<GpuEngine> NewEngine(Model<float>& model) const {
    auto engine = MakeGpuEngine(*graph_, model, options_);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? std::move(engine).value() : nullptr;
  }

  // Runs a batch on the CPU: forward, loss and, in training, backward into the model's gradients.
  struct CpuBatch {
    LossSums loss;
    std::vector<int32_t> predictions;
  };
  CpuBatch RunOnCpu(Model<float>& model, std::span<const NodeId> seeds, const std::vector<int32_t>& fanouts,
                    uint32_t epoch, uint32_t step, bool training) const {
    auto sampler = MakeNeighborSampler(graph_->structure(), {fanouts, FrontierRule::kAllSoFar}).value();
    NeighborSample sample;
    EXPECT_TRUE(sampler->Sample(seeds, {options_.seed, epoch, step, 0}, sample).ok());
    const FeatureView features = graph_->features();
    const int64_t classes = graph_->num_classes();
    std::vector<float> x(static_cast<size_t>(sample.num_nodes() * features.width));
    GatherRows(features, sample.nodes, {x.data(), sample.num_nodes(), features.width, features.width}, 1);
    std::vector<float> logits(static_cast<size_t>(sample.num_seeds() * classes)), grad(logits.size());
    std::vector<int32_t> labels;
    for (const NodeId node : seeds) labels.push_back(graph_->labels()[static_cast<size_t>(node)]);
    LayerContext context;
    context.key = {options_.seed, epoch, step, 0};
    context.training = training;
    context.nodes = sample.nodes;
    const CsrView structure = graph_->structure();
    context.graph = &structure;
    const auto state = model.MakeState();
    const Matrix<const float> in{x.data(), sample.num_nodes(), features.width, features.width};
    const Matrix<float> out{logits.data(), sample.num_seeds(), classes, classes};
    model.Forward(sample, in, out, *state, context);
    CpuBatch result;
    const Matrix<float> gradient{grad.data(), sample.num_seeds(), classes, classes};
    result.loss = SoftmaxCrossEntropy<float>(out, labels, {}, 0, gradient, 1);
    for (int64_t i = 0; i < out.rows; ++i) {
      result.predictions.push_back(
          static_cast<int32_t>(std::max_element(out.Row(i), out.Row(i) + classes) - out.Row(i)));
    }
    if (training) model.Backward(sample, in, gradient, *state, context);
    return result;
  }
  // Computes a training step's gradients; returns the mean loss.
  double GradientsOnCpu(Model<float>& model, uint32_t epoch, uint32_t step) const {
    const auto train = graph_->train_nodes();
    const auto count = static_cast<int64_t>(train.size());
    std::vector<NodeId> seeds;
    for (int64_t i = int64_t{step} * options_.batch; i < std::min<int64_t>(count, (int64_t{step} + 1) * options_.batch);
         ++i) {
      seeds.push_back(train[static_cast<size_t>(PermutedIndex(options_.seed, epoch, count, i))]);
    }
    for (Parameter<float>* p : model.parameters()) std::fill(p->gradient.begin(), p->gradient.end(), 0.0f);
    const LossSums loss = RunOnCpu(model, seeds, options_.fanouts, epoch, step, /*training=*/true).loss;
    return loss.loss / loss.weight;
  }
  static double Largest(const std::vector<float>& values) {
    double largest_magnitude = 0;
    for (const float value : values)
      largest_magnitude = std::max(largest_magnitude, std::abs(static_cast<double>(value)));
    return largest_magnitude;
  }
  // Returns whether the parameter belongs to a Linear before a batch normalisation. The normalisation cancels such a
  // bias: its gradient is zero, and what rounding leaves of it is noise.
  static bool IsCancelled(const std::string& name) {
    return GetParam().model.kind == "gin" && GetParam().model.norm != "none" && name.ends_with(".nn.0.bias");
  }
  static void ExpectNear(const std::vector<float>& computed, const std::vector<float>& expected, double tolerance,
                         const std::string& name) {
    ASSERT_EQ(computed.size(), expected.size()) << name;
    double worst = 0;
    for (size_t i = 0; i < computed.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(computed[i]) - expected[i]));
    EXPECT_LE(worst, tolerance) << name << ", of values up to " << Largest(expected);
  }

  std::shared_ptr<const Graph> graph_;
  GpuEngineOptions options_;
};

TEST_P(EngineModels, GradientsAndStatisticsOfAStepAreTheCpus) {
  auto cpu = NewModel();
  auto gpu = NewModel();
  auto engine = NewEngine(*cpu);
  ASSERT_NE(engine, nullptr);
  const uint32_t last = static_cast<uint32_t>((graph_->train_nodes().size() - 1) / static_cast<size_t>(options_.batch));
  for (const uint32_t step : {1u, last}) {
    const double loss = GradientsOnCpu(*cpu, 2, step);
    const Result<double> on_gpu = engine->GradientsOfStep(2, step, *gpu);
    ASSERT_TRUE(on_gpu.ok()) << on_gpu.status().message();
    ASSERT_TRUE(engine->ExportTo(*gpu).ok());
    EXPECT_NEAR(*on_gpu, loss, 1e-5 * loss);
    const auto cpu_parameters = cpu->parameters(), gpu_parameters = gpu->parameters();
    double largest_magnitude = 0;
    for (const Parameter<float>* p : cpu_parameters)
      largest_magnitude = std::max(largest_magnitude, Largest(p->gradient));
    for (size_t p = 0; p < cpu_parameters.size(); ++p) {
      const std::string& name = cpu_parameters[p]->name;
      if (!cpu_parameters[p]->trainable()) {
        ExpectNear(gpu_parameters[p]->value, cpu_parameters[p]->value,
                   1e-5 * std::max(1.0, Largest(cpu_parameters[p]->value)), name);
      } else if (IsCancelled(name)) {
        EXPECT_EQ(Largest(gpu_parameters[p]->gradient), 0) << name;
        EXPECT_LE(Largest(cpu_parameters[p]->gradient), 1e-5 * largest_magnitude) << name;
      } else {
        EXPECT_GT(Largest(cpu_parameters[p]->gradient), 0) << name;
        ExpectNear(gpu_parameters[p]->gradient, cpu_parameters[p]->gradient,
                   1e-4 * Largest(cpu_parameters[p]->gradient), name);
      }
    }
  }
}

TEST_P(EngineModels, LossesOfFiveStepsFollowTheCpus) {
  auto cpu = NewModel();
  auto engine = NewEngine(*cpu);
  ASSERT_NE(engine, nullptr);
  Adam<float> adam(cpu->parameters(), {.learning_rate = 0.01});
  const auto steps = static_cast<uint32_t>((graph_->train_nodes().size() + 31) / 32);
  for (uint32_t i = 0; i < 5; ++i) {
    const double loss = GradientsOnCpu(*cpu, i / steps, i % steps);
    adam.Step(1);
    const Result<double> on_gpu = engine->TrainStep(i / steps, i % steps);
    ASSERT_TRUE(on_gpu.ok()) << on_gpu.status().message();
    // Adam divides by the gradient's own magnitude, so a gradient that is only rounding makes a full step.
    EXPECT_NEAR(*on_gpu, loss, (i < 3 ? 1e-4 : 1e-3) * loss) << i;
  }
}

TEST_P(EngineModels, PredictsWhatTheCpuPredicts) {
  auto cpu = NewModel();
  auto engine = NewEngine(*cpu);
  ASSERT_NE(engine, nullptr);
  // Two steps move the running statistics away from their initial values.
  for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(engine->TrainStep(0, i).ok());
  ASSERT_TRUE(engine->ExportTo(*cpu).ok());
  const auto nodes = graph_->valid_nodes();
  std::vector<int32_t> gpu_predictions;
  const Result<EpochOnDevice> evaluated = engine->Evaluate(nodes, &gpu_predictions);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status().message();
  std::vector<int32_t> cpu_predictions;
  LossSums sums;
  for (size_t first = 0, step = 0; first < nodes.size(); first += 32, ++step) {
    const auto seeds = nodes.subspan(first, std::min<size_t>(32, nodes.size() - first));
    const CpuBatch batch =
        RunOnCpu(*cpu, seeds, options_.eval_fanouts, 0, static_cast<uint32_t>(step), /*training=*/false);
    cpu_predictions.insert(cpu_predictions.end(), batch.predictions.begin(), batch.predictions.end());
    sums.loss += batch.loss.loss;
    sums.correct += batch.loss.correct;
  }
  EXPECT_EQ(gpu_predictions, cpu_predictions);
  EXPECT_NEAR(evaluated->mean_loss, sums.loss / static_cast<double>(nodes.size()), 1e-5 * evaluated->mean_loss);
  EXPECT_NEAR(evaluated->accuracy, static_cast<double>(sums.correct) / static_cast<double>(nodes.size()), 1e-12);
}

TEST_P(EngineModels, ASecondRunGivesTheSameBitsAndAnEnvelopeTooSmallLosesNothing) {
  std::vector<std::map<std::string, std::vector<float>>> ends;
  std::vector<double> losses;
  for (const double envelope : {1.1, 1.1, 0.4}) {
    options_.envelope = envelope;
    auto model = NewModel();
    auto engine = NewEngine(*model);
    ASSERT_NE(engine, nullptr);
    const Result<EpochOnDevice> epoch = engine->TrainEpoch(1);
    ASSERT_TRUE(epoch.ok()) << epoch.status().message();
    losses.push_back(epoch->mean_loss);
    if (GetParam().model.layers > 2 && !GetParam().wide) {  // envelopes round up to 128 rows
      EXPECT_EQ(epoch->larger > 0, envelope < 1);
    }
    ASSERT_TRUE(engine->ExportTo(*model).ok());
    ends.emplace_back();
    for (const Parameter<float>* p : model->parameters()) ends.back()[p->name] = p->value;
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_NEAR(losses[2], losses[0], 1e-3 * losses[0]);  // products of another shape may round differently
  for (const auto& [name, values] : ends[2]) {
    if (name.ends_with("num_batches_tracked")) {  // no step is counted twice
      EXPECT_EQ(values, ends[0][name]) << name;
    }
  }
}

class EngineModelsInBf16 : public EngineModels {};

// bf16 keeps 8 bits of mantissa in every activation and in what a product reads. The activation is ELU, because
// rounding moves no value across a bend in it. With ReLU, as much as a fifth of a gradient of so few rows depends on
// which values are just above zero. The chosen step has no GAT logit that rounding moves across the bend of LeakyReLU.
TEST_P(EngineModelsInBf16, GradientsAreNearTheCpus) {
  options_.fp32 = false;
  auto cpu = NewModel();
  auto gpu = NewModel();
  auto engine = NewEngine(*cpu);
  ASSERT_NE(engine, nullptr);
  const double loss = GradientsOnCpu(*cpu, 2, 2);
  const Result<double> on_gpu = engine->GradientsOfStep(2, 2, *gpu);
  ASSERT_TRUE(on_gpu.ok()) << on_gpu.status().message();
  EXPECT_NEAR(*on_gpu, loss, 2e-2 * loss);
  const auto cpu_parameters = cpu->parameters(), gpu_parameters = gpu->parameters();
  for (size_t p = 0; p < cpu_parameters.size(); ++p) {
    if (!cpu_parameters[p]->trainable() || IsCancelled(cpu_parameters[p]->name)) continue;
    double difference = 0, norm = 0;
    for (size_t i = 0; i < cpu_parameters[p]->gradient.size(); ++i) {
      difference += std::pow(gpu_parameters[p]->gradient[i] - cpu_parameters[p]->gradient[i], 2);
      norm += std::pow(cpu_parameters[p]->gradient[i], 2);
    }
    EXPECT_LE(std::sqrt(difference / norm), 0.1) << cpu_parameters[p]->name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, EngineModelsInBf16,
    testing::Values(Case{"Sage", WithSettings(ModelOfShape("sage", 3, 16), 0.3, "elu", "")},
                    Case{"SageMax", Max(WithSettings(ModelOfShape("sage", 3, 16), 0.3, "elu", ""))},
                    Case{"SageWide", WithSettings(ModelOfShape("sage", 3, 16), 0.3, "elu", ""), true},
                    Case{"Gat", WithHeads(WithSettings(ModelOfShape("gat", 3, 16), 0.3, "elu", ""), 2)},
                    Case{"Gin", WithSettings(ModelOfShape("gin", 3, 16), 0.3, "elu", "")},
                    Case{"SageRi", WithSettings(ModelOfShape("sage-ri", 3, 16), 0.1, "elu", "")},
                    Case{"SpecGcn", Spec(kGcn)}, Case{"SpecResidualGat", Spec(kResidualGat)},
                    Case{"SpecHeads", Spec(kHeads)}),
    [](const testing::TestParamInfo<Case>& given) { return given.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Models, EngineModels,
    testing::Values(
        Case{"Sage", ModelOfShape("sage", 3, 16)}, Case{"SageOneLayer", ModelOfShape("sage", 1, 16)},
        Case{"SageSumOddHidden", Sum(WithSettings(ModelOfShape("sage", 2, 13), 0.5, "leaky_relu", "none"))},
        Case{"SageNormalised", WithSettings(ModelOfShape("sage", 3, 13), 0.3, "elu", "batch")},
        Case{"SageMax", Max(WithSettings(ModelOfShape("sage", 3, 13), 0.3, "elu", "none"))},
        Case{"SageMaxNormalised", Max(WithSettings(ModelOfShape("sage", 2, 16), 0.5, "relu", "batch"))},
        Case{"SageWide", ModelOfShape("sage", 3, 16), true},
        Case{"SageMaxWide", Max(ModelOfShape("sage", 2, 16)), true},
        Case{"SageSumWide", Sum(WithSettings(ModelOfShape("sage", 2, 13), 0.5, "leaky_relu", "none")), true},
        Case{"GatWide", WithHeads(WithSettings(ModelOfShape("gat", 3, 16), 0.3, "elu", "none"), 2), true},
        Case{"GinWide", ModelOfShape("gin", 2, 16), true},
        Case{"SageRiWide", WithSettings(ModelOfShape("sage-ri", 3, 16), 0.2, "", ""), true},
        Case{"Gat", ModelOfShape("gat", 3, 16)}, Case{"GatOneLayer", ModelOfShape("gat", 1, 16)},
        Case{"GatFiveHeads", WithHeads(WithSettings(ModelOfShape("gat", 2, 15), 0.3, "elu", "none"), 5)},
        Case{"GatNormalised", WithHeads(WithSettings(ModelOfShape("gat", 2, 12), 0.3, "relu", "batch"), 2)},
        Case{"Gin", ModelOfShape("gin", 3, 16)},
        Case{"GinOddHiddenWithoutNorm", WithSettings(ModelOfShape("gin", 2, 13), 0.3, "elu", "none")},
        Case{"GinOneLayer", ModelOfShape("gin", 1, 16)},
        Case{"SageRi", WithSettings(ModelOfShape("sage-ri", 3, 16), 0.2, "", "")},
        Case{"SageRiOddHidden", WithSettings(ModelOfShape("sage-ri", 2, 21), 0.1, "elu", "batch")},
        Case{"SageRiOneLayerWithoutNorm", WithSettings(ModelOfShape("sage-ri", 1, 16), 0.1, "relu", "none")},
        Case{"SpecGcn", Spec(kGcn)}, Case{"SpecGcnWide", Spec(kGcn), true}, Case{"SpecGcnLeaky", LeakyReluSpec(kGcn)},
        Case{"SpecSageWithBias", WithBiases(ModelOfShape("sage", 2, 13))},
        Case{"SpecGatWithBias", WithBiases(WithHeads(WithSettings(ModelOfShape("gat", 2, 16), 0.3, "elu", "none"), 2))},
        Case{"SpecResidualGat", Spec(kResidualGat)}, Case{"SpecMixed", Spec(kMixed)}, Case{"SpecOdd", Spec(kOdd)},
        Case{"SpecSums", Spec(kSums)}, Case{"SpecHeads", Spec(kHeads)}, Case{"SpecHeadsWide", Spec(kHeads), true},
        Case{"SpecAttends", Spec(kAttends)}),
    [](const testing::TestParamInfo<Case>& given) { return given.param.name; });

// Aggregates over inner hops: read through an activation and dropout, plain, and by all three kinds of sum. Widths make
// one vector, three, and more than a group of eight lanes has.
constexpr const char* kInnerSums = R"(name = "inner-sums"
values = [
  {name = "a0", op = "aggregate", of = "x", how = "mean"},
  {name = "h0", op = "linear", of = "a0", width = 24},
  {name = "r0", op = "activate", of = "h0", function = "leaky_relu"},
  {name = "d0", op = "drop", of = "r0", probability = 0.25},
  {name = "a1", op = "aggregate", of = "d0", how = "sum", scale = "symmetric"},
  {name = "h1", op = "linear", of = "a1", width = 72},
  {name = "a2", op = "aggregate", of = "h1", how = "WHICH"},
  {name = "h2", op = "head", of = "a2"},
])";

TEST(ChosenKernels, GiveTheBitsOfTheEnginesOwn) {
  HONE_REQUIRE_DEVICE();
  const auto graph = CommunityGraph({.nodes = 150, .classes = 5, .degree = 44, .width = 12, .seed = 2});
  for (const char* how : {"mean", "sum"}) {
    std::string text = kInnerSums;
    text.replace(text.find("WHICH"), 5, how);
    ModelOptions shape = Spec(text.c_str());
    shape.in_width = graph->features().width;
    shape.num_classes = graph->num_classes();
    const auto trained = [&](const std::optional<SumChoice>& choice) {
      auto model = MakeModel(shape).value();
      GpuEngineOptions options{.fanouts = {19, 9, 4}, .batch = 24, .fp32 = false, .learning_rate = 0.01, .seed = 3};
      for (const char* value : {"a1", "a2"}) options.choices.aggregates[value] = {choice, choice};
      auto engine = MakeGpuEngine(*graph, *model, options);
      EXPECT_TRUE(engine.ok()) << engine.status().message();
      for (uint32_t step = 0; step < 2; ++step) EXPECT_TRUE((*engine)->TrainStep(0, step).ok());
      EXPECT_TRUE((*engine)->ExportTo(*model).ok());
      std::map<std::string, std::vector<float>> end;
      for (const Parameter<float>* p : model->parameters()) end[p->name] = p->value;
      return end;
    };
    const auto own = trained(std::nullopt);
    for (const SumChoice& choice :
         {SumChoice{8, 8, 64}, SumChoice{8, 4, 256}, SumChoice{16, 4, 128}, SumChoice{16, 8, 256}, SumChoice{32, 4, 64},
          SumChoice{32, 8, 128}, SumChoice{32, 8, 256}, SumChoice{32, 4, 256}}) {
      EXPECT_EQ(trained(choice), own) << how << " by " << choice.lanes << " lanes, " << choice.ahead << " ahead";
    }
  }
}

TEST(ChosenKernels, MustBeInTheProgram) {
  HONE_REQUIRE_DEVICE();
  const auto graph = CommunityGraph({.nodes = 60, .classes = 3, .degree = 5, .width = 12, .seed = 2});
  ModelOptions shape = Spec(kGcn);
  shape.in_width = graph->features().width;
  shape.num_classes = graph->num_classes();
  auto model = MakeModel(shape).value();
  GpuEngineOptions options{.fanouts = {3, 3, 3}, .batch = 16};
  options.choices.aggregates["a1"].backward = SumChoice{.lanes = 4};
  const auto engine = MakeGpuEngine(*graph, *model, options);
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.status().message().find("value 'a1' are not in this program: take 32, 16 or 8 lanes"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::gnn::cuda
