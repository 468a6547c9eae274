// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests parse the options as a user types them, and compare docs/models.md with the program.
#include "hone/model_options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <regex>

#include "base/files/file.h"
#include "hone/run_options_flags.h"
#include "hone/waiting_runs.h"
#include "tuner/model/model_spec.h"
#include "tuner/model/prices.h"
#include "tuner/run/scripted_evaluator.h"

namespace hone {
namespace {

using testing::HasSubstr;

struct Parsed {
  explicit Parsed(const std::string& arguments) {
    AddModelFlags(app, options);
    app.add_option("task", task);
    app.parse(arguments, false);
  }
  CLI::App app;
  ModelFlags options;
  std::string task;
};

std::string Page() { return ReadFile(HONE_SOURCE_DIR "/docs/models.md").value(); }

TEST(ModelFlags, AModelMayBeRepeatedAndTakesOneWordEach) {
  const Parsed parsed(
      "--model planner=anthropic:x rmsnorm --model openai:y --base-url http://h --key-env K "
      "--prices p.toml --request-timeout 9 --stall-timeout 8 --max-retries 7");
  EXPECT_EQ(parsed.task, "rmsnorm");
  EXPECT_EQ(ModelSpecification(parsed.options), "planner=anthropic:x\nopenai:y");
  EXPECT_EQ(parsed.options.base_url + parsed.options.key_env + parsed.options.prices, "http://hKp.toml");
  EXPECT_EQ(parsed.options.request_seconds, 9);
  EXPECT_EQ(parsed.options.stall_seconds, 8);
  EXPECT_EQ(parsed.options.max_retries, 7);
  EXPECT_EQ(ModelSpecification(Parsed("").options), "builtin");
  EXPECT_THROW(Parsed("--stall-timeout 0"), CLI::ValidationError);
  EXPECT_THROW(Parsed("--max-retries -1"), CLI::ValidationError);
}

class WithoutCute : public ScriptedEvaluator {
 public:
  WithoutCute() : ScriptedEvaluator([](const std::string&, const Binding&, const Dims&) { return 1.0; }) {}
  Status CanInclude(std::string_view) const override { return Status::Unavailable("CUTLASS is not here"); }
};

TEST(RunFlags, WhereCuteIsMissingAnyMeansCuda) {
  const WithoutCute without;
  RunOptions options;
  AskForCudaIfCuteIsMissing(options, without);
  EXPECT_EQ(options.target, "cuda") << "an answer in CuTe is told so, and not judged in vain";
  options.target = "cute";
  EXPECT_THAT(CheckTarget(options, without).message(), HasSubstr("needs a language model"));
  options.model = "openai:x";
  EXPECT_THAT(CheckTarget(options, without).message(), HasSubstr("CUTLASS is not here"));
  options.target = "any";
  AskForCudaIfCuteIsMissing(options,
                            ScriptedEvaluator([](const std::string&, const Binding&, const Dims&) { return 1.0; }));
  EXPECT_EQ(options.target, "any");
}

TEST(WaitingRuns, AllAreNamedWithWhatTheyWaitForAndHowToGoOn) {
  ModelFlags models;
  models.models = {"planner=openai:x", "mailbox:mail"};
  EXPECT_TRUE(WaitingStatus({}, 4, models).ok());
  const Status status =
      WaitingStatus({{"b.relu.tree", {2, 0, ""}},
                     {"b.relu.refine", {1, 3, "evaluation 5f waits in jobs; run `hone worker --spool jobs --once`"}}},
                    4, models);
  EXPECT_EQ(status.code(), StatusCode::kPending);
  EXPECT_EQ(status.message(),
            "2 of 4 runs wait:\n"
            "hone:   b.relu.tree for 2 answers\n"
            "hone:   b.relu.refine for 1 answer and 3 evaluations\n"
            "hone: questions lie in mail/requests/*.md; each answer goes to mail/replies under the same name\n"
            "hone: evaluation 5f waits in jobs; run `hone worker --spool jobs --once`\n"
            "hone: then give the same command again: every run goes on from where it is");
  EXPECT_THAT(WaitingStatus({{"b.relu.tree", {0, 1, "judge it"}}}, 1, models).message(),
              testing::StartsWith("1 of 1 runs waits:\nhone:   b.relu.tree for 1 evaluation\nhone: judge it\n"));
}

TEST(RunFlags, AnAgentAloneNeedsNoStrategyAndKeepsOneThatIsNamed) {
  const auto strategy = [](const std::string& arguments) {
    CLI::App app;
    RunFlags flags;
    AddRunFlags(app, flags);
    app.parse(arguments, false);
    return ResolveRunFlags(flags).value().options.strategy;
  };
  EXPECT_EQ(strategy("--model agent:x"), "agent");
  EXPECT_EQ(strategy("--model agent:x --strategy refine"), "refine");
  EXPECT_EQ(strategy("--model agent=agent:x --model openai:y"), "refine");
  CLI::App app;
  RunFlags flags;
  AddRunFlags(app, flags);
  app.parse("--model agent:x --suspend", false);
  EXPECT_THAT(ResolveRunFlags(flags).status().message(), HasSubstr("an agent works only while the run does"));
}

TEST(ModelFlags, TheProviderIsMadeFromThem) {
  EXPECT_EQ(MakeModelProvider(Parsed("").options, nullptr).value()->Name(), "builtin");
  ModelFlags recorded;  // a resumed run gives them as one text
  recorded.models = {"coder=exec:cat\nbuiltin"};
  EXPECT_EQ(MakeModelProvider(recorded, nullptr).value()->Name(), "coder=exec, others=builtin");
  recorded.roles = {"writer"};
  EXPECT_THAT(MakeModelProvider(recorded, nullptr).status().message(), HasSubstr("no role 'coder'"));
  EXPECT_THAT(
      MakeModelProvider(Parsed("--model openai:x --key-env HONE_NO_SUCH_VARIABLE").options, nullptr).status().message(),
      HasSubstr("HONE_NO_SUCH_VARIABLE is not set"));
}

TEST(CostLimit, IsRefusedWhereNoReplyHasAPriceAndWarnedOfWhereSomeMayHaveNone) {
  RunOptions options;
  const auto check = [&](const std::string& models) {
    return CheckCostLimit(options, *MakeModelProvider(Parsed("--key-env HOME " + models).options, nullptr).value());
  };
  EXPECT_EQ(check("--model openai:unheard-of@http://127.0.0.1:9/v1").value(), "") << "no limit, no word";
  options.max_cost_usd = 2.5;
  EXPECT_EQ(check("").value(), "") << "builtin costs nothing";
  const Status unpriced = check("--model openai:unheard-of@http://127.0.0.1:9/v1").status();
  EXPECT_EQ(unpriced.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unpriced.message(),
              testing::AllOf(HasSubstr("--max-cost 2.5"), HasSubstr("unheard-of"), HasSubstr("--prices FILE")));
  EXPECT_FALSE(check("--model coder=mailbox:/tmp/nobody --model builtin").ok()) << "one role is enough";
  EXPECT_THAT(check("--model exec:cat").value(), HasSubstr("the run ends at the first reply without one"));
}

TEST(ModelsPage, ListsEveryOptionWithItsDefault) {
  const Parsed parsed("");
  const std::string page = Page();
  const size_t begin = page.find("## Options");
  const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  std::vector<std::string> listed, there;
  std::map<std::string, std::string> defaults;
  const std::regex row(R"(\n\| `(--[a-z-]+)` \| ([^|]*) \|)");
  for (std::sregex_iterator it(section.begin(), section.end(), row), end; it != end; ++it) {
    listed.push_back((*it)[1]);
    defaults[(*it)[1]] = (*it)[2];
  }
  for (const CLI::Option* option : parsed.app.get_options()) {
    const std::string name = option->get_name();
    if (name == "task" || name == "--help") continue;
    there.push_back(name);
    if (!option->get_default_str().empty()) {
      EXPECT_EQ(defaults[name], option->get_default_str()) << name;
    }
  }
  EXPECT_EQ(listed, there);
  EXPECT_EQ(there.size(), 7u);
}

TEST(ModelsPage, NamesEveryProviderAndRole) {
  const std::string page = Page();
  for (const ProviderKind& kind : ProviderKinds()) {
    const std::string usage = kind.usage;
    EXPECT_THAT(page, HasSubstr("| `" + usage.substr(0, usage.find(' ')))) << usage;
  }
  for (const std::string& role : ProviderOptions().roles) EXPECT_THAT(page, HasSubstr("`" + role + "`"));
}

TEST(ModelsPage, TimeLimitsAreThoseOfTheProgram) {
  const ProviderOptions options;
  const ModelFlags flags;
  EXPECT_EQ(options.stall_seconds, flags.stall_seconds);
  EXPECT_EQ(options.max_retries, flags.max_retries);
  EXPECT_EQ(options.request_seconds, flags.request_seconds);
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr(fmt::format("| to reach the endpoint | {} |", options.connect_seconds)));
  EXPECT_THAT(
      page, HasSubstr(fmt::format("| from asking to the first byte of the answer | {} |", options.first_byte_seconds)));
  EXPECT_THAT(page, HasSubstr(fmt::format("| between two bytes | {} |", options.stall_seconds)));
}

TEST(ModelsPage, PricesAreThoseOfTheProgram) {
  const PriceTable& table = PriceTable::BuiltIn();
  const std::string page = Page();
  std::string rows;
  for (const Price& p : table.prices()) {
    rows += fmt::format("| `{}` | {} | {} | {} | {} |\n", p.model, p.input, p.cached_input, p.output,
                        p.up_to_input == 0 ? "" : fmt::format("{}", p.up_to_input));
  }
  EXPECT_THAT(page, HasSubstr("The built-in table, as of " + table.as_of() + ":"));
  const size_t begin = page.find("|---|---:|---:|---:|---:|\n");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(page.substr(begin + 26), rows) << "the table at the end of docs/models.md is to be:\n" << rows;
}

TEST(ModelsPage, TheExampleOfAPriceFileIsOne) {
  const std::string page = Page();
  const size_t begin = page.find("```toml\n") + 8;
  const PriceTable table = PriceTable::Parse(page.substr(begin, page.find("```", begin) - begin), "example").value();
  ASSERT_NE(table.Find("openai:my-model"), nullptr);
  EXPECT_EQ(table.Find("openai:my-model")->up_to_input, 200000);
}

}  // namespace
}  // namespace hone
