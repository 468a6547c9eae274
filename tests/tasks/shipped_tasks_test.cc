// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests every folder under tasks/: it loads, its plans resolve for every shape that may be asked for, and its cases are
// affordable and reach the corners where kernels go wrong. Nothing runs here; lint_shipped_tasks_test.cc runs the
// tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"

namespace hone {
namespace {

constexpr double kLargestTimedBytes = 16e9;
// Limits on a check case, which also runs on the simulated GPU, several times.
constexpr int64_t kCheckedElements = 3'000'000;
constexpr double kCheckedProducts = 6e6;
constexpr int kHiddenDraws = 50;

std::vector<std::string> TaskNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tasks")) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

DeviceFacts Facts() {
  DeviceFacts facts;
  facts.id = "table";
  facts.cc_major = 9;
  facts.sm_count = 132;
  facts.l2_bytes = 50 << 20;
  facts.smem_optin = 227 << 10;
  facts.smem_per_sm = 228 << 10;
  return facts;
}

class ShippedTask : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Task> loaded = LoadTask(HONE_SOURCE_DIR "/tasks/" + GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    task_ = std::move(*loaded);
  }

  // Returns every shape that the task names, and many that it may be asked for.
  std::vector<Case> AllCases() const {
    std::vector<Case> cases = task_.cases;
    for (const HandWorkedCase& hand : task_.hand_worked_cases) cases.push_back({hand.dims, CaseRole::kCheck});
    for (uint64_t seed = 1; seed <= kHiddenDraws; ++seed) {
      for (Case& hidden : DrawHiddenCases(task_, seed)) cases.push_back(std::move(hidden));
    }
    return cases;
  }
  std::map<std::string, int64_t> PromisedAlign() const {
    std::map<std::string, int64_t> align;
    for (const TensorSpec& tensor : task_.tensors) align[tensor.name] = tensor.align;
    return align;
  }
  int64_t Elements(const Dims& dims) const {
    int64_t most = 0;
    for (const TensorSpec& tensor : task_.tensors) {
      Result<TensorShape> shape = ResolveShape(tensor, dims);
      if (shape.ok()) most = std::max(most, shape->elements);
    }
    return most;
  }

  Task task_;
};

TEST(ShippedTasks, AreThoseThatTheDocumentationNames) {
  EXPECT_THAT(TaskNames(),
              testing::IsSupersetOf(
                  {"causal_conv1d",  "conv2d",           "edge_softmax",           "embedding_bag",
                   "fp8_block_matmul", "fused_add_rmsnorm", "gather_mean",         "gather_mean_backward",
                   "gelu_tanh",      "grouped_matmul",   "histogram",              "int4_quantize",          "layernorm",
                   "matmul_bf16",    "matmul_f32",       "merge_attn_states",      "mla_decode_attention",
                   "moe_gating",     "mxfp4_dequantize", "mxfp4_quantize",         "nvfp4_gemv",
                   "paged_decode_attention", "prefill_attention", "prefix_sum",    "relu",
                   "rmsnorm",        "rmsnorm_quant_fp8", "rope_kv_write",         "sample_mean",
                   "silu_and_mul",   "softmax",          "sort",                   "top_k",
                   "transpose",
                   "w4a16_matmul"}));
}

// With scores that differ little a softmax is nearly even, and a sum without exponentials is right.
TEST(ShippedTasks, ScoresOfAttentionSpread) {
  const struct {
    const char *task, *keys;
    std::vector<std::string> width;
  } attentions[] = {{"mla_decode_attention", "cache", {"rank", "rope"}},
                    {"paged_decode_attention", "k_cache", {"head_dim"}},
                    {"prefill_attention", "k", {"head_dim"}}};
  for (const auto& [name, keys, width] : attentions) {
    const Result<Task> task = LoadTask(std::string(HONE_SOURCE_DIR "/tasks/") + name);
    ASSERT_TRUE(task.ok()) << task.status().message();
    ASSERT_EQ(task->scalars.size(), 1u);
    const ValueSpec &q = task->FindTensor("q")->values, &k = task->FindTensor(keys)->values;
    ASSERT_EQ(q.distribution, Distribution::kNormal);
    ASSERT_EQ(k.distribution, Distribution::kNormal);
    for (const Case& one : task->cases) {
      if (one.role != CaseRole::kTime) continue;
      int64_t columns = 0;
      for (const std::string& dim : width) columns += one.dims.at(dim);
      const double deviation = task->scalars[0].value * q.scale * k.scale * std::sqrt(static_cast<double>(columns));
      EXPECT_GE(deviation, 1.0) << name << " " << columns;
      EXPECT_LE(deviation, 2.5) << name << " " << columns;
    }
  }
}

// Inputs are drawn wherever a task's text allows them, not only where real models have most of theirs.
TEST(ShippedTasks, ScalesAreDrawnFromAllThatTheirTasksAllow) {
  const Result<Task> signed_scales = LoadTask(HONE_SOURCE_DIR "/tasks/w4a16_matmul");
  ASSERT_TRUE(signed_scales.ok()) << signed_scales.status().message();
  const TensorSpec& scale = *signed_scales->FindTensor("scale");
  EXPECT_LT(scale.values.low, 0);
  EXPECT_GT(scale.values.high, 0);
  EXPECT_TRUE(std::any_of(signed_scales->cases.begin(), signed_scales->cases.end(), [](const Case& one) {
    const auto own = one.values.find("scale");
    return own != one.values.end() && own->second.distribution == Distribution::kZero;
  }));

  const Result<Task> powers = LoadTask(HONE_SOURCE_DIR "/tasks/mxfp4_dequantize");
  ASSERT_TRUE(powers.ok()) << powers.status().message();
  const TensorSpec& power = *powers->FindTensor("scale");
  EXPECT_TRUE(power.stress);
  EXPECT_EQ(power.values.low, 0x1p-127);
  EXPECT_EQ(power.values.high, 0x1p126);
  const Tolerance& tolerance = powers->tolerance.at("out");
  EXPECT_GT(tolerance.c_small, 0);
  EXPECT_EQ(tolerance.small_floor, 0);  // small results beside large ones count
}

TEST_P(ShippedTask, StandsInTheReadme) {
  std::ifstream file(HONE_SOURCE_DIR "/tasks/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(readme, testing::HasSubstr("| `" + GetParam() + "` |"));
}

TEST_P(ShippedTask, IsNamedAfterItsFolderAndSaysWhatItComputes) {
  EXPECT_EQ(task_.name, GetParam());
  EXPECT_FALSE(task_.summary.empty());
  EXPECT_FALSE(task_.seed_source.empty());
  // If an index says where rows are written, the rows belong to no slice of the tensor that they are written into.
  const bool scatters = std::any_of(task_.tensors.begin(), task_.tensors.end(), [](const TensorSpec& tensor) {
    return tensor.values.index_order == IndexOrder::kDistinct && tensor.values.padding > 0;
  });
  EXPECT_EQ(task_.slice.empty(), scatters);
  // Outputs with more than one right value have examples instead of hand-worked cases.
  const bool examples = task_.toml.find("[[example]]") != std::string::npos;
  EXPECT_EQ(task_.hand_worked_cases.empty(), examples);
  for (const auto& [dim, description] : task_.dims) EXPECT_FALSE(description.empty()) << dim;
}

TEST_P(ShippedTask, PlansResolveForEveryShapeAndBinding) {
  const std::map<std::string, int64_t> align = PromisedAlign();
  Result<Candidate> oracle = ParseCandidate(task_.oracle_source, "oracle.cu", task_, true);
  ASSERT_TRUE(oracle.ok()) << oracle.status().message();
  Result<Candidate> seed = ParseCandidate(task_.seed_source, "seed.cu", task_);
  ASSERT_TRUE(seed.ok()) << seed.status().message();
  for (const Case& one : AllCases()) {
    Result<ResolvedPlan> plan = ResolvePlan(*oracle, task_, one.dims, {}, Facts(), {}, align);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const Binding& binding : AllBindings(seed->plan)) {
      Result<ResolvedPlan> seed_plan = ResolvePlan(*seed, task_, one.dims, binding, Facts(), {}, align);
      ASSERT_TRUE(seed_plan.ok()) << seed_plan.status().message() << " with " << BindingKey(binding);
    }
  }
}

// No check would cover an alternative of the plan that no check case reaches.
TEST_P(ShippedTask, CheckCasesReachEveryAlternativeOfTheSeed) {
  Result<Candidate> seed = ParseCandidate(task_.seed_source, "seed.cu", task_);
  ASSERT_TRUE(seed.ok());
  std::set<size_t> reached;
  for (const Case& one : task_.cases) {
    if (one.role != CaseRole::kCheck) continue;
    Result<ResolvedPlan> plan = ResolvePlan(*seed, task_, one.dims, {}, Facts(), {}, PromisedAlign());
    ASSERT_TRUE(plan.ok());
    for (const ResolvedStep& step : plan->steps) reached.insert(step.entry);
  }
  EXPECT_EQ(reached.size(), seed->plan.entries.size());
}

TEST_P(ShippedTask, TimedCasesFitAGpuAndCheckedOnesASimulator) {
  int64_t elements = 0, timed = 0;
  double products = 0;
  for (const Case& one : task_.cases) {
    Result<double> bytes = CompulsoryBytes(task_, one.dims);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    if (one.role == CaseRole::kTime) {
      ++timed;
      double held = 0;
      for (const TensorSpec& tensor : task_.tensors) {
        Result<TensorShape> shape = ResolveShape(tensor, one.dims);
        ASSERT_TRUE(shape.ok());
        held += static_cast<double>(shape->span_bytes);
      }
      EXPECT_LT(held, kLargestTimedBytes);
      EXPECT_GT(*bytes, 0);
    } else {
      elements += Elements(one.dims);
      if (task_.workload == WorkloadClass::kGemm) products += Flops(task_, one.dims).value() / 2;
    }
  }
  EXPECT_GE(timed, 3);
  EXPECT_LE(timed, 6);
  EXPECT_LE(elements, kCheckedElements);
  EXPECT_LE(products, kCheckedProducts);
}

TEST_P(ShippedTask, ChecksEmptyOddAndSingleSizes) {
  for (const auto& [dim, description] : task_.dims) {
    const auto any = [&, name = dim](auto&& holds) {
      return std::any_of(task_.cases.begin(), task_.cases.end(), [&](const Case& one) {
        return one.role == CaseRole::kCheck && holds(one.dims.at(name));
      });
    };
    // A gather from no rows has no row that its indices could name, and a filter that does not move never ends.
    if (dim != "num_src" && dim != "step") {
      EXPECT_TRUE(any([](int64_t size) { return size == 0; })) << dim << " is never 0";
    }
    EXPECT_TRUE(any([](int64_t size) { return size % 2 == 1; })) << dim << " is never odd";
  }
  EXPECT_FALSE(task_.hidden.empty());
}

TEST_P(ShippedTask, EveryFileCarriesItsLicence) {
  for (const std::string* text : {&task_.toml, &task_.oracle_source, &task_.seed_source}) {
    EXPECT_THAT(text->substr(0, 200), testing::HasSubstr("SPDX-License-Identifier: Apache-2.0"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedTask, testing::ValuesIn(TaskNames()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace hone
