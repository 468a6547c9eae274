// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/winner_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "tuner/run/scripted_evaluator.h"
#include "tuner/workbench/candidate_file.h"

namespace hone {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr char kTunable[] = R"cu(/*hone
[tune]
VEC = [4, 8]
BLOCK = [128, 512, 1024]
[[launch]]
kernel = "copy<VEC>"
grid   = ["ceil_div(rows * d, VEC * BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows * d:i64"]
*/
template <int V> __global__ void copy(const float* x, float* out, long long n) {}
)cu";

class WinnerFile : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    ASSERT_TRUE(MakeDirectories(folder_ + "/winners").ok());
    ASSERT_TRUE(WriteFileAtomically(candidate_, kTunable).ok());
    SweepRequest request;
    request.source = kTunable;
    request.name = candidate_;
    request.baseline = kTunable;
    request.baseline_name = candidate_;
    // Few rows favor small blocks, many rows large ones.
    ScriptedEvaluator evaluator([](const std::string&, const Binding& b, const Dims& dims) {
      const double block = static_cast<double>(b.at("BLOCK")), base = b.at("VEC") == 8 ? 10 : 12;
      return dims.at("rows") == 16 ? base * (1 + block / 1000) : 40 * base * (3 - block / 1000);
    });
    Result<SweptCandidate> swept = TuneAndJudge(evaluator, task_, request);
    ASSERT_TRUE(swept.ok()) << swept.status().message();
    swept_ = std::move(*swept);
    json_ = WinnerJson(task_, path_, candidate_, "tunable.cu", evaluator.facts(), swept_, kTunable);
  }
  Result<std::string> Read() const {
    EXPECT_TRUE(WriteFileAtomically(path_, DumpJson(json_, 2)).ok());
    Result<PlannedKernel> candidate_or_error = ReadCandidateOf(task_, path_);
    if (!candidate_or_error.ok()) return candidate_or_error.status();
    return candidate_or_error->text;
  }
  std::string Error() const { return Read().status().message(); }

  const Task task_ = ScriptedTask();
  const std::string folder_ = testing::TempDir() + "/winner_file_test";
  const std::string candidate_ = folder_ + "/tunable.cu", path_ = folder_ + "/winners/tunable.json";
  SweptCandidate swept_;
  nlohmann::json json_;
};

TEST_F(WinnerFile, GivesTheTextThatTheSweepWrote) {
  ASSERT_TRUE(swept_.tuned);
  const Result<std::string> text_or_error = Read();
  ASSERT_TRUE(text_or_error.ok()) << text_or_error.status().message();
  EXPECT_EQ(*text_or_error, *swept_.tuned);
  EXPECT_LT(DumpJson(json_, 2).size(), 1500u);
  EXPECT_EQ(json_["candidate"], "../tunable.cu");
  EXPECT_EQ(json_["device"]["modelled"], true);
  EXPECT_EQ(json_["verdict"], "ok");
  ASSERT_EQ(json_["shapes"].size(), 2u);
  EXPECT_NE(json_["shapes"][0]["binding"], json_["shapes"][1]["binding"]);
  EXPECT_GT(json_["shapes"][0]["speedup"]["median"], 0.9);
}

TEST_F(WinnerFile, ThatDoesNotFitIsRefused) {
  const nlohmann::json right = json_;
  json_["task"] = "softmax";
  EXPECT_THAT(Error(), HasSubstr("has winners of task 'softmax', not of"));
  json_ = right;
  json_["shapes"][0]["binding"]["BLOCK"] = 96;
  EXPECT_THAT(Error(), HasSubstr("has no binding BLOCK=96"));
  json_ = right;
  json_["binding"]["BLOCK"] = "512";
  EXPECT_THAT(Error(), HasSubstr("winner.binding.BLOCK: expected"));
  json_ = right;
  json_.erase("shapes");
  EXPECT_THAT(Error(), HasSubstr("winner.shapes: is missing"));
  json_ = right;
  json_["hone_winner"] = 2;
  EXPECT_THAT(Error(), HasSubstr("is no winner file of this version"));
  json_ = right;
  ASSERT_TRUE(WriteFileAtomically(candidate_, std::string(kTunable) + "// changed\n").ok());
  EXPECT_THAT(Error(), HasSubstr("tunable.cu has changed since it was tuned"));
  fs::remove(candidate_);
  EXPECT_FALSE(Read().ok());
}

}  // namespace
}  // namespace hone
