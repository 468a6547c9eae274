// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares exact inference on the GPU with the model in double over the whole graph, for every model. Tests that
// neither the division into blocks nor that of memory changes a bit. The graph has a node without neighbors, a
// self-loop, parallel edges, and a hub whose row is cut into three pieces.
#include "gnn/cuda/infer/exact_inference.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <ostream>
#include <string>

#include "base/numbers/random.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/base/test_specs.h"
#include "gnn/cuda/infer/exact_memory.h"
#include "gnn/cuda/infer/exact_ranks.h"
#include "gnn/graph/array_graph.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/infer/fingerprint.h"
#include "gnn/ops/convert_rows.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kNodes = 300;
constexpr NodeId kHub = 7;
constexpr int64_t kHubDegree = 2 * kPieceNeighbors + 77;

// Makes the graph. Feature values are ±1/2, ±1 and ±2, which fp16 holds exactly.
std::shared_ptr<const Graph> HubGraph(int64_t width, FeatureDtype dtype = FeatureDtype::kFloat32) {
  Rng rng(3);
  GraphParts parts;
  parts.name = "a graph with a hub";
  parts.num_classes = 5;
  parts.owned_offsets.push_back(0);
  parts.owned_ids.emplace_back();
  std::vector<int32_t>& columns = parts.owned_ids[0];
  for (NodeId v = 0; v < kNodes; ++v) {
    const auto degree = v == 0 ? 0 : v == kHub ? kHubDegree : static_cast<int64_t>(rng.Below(12));
    for (int64_t e = 0; e < degree; ++e) columns.push_back(static_cast<NodeId>(rng.Below(kNodes)));
    if (v == 1) columns.insert(columns.end(), {1, 2, 2, kHub});
    parts.owned_offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  parts.structure = {kNodes, parts.owned_offsets, columns};
  const int64_t bytes = FeatureDtypeBytes(dtype), stride = (width * bytes + 63) / 64 * 64;
  auto region = std::move(MemoryRegion::Anonymous(kNodes * stride, "test features")).value();
  for (int64_t v = 0; v < kNodes; ++v) {
    for (int64_t c = 0; c < width; ++c) {
      const uint64_t draw = rng.Below(6);
      const float value = std::ldexp(draw % 2 == 0 ? 1.0f : -1.0f, static_cast<int>(draw / 2) - 1);
      const auto half_bits = static_cast<uint16_t>((draw % 2 == 0 ? 0x3800 : 0xB800) + 0x400 * (draw / 2));
      std::byte* to = region.data() + v * stride + c * bytes;
      if (dtype == FeatureDtype::kFloat32) {
        std::memcpy(to, &value, 4);
      } else {
        std::memcpy(to, &half_bits, 2);
      }
    }
  }
  parts.features = {region.data(), dtype, kNodes, width, stride};
  parts.memory.push_back(std::move(region));
  return std::make_shared<ArrayGraph>(std::move(parts));
}

struct Case {
  std::string name;
  ModelOptions model;
  int64_t width = 12;
  FeatureDtype dtype = FeatureDtype::kFloat32;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

struct Say {
  std::string kind;
  int layers = 3;
  int64_t hidden = 16;
  int64_t classes = 5;
  std::string aggregation = "mean", activation = "", norm = "";
  int heads = 1;
  bool bias = false;
};
ModelOptions Shape(const Say& say) {
  ModelOptions shape;
  shape.kind = say.kind;
  shape.layers = say.layers;
  shape.hidden = say.hidden;
  shape.num_classes = say.classes;
  shape.aggregation = say.aggregation;
  shape.activation = say.activation;
  shape.norm = say.norm;
  shape.heads = say.heads;
  shape.bias = say.bias;
  shape.seed = 5;
  return shape;
}
ModelOptions OfFile(const char* toml) {
  ModelOptions shape = Spec(toml);
  shape.num_classes = 5;
  return shape;
}
// An aggregation and a linear read the features "x" through a dropout, which is an identity in evaluation; a
// concatenation, and a collection over all hops, read them directly.
constexpr const char* kFeaturesEverywhere = R"(name = "features-everywhere"
values = [
  {name = "dx", op = "drop", of = "x", probability = 0.5},
  {name = "mean", op = "aggregate", of = "dx"},
  {name = "h0", op = "linear", of = "mean", width = 11},
  {name = "own", op = "linear", of = "dx", width = 11, bias = false},
  {name = "s0", op = "add", of = ["h0", "own", "h0"]},
  {name = "a1", op = "aggregate", of = "s0", how = "max"},
  {name = "side", op = "concat", of = ["a1", "x", "s0"]},
  {name = "n", op = "norm", of = "side", over = "batch"},
  {name = "d", op = "drop", of = "n"},
  {name = "a2", op = "aggregate", of = "d", how = "sum"},
  {name = "all", op = "collect", of = ["x", "a2", "s0"]},
  {name = "out", op = "linear", of = "all", width = "classes"},
  {name = "end", op = "activate", of = "out", function = "leaky_relu"},
])";

class ExactOnGpu : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = HubGraph(GetParam().width, GetParam().dtype);
    ModelOptions shape = GetParam().model;
    shape.in_width = GetParam().width;
    model_ = MakeModel(shape).value();
    // Statistics, biases and eps get values as after training, because at their initial values some mistakes would not
    // show.
    Rng rng(11);
    for (Parameter<float>* p : model_->parameters()) {
      const bool variance = p->name.ends_with("running_var");
      if (!variance && p->shape.size() > 1) continue;
      for (float& value : p->value) {
        value = static_cast<float>(variance ? 0.5 + rng.Uniform() : rng.Uniform() - 0.3);
      }
    }
    options_.fp32 = true;
  }

  // Computes the logits of all nodes, in double.
  std::vector<double> Reference() {
    ModelOptions shape = GetParam().model;
    shape.in_width = GetParam().width;
    auto model = MakeDoubleModel(shape).value();
    const auto from = model_->parameters();
    const auto to = model->parameters();
    for (size_t p = 0; p < to.size(); ++p) to[p]->value.assign(from[p]->value.begin(), from[p]->value.end());
    const CsrView csr = graph_->structure();
    const std::vector<int32_t> offsets(csr.row_offsets.begin(), csr.row_offsets.end());
    std::vector<NodeId> all_nodes(kNodes);
    std::iota(all_nodes.begin(), all_nodes.end(), 0);
    std::vector<float> features(static_cast<size_t>(kNodes * shape.in_width));
    GatherRows(graph_->features(), all_nodes, {features.data(), kNodes, shape.in_width, shape.in_width}, 1);
    std::vector<double> x(features.begin(), features.end());
    const BlockView block{kNodes, kNodes, offsets, csr.columns};
    for (int pass = 0; pass < model->num_passes(); ++pass) {
      const int64_t in = model->PassWidth(pass), out = model->PassWidth(pass + 1);
      std::vector<double> y(static_cast<size_t>(kNodes * out));
      model->RunPass(pass, block, {x.data(), kNodes, in, in}, {y.data(), kNodes, out, out},
                     {.nodes = all_nodes, .graph = &csr});
      x = std::move(y);
    }
    return x;
  }
  ExactOnDevice Infer(std::span<const NodeId> nodes = {}) {
    Result<ExactOnDevice> result = InferExactly(*graph_, *model_, nodes, options_);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? std::move(result).value() : ExactOnDevice{};
  }

  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Model<float>> model_;
  ExactOptions options_;
};

double LargestMagnitude(const std::vector<double>& values) {
  double largest_magnitude = 0;
  for (const double value : values) largest_magnitude = std::max(largest_magnitude, std::abs(value));
  return largest_magnitude;
}

// The tolerance allows for three layers of sums of at most 2,125 terms, 3 * sqrt(2125) * 2^-24 = 8e-6 of the largest
// value, and as much for products.
TEST_P(ExactOnGpu, LogitsAreTheDoubleReferencesUpToRounding) {
  const std::vector<double> expected = Reference();
  const ExactOnDevice result_on_gpu = Infer();
  ASSERT_EQ(result_on_gpu.predictions.logits.size(), expected.size());
  const double largest_magnitude = LargestMagnitude(expected);
  const auto classes = static_cast<size_t>(GetParam().model.num_classes);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(result_on_gpu.predictions.logits[i], expected[i], 2e-5 * largest_magnitude) << "node " << i / classes;
  }
  for (size_t v = 0; v < kNodes; ++v) {
    const auto row = result_on_gpu.predictions.logits.begin() + static_cast<int64_t>(v * classes);
    EXPECT_EQ(result_on_gpu.classes[v], std::max_element(row, row + static_cast<int64_t>(classes)) - row);
  }
  EXPECT_EQ(result_on_gpu.host_bytes, 0);
}

TEST_P(ExactOnGpu, BlocksAndMemoryDoNotChangeABit) {
  options_.product_rows = 32;
  const ExactOnDevice of_all_nodes = Infer();
  for (const int64_t block : {160}) {
    options_.block_rows = block;
    const ExactOnDevice blocked = Infer();
    EXPECT_EQ(blocked.predictions.logits, of_all_nodes.predictions.logits) << block;
    EXPECT_EQ(blocked.classes, of_all_nodes.classes);
  }
  options_.block_rows = 64;
  const int64_t roomy = Infer().device_bytes;
  int streamed = 0;
  for (const int64_t eighths : {14, 12, 9}) {
    options_.device_bytes = roomy * eighths / 16;
    const Result<ExactOnDevice> tight = InferExactly(*graph_, *model_, {}, options_);
    if (!tight.ok()) {
      EXPECT_EQ(tight.status().code(), StatusCode::kResourceExhausted) << tight.status().message();
      break;
    }
    EXPECT_LE(tight->device_bytes, options_.device_bytes);
    streamed += tight->host_bytes > 0 ? 1 : 0;
    ASSERT_EQ(tight->predictions.logits, of_all_nodes.predictions.logits) << eighths;
  }
  EXPECT_GT(streamed, 0);
  options_.device_bytes = 0;
  for (const int64_t rows : {0, 77}) {
    options_.most_feature_rows = rows;
    const ExactOnDevice read_on_host = Infer();
    ASSERT_EQ(read_on_host.predictions.logits, of_all_nodes.predictions.logits) << rows;
    EXPECT_EQ(read_on_host.rows_on_device[0], rows);
    EXPECT_EQ(read_on_host.host_bytes, kNodes * graph_->features().stride_bytes);
  }
}

TEST_P(ExactOnGpu, SomeNodesGetTheRowsTheyHaveAmongAll) {
  options_.product_rows = 64;
  const ExactOnDevice of_all_nodes = Infer();
  const int64_t classes = of_all_nodes.predictions.num_classes;
  for (const std::vector<NodeId>& nodes : {std::vector<NodeId>{0}, {299, 3, 3, 0, 12}, {kHub, 200}}) {
    const ExactOnDevice of_some_nodes = Infer(nodes);
    ASSERT_EQ(of_some_nodes.classes.size(), nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(of_some_nodes.classes[i], of_all_nodes.classes[static_cast<size_t>(nodes[i])]);
      for (int64_t c = 0; c < classes; ++c) {
        EXPECT_EQ(of_some_nodes.predictions.logits[static_cast<size_t>(static_cast<int64_t>(i) * classes + c)],
                  of_all_nodes.predictions.logits[static_cast<size_t>(nodes[i] * classes + c)])
            << nodes[i];
      }
    }
  }
}

// The tolerance allows for the 8 bits of bf16's mantissa in three layers.
TEST_P(ExactOnGpu, InBf16LogitsAreNear) {
  options_.fp32 = false;
  const std::vector<double> expected = Reference();
  const ExactOnDevice result_on_gpu = Infer();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(result_on_gpu.predictions.logits[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  EXPECT_LE(std::sqrt(difference / norm), 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Models, ExactOnGpu,
    testing::Values(
        Case{"Sage", Shape({.kind = "sage"})},
        Case{"SageMaxOddWidths", Shape({.kind = "sage", .layers = 2, .hidden = 13, .aggregation = "max"}), 17},
        Case{"SageSumNormalised", Shape({.kind = "sage", .aggregation = "sum", .activation = "elu", .norm = "batch"}),
             9},
        Case{"SageHalfFeaturesOneClass", Shape({.kind = "sage", .hidden = 24, .classes = 1}), 40,
             FeatureDtype::kFloat16},
        Case{"Gat", Shape({.kind = "gat"})},
        Case{"GatThreeHeads",
             Shape({.kind = "gat", .layers = 2, .hidden = 15, .activation = "elu", .norm = "batch", .heads = 3})},
        Case{"GatWideFeatures", Shape({.kind = "gat", .layers = 1, .heads = 2}), 300, FeatureDtype::kFloat16},
        Case{"Gin", Shape({.kind = "gin"})},
        Case{"GinOddHiddenWithoutNorm",
             Shape({.kind = "gin", .layers = 2, .hidden = 13, .activation = "elu", .norm = "none"})},
        Case{"GinOneLayer", Shape({.kind = "gin", .layers = 1, .classes = 1})},
        Case{"SageRi", Shape({.kind = "sage-ri"})},
        Case{"SageRiOddHidden",
             Shape({.kind = "sage-ri", .layers = 2, .hidden = 21, .activation = "elu", .norm = "none"}), 7},
        Case{"SageRiOneLayer", Shape({.kind = "sage-ri", .layers = 1, .classes = 1})},
        Case{"SageBiased", Shape({.kind = "sage", .bias = true})},
        Case{"GatBiasedThreeHeads",
             Shape({.kind = "gat", .layers = 2, .hidden = 15, .activation = "elu", .heads = 3, .bias = true})},
        Case{"SpecGcn", OfFile(kGcn)}, Case{"SpecGcnHalfFeatures", OfFile(kGcn), 40, FeatureDtype::kFloat16},
        Case{"SpecResidualGat", OfFile(kResidualGat)}, Case{"SpecMixed", OfFile(kMixed), 9},
        Case{"SpecOdd", OfFile(kOdd)}, Case{"SpecFeaturesEverywhere", OfFile(kFeaturesEverywhere), 13}),
    [](const testing::TestParamInfo<Case>& given) { return given.param.name; });

class ExactInference : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    graph_ = HubGraph(12);
    ModelOptions shape = Shape({.kind = "sage"});
    shape.in_width = 12;
    model_ = MakeModel(shape).value();
    options_.product_rows = 32;
    options_.block_rows = 96;
  }
  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Model<float>> model_;
  ExactOptions options_;
};

TEST_F(ExactInference, ProgressCountsEveryRowOfEveryLayerAndAStopIsFollowed) {
  std::vector<std::string> progress_lines;
  options_.progress = [&](const std::string& step, int64_t done, int64_t total) {
    progress_lines.push_back(step + " " + std::to_string(done) + "/" + std::to_string(total));
  };
  options_.logits = false;
  const Result<ExactOnDevice> whole_inference = InferExactly(*graph_, *model_, {}, options_);
  ASSERT_TRUE(whole_inference.ok()) << whole_inference.status().message();
  EXPECT_TRUE(whole_inference->predictions.logits.empty());
  EXPECT_EQ(whole_inference->classes.size(), static_cast<size_t>(kNodes));
  std::vector<std::string> expected;
  for (const char* layer : {"layer 1 ", "layer 2 ", "layer 3 "}) {
    for (const char* done : {"96/300", "192/300", "288/300", "300/300"}) expected.push_back(std::string(layer) + done);
  }
  EXPECT_EQ(progress_lines, expected);
  int stop_questions = 0;
  options_.stop = [&] { return ++stop_questions == 6; };
  const Result<ExactOnDevice> stopped = InferExactly(*graph_, *model_, {}, options_);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.status().code(), StatusCode::kCancelled);
}

TEST_F(ExactInference, AnOutlineIsMadeOnTheDeviceAndGetsTheSameBits) {
  const std::string name = "synthetic:arxiv?scale=0.003&seed=3";
  const auto whole_graph = OpenGraph(name).value();
  const auto outline = OutlineSyntheticGraph(name).value();
  ModelOptions shape = Shape({.kind = "sage", .layers = 2, .hidden = 8, .classes = whole_graph->num_classes()});
  shape.in_width = whole_graph->features().width;
  const auto model = MakeModel(shape).value();
  const std::vector<NodeId> some = {5, 77, 3};
  for (const std::span<const NodeId> nodes : {std::span<const NodeId>(), std::span<const NodeId>(some)}) {
    const Result<ExactOnDevice> one = InferExactly(*whole_graph, *model, nodes, options_);
    const Result<ExactOnDevice> other = InferExactly(*outline, *model, nodes, options_);
    ASSERT_TRUE(one.ok()) << one.status().message();
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_EQ(one->predictions.logits, other->predictions.logits);
    EXPECT_EQ(one->classes, other->classes);
    EXPECT_EQ(other->num_edges, whole_graph->structure().num_edges());
    ExactOptions on_host = options_;
    on_host.most_feature_rows = 100;
    int stop_questions = 0;
    on_host.check_outline = [&](const GraphReader& reader) {
      ++stop_questions;
      EXPECT_EQ(FingerprintThrough(*outline, reader).value(), GraphFingerprint(*whole_graph));
      return Status::Ok();
    };
    const Result<ExactOnDevice> split = InferExactly(*outline, *model, nodes, on_host);
    ASSERT_TRUE(split.ok()) << split.status().message();
    EXPECT_EQ(one->predictions.logits, split->predictions.logits);
    EXPECT_EQ(split->rows_on_device[0], 100);
    EXPECT_EQ(stop_questions, 1);
    on_host.check_outline = [](const GraphReader&) { return Status::InvalidArgument("not this one"); };
    EXPECT_EQ(InferExactly(*outline, *model, nodes, on_host).status().message(), "not this one");
  }
}

TEST_F(ExactInference, RefusesWhatDoesNotFit) {
  const std::vector<NodeId> outside = {3, kNodes};
  const Result<ExactOnDevice> node = InferExactly(*graph_, *model_, outside, options_);
  ASSERT_FALSE(node.ok());
  EXPECT_NE(node.status().message().find("node 300"), std::string::npos) << node.status().message();
  const Result<ExactOnDevice> width = InferExactly(*HubGraph(13), *model_, {}, options_);
  ASSERT_FALSE(width.ok());
  EXPECT_NE(width.status().message().find("13 features"), std::string::npos) << width.status().message();
  options_.device_bytes = 4096;
  const Result<ExactOnDevice> memory = InferExactly(*graph_, *model_, {}, options_);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(memory.status().message().find("4096"), std::string::npos) << memory.status().message();
  // The memory fits the fixed part and half of the features, so a request for all features on the device is refused.
  const std::string needs = memory.status().message();
  options_.device_bytes = std::stoll(needs.substr(needs.find("needs ") + 6)) + kNodes / 2 * graph_->features().stride_bytes;
  EXPECT_TRUE(InferExactly(*graph_, *model_, {}, options_).ok());
  options_.all_features = true;
  const Result<ExactOnDevice> features = InferExactly(*graph_, *model_, {}, options_);
  EXPECT_EQ(features.status().code(), StatusCode::kResourceExhausted) << features.status().message();
}

TEST(ExactMemoryPlan, NeighboringTablesShareWhatThereIs) {
  ExactSizes sizes{.nodes = 1000, .block_rows = 100, .row_bytes = {10, 20, 40}, .sums_row_bytes = 8, .fixed_bytes = 500};
  // The last two tables take 60 bytes per node, the sums 8.
  const ExactMemory roomy = PlanExactMemory(sizes, 500 + 68000).value();
  EXPECT_EQ(roomy.on_device, (std::vector<int64_t>{1000, 1000, 1000}));
  EXPECT_EQ(roomy.sums_on_device, 1000);
  EXPECT_EQ(roomy.device_bytes, 500 + 68000);
  EXPECT_EQ(roomy.host_bytes, 0);
  // There are 30,000 bytes, so each table may take 15,000. The first table takes 10,000 and leaves 5,000 to the second.
  // The second would need 20,000, for which the third would have to leave its share, so 15,000 stay for either.
  const ExactMemory tight = PlanExactMemory(sizes, 500 + 30000).value();
  EXPECT_EQ(tight.on_device, (std::vector<int64_t>{1000, 750, 375}));
  EXPECT_LE(tight.device_bytes, 500 + 30000);
  EXPECT_EQ(tight.host_bytes, (250 * 20 + 625 * 40) + (1000 - tight.sums_on_device) * 8);
  EXPECT_TRUE(tight.split);
  // The ranks take memory too, but only if a table does not fit.
  sizes.ranks_bytes = 4000;
  EXPECT_EQ(PlanExactMemory(sizes, 500 + 68000).value().on_device, roomy.on_device);
  EXPECT_FALSE(roomy.split);
  EXPECT_EQ(PlanExactMemory(sizes, 500 + 4000 + 30000).value().on_device, tight.on_device);
  sizes.ranks_bytes = 0;
  const ExactMemory nothing = PlanExactMemory(sizes, 500).value();
  EXPECT_EQ(nothing.on_device, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(nothing.device_bytes, 500);
  EXPECT_EQ(PlanExactMemory(sizes, 499).status().code(), StatusCode::kResourceExhausted);
}

TEST(ExactMemoryPlan, TheFirstTableHasTheRowsThatWereAskedForAndTheOthersTheRest) {
  ExactSizes sizes{.nodes = 1000, .block_rows = 100, .row_bytes = {20, 10, 10}, .fixed_bytes = 500, .most_first_rows = 77};
  const ExactMemory few_rows = PlanExactMemory(sizes, 500 + 20000).value();
  EXPECT_EQ(few_rows.on_device, (std::vector<int64_t>{77, 1000, 1000}));
  EXPECT_EQ(few_rows.host_bytes, 1000 * 20);
  sizes.most_first_rows = -1;
  EXPECT_EQ(PlanExactMemory(sizes, 500 + 20000).value().on_device, (std::vector<int64_t>{500, 1000, 1000}));
  sizes.all_first = true;
  EXPECT_EQ(PlanExactMemory(sizes, 500 + 20000).value().on_device, (std::vector<int64_t>{1000, 0, 1000}));
  EXPECT_EQ(PlanExactMemory(sizes, 500 + 25000).value().on_device, (std::vector<int64_t>{1000, 500, 1000}));
  const Status refused = PlanExactMemory(sizes, 500 + 19999).status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("20500 bytes"), std::string::npos) << refused.message();
}

// papers100M has 13.8 GB of structure and 2 GB of working memory, 28 GB of features, and 57 GB per layer in bf16.
TEST(ExactMemoryPlan, ThreeLayersOfPapers100MFitOnOneH200) {
  constexpr int64_t kPapers = 111059956;
  const ExactSizes sizes{
      .nodes = kPapers, .block_rows = 1 << 18, .row_bytes = {256, 512, 512}, .fixed_bytes = 15'800'000'000};
  const ExactMemory plan = PlanExactMemory(sizes, 140'000'000'000).value();
  EXPECT_EQ(plan.on_device, (std::vector<int64_t>{kPapers, kPapers, kPapers}));
  EXPECT_EQ(plan.device_bytes, sizes.fixed_bytes + 2 * 512 * kPapers);
}

TEST(ExactRanks, WhoHasTheMostReadersComesFirst) {
  const std::vector<uint32_t> readers = {3, 0, 9, 3, 1'000'000, 65'535, 1};
  const std::vector<int32_t> ranks = RanksByReaders(readers);
  EXPECT_EQ(ranks, (std::vector<int32_t>{3, 6, 2, 4, 0, 1, 5}));
  EXPECT_EQ(FirstByRank(ranks, 4), (std::vector<NodeId>{4, 5, 2, 0}));
  EXPECT_TRUE(FirstByRank(ranks, 0).empty());
}

// The graph has the edges 0 -> 1, 0 -> 2, 1 -> 2 and 2 -> 2, so that a node's readers and neighbors differ.
TEST(ExactRanks, ReadersOfADirectedGraphAreCountedOnTheDevice) {
  HONE_REQUIRE_DEVICE();
  const std::vector<int64_t> offsets = {0, 2, 3, 4};
  const std::vector<int32_t> columns = {1, 2, 2, 2};
  DeviceArray<int32_t> on_device;
  ASSERT_TRUE(on_device.Upload(columns.data(), 4).ok());
  const CsrView graph{3, offsets, columns};
  EXPECT_EQ(CountReaders(graph, /*symmetric=*/false, on_device.get(), 4).value(), (std::vector<uint32_t>{0, 1, 3}));
  EXPECT_EQ(CountReaders(graph, /*symmetric=*/true, nullptr, 4).value(), (std::vector<uint32_t>{2, 1, 1}));
}

TEST(LongRows, ArePiecesOfRowsPastTheLimit) {
  const std::vector<int64_t> offsets = {0, kPieceNeighbors, 3 * kPieceNeighbors + 1, 3 * kPieceNeighbors + 2,
                                        4 * kPieceNeighbors + 3};
  const std::vector<NodeId> columns(static_cast<size_t>(offsets.back()), 0);
  const CsrView graph{4, offsets, columns};
  const LongRowList all_rows = LongRowList::Of(graph, {});
  EXPECT_EQ(all_rows.positions, (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(all_rows.first_pieces, (std::vector<int64_t>{0, 3, 5}));
  EXPECT_EQ(all_rows.piece_rows, (std::vector<int32_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(all_rows.MostPieces(4), 5);
  EXPECT_EQ(all_rows.MostPieces(2), 3);
  const std::vector<NodeId> ids = {3, 0, 3};
  EXPECT_EQ(LongRowList::Of(graph, ids).positions, (std::vector<int32_t>{0, 2}));
}

}  // namespace
}  // namespace hone::gnn::cuda
