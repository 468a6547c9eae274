// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the three pages about formats: the real parsers accept their examples, and every field that a parser knows is
// on its page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {
namespace {

using testing::HasSubstr;

std::string Page(const std::string& name) {
  std::ifstream stream(std::string(HONE_SOURCE_DIR) + "/docs/" + name);
  EXPECT_TRUE(stream.good()) << name;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Returns the first fenced block of `language` on a page.
std::string Example(const std::string& page, const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const size_t begin = page.find(fence);
  EXPECT_NE(begin, std::string::npos) << language;
  const size_t end = page.find("```", begin + fence.size());
  return page.substr(begin + fence.size(), end - begin - fence.size());
}

Task ExampleTask() {
  Result<Task> task = ParseTask(Example(Page("task-format.md"), "toml"), "task-format.md");
  EXPECT_TRUE(task.ok()) << task.status().message();
  return std::move(task).value();
}

// Returns the words that an error message lists after "(known: ", which are the fields that the parser knows.
std::vector<std::string> KnownFields(const std::string& message) {
  std::vector<std::string> fields;
  const size_t begin = message.find("(known: ");
  EXPECT_NE(begin, std::string::npos) << message;
  std::string word;
  for (size_t i = begin + 8; i < message.size(); ++i) {
    if (message[i] == ',' || message[i] == ')')
      fields.push_back(word), word.clear();
    else if (message[i] != ' ')
      word += message[i];
    if (message[i] == ')') break;
  }
  return fields;
}

void ExpectAllOnPage(const std::string& page, const std::vector<std::string>& fields) {
  EXPECT_FALSE(fields.empty());
  for (const std::string& field : fields) {
    const bool is_documented =
        page.find('`' + field + '`') != std::string::npos || page.find('[' + field + ']') != std::string::npos ||
        page.find('[' + field + '.') != std::string::npos || page.find('`' + field + '.') != std::string::npos;
    EXPECT_TRUE(is_documented) << "'" << field << "' is a field and not on the page";
  }
}

TEST(TaskFormatPage, ItsExampleIsATask) {
  const Task task = ExampleTask();
  EXPECT_EQ(task.name, "silu_and_mul");
  EXPECT_EQ(task.cases.size(), 2u);
}

TEST(TaskFormatPage, HasEveryFieldDtypeAndDistribution) {
  const std::string page = Page("task-format.md");
  const std::string example = Example(page, "toml");
  const auto fields_of = [&](const std::string& after) {
    std::string broken = example;
    broken.insert(broken.find(after) + after.size(), "zzzzzzzzzzzz = 1\n");
    return KnownFields(ParseTask(broken, "t").status().message());
  };
  ExpectAllOnPage(page, fields_of("[[tensor]]\n"));
  // The fields of `values` depend on the distribution, so the example is parsed with each distribution.
  for (const std::string distribution : {"normal", "uniform", "zero"}) {
    std::string broken = example;
    const std::string normal = "distribution = \"normal\", scale = 1.0, offset = 0.0";
    broken.replace(broken.find(normal), normal.size(), "distribution = \"" + distribution + "\", zzzzzzzzzzzz = 1");
    ExpectAllOnPage(page, KnownFields(ParseTask(broken, "t").status().message()));
  }
  for (const std::string distribution : {"index", "offsets"}) {
    std::string broken = example;
    const std::string normal =
        "dtype = \"float16\"\nshape = [\"tokens\", \"2 * d\"]\nvalues = { distribution = \"normal\", scale = 1.0, "
        "offset = 0.0 }";
    broken.replace(broken.find(normal), normal.size(),
                   "dtype = \"int32\"\nshape = [\"tokens\", \"2 * d\"]\nvalues = { distribution = \"" + distribution +
                       "\", bound = \"d\", zzzzzzzzzzzz = 1 }");
    ExpectAllOnPage(page, KnownFields(ParseTask(broken, "t").status().message()));
  }
  ExpectAllOnPage(page, fields_of("[[scalar]]\n"));
  ExpectAllOnPage(page, fields_of("[work]\n"));
  ExpectAllOnPage(page, fields_of("[tolerance.out]\n"));
  ExpectAllOnPage(page, KnownFields(ParseTask("zzzzzzzzzzzz = 1\n" + example, "t").status().message()));
  for (int i = 0; i <= static_cast<int>(Distribution::kOffsets); ++i) {
    EXPECT_THAT(page, HasSubstr("| `" + std::string(DistributionName(static_cast<Distribution>(i))) + "` |"));
  }
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    EXPECT_THAT(page, HasSubstr('`' + std::string(DTypeName(static_cast<DType>(i))) + '`'));
  }
  for (int i = 0; i <= static_cast<int>(WorkloadClass::kOther); ++i) {
    EXPECT_THAT(page, HasSubstr('`' + std::string(WorkloadClassName(static_cast<WorkloadClass>(i))) + '`'));
  }
}

TEST(CandidateFormatPage, ItsExampleIsACandidateOfTheTaskPagesExample) {
  Result<Candidate> candidate =
      ParseCandidate(Example(Page("candidate-format.md"), "cuda"), "candidate-format.md", ExampleTask());
  ASSERT_TRUE(candidate.ok()) << candidate.status().message();
  EXPECT_EQ(candidate->plan.entries.size(), 2u);
  EXPECT_EQ(AllBindings(candidate->plan).size(), 4u);
}

TEST(CandidateFormatPage, HasEveryField) {
  const std::string page = Page("candidate-format.md");
  const Task task = ExampleTask();
  const std::string launch = "[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\nargs = [\"out\"]\n";
  const auto fields_of = [&](const std::string& plan) {
    return KnownFields(ParseCandidate("/*hone\n" + plan + "*/\n", "c", task).status().message());
  };
  ExpectAllOnPage(page, fields_of(launch + "zzzzzzzzzzzz = 1\n"));
  ExpectAllOnPage(page, fields_of(launch + "[[memset]]\ntarget = \"out\"\nstep = 1\nzzzzzzzzzzzz = 1\n"));
  ExpectAllOnPage(page, fields_of("[[workspace]]\nname = \"w\"\nbytes = 1\nzzzzzzzzzzzz = 1\n" + launch));
  ExpectAllOnPage(
      page,
      fields_of("[[tensor_map]]\nname = \"m\"\ntensor = \"x\"\ndims = [1]\nbox = [1]\nzzzzzzzzzzzz = 1\n" + launch));
  ExpectAllOnPage(page, fields_of("zzzzzzzzzzzz = 1\n" + launch));
}

TEST(EvaluationPage, ItsExampleReadsAndWritesBackTheSame) {
  const std::string page = Page("evaluation-json.md");
  const std::string example = Example(page, "json");
  Result<Evaluation> evaluation = EvaluationFromJson(example);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
  EXPECT_EQ(nlohmann::json::parse(EvaluationToJson(*evaluation)), nlohmann::json::parse(example));
}

TEST(EvaluationPage, HasEveryVerdictAndEveryField) {
  const std::string page = Page("evaluation-json.md");
  for (int i = 0; i <= static_cast<int>(Verdict::kDeviceLost); ++i) {
    EXPECT_THAT(page, HasSubstr('`' + std::string(VerdictName(static_cast<Verdict>(i))) + '`'));
  }
  Evaluation evaluation;
  evaluation.mismatch = Mismatch{};
  evaluation.findings.emplace_back();
  const nlohmann::json object = nlohmann::json::parse(EvaluationToJson(evaluation));
  for (const auto& [key, value] : object.items()) EXPECT_THAT(page, HasSubstr(key));
  for (const auto& [key, value] : object["mismatch"].items()) EXPECT_THAT(page, HasSubstr('`' + key + '`'));
  for (const auto& [key, value] : object["findings"][0].items()) EXPECT_THAT(page, HasSubstr('`' + key + '`'));
}

}  // namespace
}  // namespace hone
