// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests take a candidate's text to advice on the simulated GPU, as `hone eval --profile` does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "hone/tuner/evaluator.h"

namespace hone {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

// This kernel reads along rows and writes down columns: each store of a warp goes to 32 sectors.
constexpr const char* kNaive = R"cu(/*hone
[[launch]]
kernel = "transpose"
grid   = ["ceil_div(columns, 32)", "min(ceil_div(rows, 8), 65535)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void transpose(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns) {
  const long long column = blockIdx.x * 32LL + threadIdx.x;
  for (long long row = blockIdx.y * 8LL + threadIdx.y; row < rows; row += gridDim.y * 8LL) {
    if (column < columns) {
      const float value = x[row * columns + column];
      out[column * rows + row] = value;
    }
  }
}
)cu";

// This kernel transposes through a tile in shared memory without padding: the reads of a column fall into one bank.
constexpr const char* kConflicts = R"cu(/*hone
[[launch]]
kernel = "transpose"
grid   = ["ceil_div(rows, 32) * ceil_div(columns, 32)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64"]
*/
__global__ void transpose(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns) {
  __shared__ float tile[32][32];
  const long long across = (columns + 31) / 32;
  const long long first_row = blockIdx.x / across * 32, first_column = blockIdx.x % across * 32;
  for (int i = threadIdx.y; i < 32; i += 8) {
    const long long row = first_row + i, column = first_column + threadIdx.x;
    if (row < rows && column < columns) tile[i][threadIdx.x] = x[row * columns + column];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) {
    const long long row = first_column + i, column = first_row + threadIdx.x;
    if (row < columns && column < rows) {
      const float value = tile[threadIdx.x][i];
      out[row * rows + column] = value;
    }
  }
}
)cu";

class ProfileOnSimulator : public testing::Test {
 protected:
  static Evaluator& evaluator() {
    static Result<std::unique_ptr<Evaluator>> evaluator_or_error = [] {
      EvaluatorOptions options;
      options.device = "sim";
      options.launch_limit_seconds = options.compile_limit_seconds = 200;  // seconds; the host's processors run it, and may have much else to do
      // A user may give a path relative to this folder, although the children start in another.
      options.executable = std::filesystem::relative(std::filesystem::read_symlink("/proc/self/exe")).string();
      options.cache_directory = HONE_BINARY_DIR "/tests/cache";
      return MakeEvaluator(options);
    }();
    EXPECT_TRUE(evaluator_or_error.ok()) << evaluator_or_error.status().message();
    return **evaluator_or_error;
  }
  static Evaluation Profiled(const char* source, bool profile = true, const char* gains_over = nullptr) {
    Result<Task> task = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/transpose");
    EXPECT_TRUE(task.ok()) << task.status().message();
    EvaluationRequest request;
    request.source = source;
    request.name = "mine.cu";
    request.seed = 11;
    request.profile = profile;
    request.profile_gains = gains_over != nullptr;
    if (gains_over != nullptr) request.incumbent_source = gains_over;
    request.only_time_cases = {1};
    Result<Evaluation> evaluation = evaluator().Evaluate(*task, request);
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().message();
    EXPECT_EQ(evaluation->verdict, Verdict::kOk) << evaluation->detail;
    return *evaluation;
  }
};

TEST_F(ProfileOnSimulator, ScatteredStoresAreFoundAtTheirLine) {
  const Evaluation evaluation = Profiled(kNaive);
  ASSERT_TRUE(evaluation.profile.has_value());
  const Profile& profile = *evaluation.profile;
  EXPECT_EQ(profile.source, "simulator");
  EXPECT_TRUE(profile.modelled);
  ASSERT_EQ(profile.cases.size(), 1u);
  ASSERT_EQ(profile.cases[0].kernels.size(), 1u);
  const KernelProfile& kernel = profile.cases[0].kernels[0];
  EXPECT_EQ(kernel.kernel, "transpose");
  EXPECT_EQ(kernel.threads_per_block, 256);
  EXPECT_NEAR(kernel.Value("store_sectors") / kernel.Value("store_requests"), 32, 0.5);
  EXPECT_NEAR(kernel.Value("load_sectors") / kernel.Value("load_requests"), 4, 0.5);
  ASSERT_FALSE(profile.findings.empty());
  EXPECT_EQ(profile.findings[0].kind, "uncoalesced");
  EXPECT_EQ(profile.findings[0].location, "mine.cu:13");
  EXPECT_THAT(profile.findings[0].message, HasSubstr("stores use 4 of the 32 bytes"));
  EXPECT_GT(profile.findings[0].gain, 0.2);
  // The analyst role reads the findings of an evaluation.
  EXPECT_EQ(evaluation.findings[0].location, "mine.cu:13");
  EXPECT_THAT(evaluation.findings[0].message, HasSubstr("sectors a request"));
  // The text for people is the same after a round trip through JSON.
  const std::string description = DescribeProfile(profile, "");
  EXPECT_THAT(description, HasSubstr("modelled"));
  EXPECT_THAT(description, HasSubstr("uncoalesced at mine.cu:13"));
  const Result<Evaluation> back = EvaluationFromJson(EvaluationToJson(evaluation));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(DescribeProfile(*back->profile, ""), description);
}

TEST_F(ProfileOnSimulator, BankConflictsAreFoundAtTheirLine) {
  const Evaluation evaluation = Profiled(kConflicts);
  const KernelProfile& kernel = evaluation.profile->cases[0].kernels[0];
  EXPECT_GT(kernel.Value("bank_conflicts"), 0.8 * kernel.Value("shared_passes"));
  EXPECT_THAT(evaluation.profile->findings, Contains(Field(&ProfileFinding::kind, "bank_conflict")));
  for (const ProfileFinding& finding : evaluation.profile->findings) {
    if (finding.kind == "bank_conflict") {
      EXPECT_EQ(finding.location, "mine.cu:20");
    }
  }
}

TEST_F(ProfileOnSimulator, NothingIsCountedUnlessAskedFor) {
  EXPECT_FALSE(Profiled(kNaive, /*profile=*/false).profile.has_value());
}

TEST_F(ProfileOnSimulator, OfGainsOnlyWhatIsFasterOrTheOneToBeatIsCounted) {
  ASSERT_GT(Profiled(kConflicts, /*profile=*/false, kNaive).geomean_speedup.value(), 1)
      << "scattered stores cost more than conflicts";
  EXPECT_TRUE(Profiled(kConflicts, /*profile=*/true, kNaive).profile.has_value());
  EXPECT_FALSE(Profiled(kNaive, /*profile=*/true, kConflicts).profile.has_value());
  EXPECT_TRUE(Profiled(kNaive, /*profile=*/true, kNaive).profile.has_value());
}

}  // namespace
}  // namespace hone
