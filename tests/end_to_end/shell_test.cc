// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone` and `hone-gnn` as a newcomer meets them in a shell: versions, help, examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/files/file.h"
#include "base/process/subprocess.h"

namespace hone {
namespace {

using nlohmann::json;
using testing::HasSubstr;
const std::string kSource = HONE_SOURCE_DIR;

struct Outcome {
  int status = -1;
  std::string out, err;
};

class Shell : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = MakeTemporaryDirectory();
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
  }
  Outcome Run(std::vector<std::string> argv, const std::string& folder = kSource) {
    SubprocessOptions options;
    options.argv = std::move(argv);
    options.environment = {"PATH=" HONE_BINARY_DIR "/bin:/usr/local/bin:/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                           "HONE_STATE=" + scratch_.path(), "HOME=" + scratch_.path()};
    options.working_directory = folder;
    options.limit_seconds = 300;
    Result<SubprocessResult> result = RunSubprocess(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    EXPECT_EQ(result->exit.signal, 0) << result->exit.Describe();
    return {result->exit.exit_status, result->out, result->err};
  }
  std::string program() const { return GetParam(); }
  // Runs the program under test with these arguments.
  Outcome Program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HONE_BINARY_DIR "/bin/" + program());
    return Run(std::move(arguments));
  }
  TemporaryDirectory scratch_;
};
INSTANTIATE_TEST_SUITE_P(Programs, Shell, testing::Values("hone", "hone-gnn"), [](const auto& test) {
  return std::string(test.param) == "hone" ? "hone" : "hone_gnn";
});

TEST_P(Shell, VersionSaysFromWhichCommitAndHowItWasBuilt) {
  const Outcome told = Program({"--version", "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  const json facts = json::parse(told.out);
  const Outcome text = Program({"--version"});
  EXPECT_THAT(text.out, testing::StartsWith(program() + " " + facts.at("version").get<std::string>() + "\n"));
  EXPECT_THAT(text.out, HasSubstr(facts.at("compiler").get<std::string>()));
  EXPECT_THAT(text.out, HasSubstr(facts.at("cuda_toolkit").is_null() ? "without CUDA" : facts.at("cuda_toolkit").get<std::string>()));
  // A source tree that is no git clone has no commit, and the program says so.
  const Outcome git = Run({"/usr/bin/env", "git", "-C", kSource, "rev-parse", "--show-cdup", "HEAD"});
  if (git.status == 0 && git.out.starts_with("\n")) {
    EXPECT_EQ(facts.at("commit").get<std::string>().size(), 40u);
    EXPECT_THAT(text.out, HasSubstr(facts.at("commit").get<std::string>()));
  } else {
    EXPECT_TRUE(facts.at("commit").is_null()) << told.out;
    EXPECT_THAT(text.out, HasSubstr("without a git repository"));
  }
  EXPECT_EQ(Program({"--json"}).status, 2) << "--json belongs to --version";
}

// Returns the help of every command of the program, by its words ("tasks check"); "" is the program itself.
std::map<std::string, std::string> HelpOfEveryCommand(const std::function<Outcome(std::vector<std::string>)>& program) {
  std::map<std::string, std::string> helps;
  std::vector<std::vector<std::string>> open = {{}};
  while (!open.empty()) {
    const std::vector<std::string> words = open.back();
    open.pop_back();
    std::vector<std::string> arguments = words;
    arguments.push_back("--help");
    const Outcome help = program(arguments);
    EXPECT_EQ(help.status, 0) << help.err;
    std::string path;
    for (const std::string& word : words) path += (path.empty() ? "" : " ") + word;
    helps[path] = help.out;
    std::istringstream lines(help.out);
    bool commands = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with(':') && !line.starts_with(' ')) commands = line == "Subcommands:";
      if (!commands || !line.starts_with("  ") || line.size() < 3 || line[2] == ' ') continue;
      open.push_back(words);
      open.back().push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return helps;
}

TEST_P(Shell, HelpOfEveryCommandGivesExamplesAndExitStatuses) {
  const auto helps = HelpOfEveryCommand([this](std::vector<std::string> arguments) { return Program(std::move(arguments)); });
  EXPECT_GT(helps.size(), 10u);
  for (const auto& [command, help] : helps) {
    EXPECT_THAT(help, HasSubstr("\nExamples:\n  ")) << command;
    EXPECT_THAT(help, HasSubstr("\nExit status:\n  0  ")) << command;
    EXPECT_THAT(help, HasSubstr("\n  2  ")) << command;
  }
}

TEST_P(Shell, NoListOfOptionsIsLongerThanADozen) {
  const auto helps = HelpOfEveryCommand([this](std::vector<std::string> arguments) { return Program(std::move(arguments)); });
  for (const auto& [command, help] : helps) {
    std::istringstream lines(help);
    std::string group;
    int options = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with(':') && !line.starts_with(' ')) {
        group = line;
        options = 0;
      }
      options += line.starts_with("  -");
      EXPECT_LE(options, 12) << program() << " " << command << ", " << group << " (group the options in guide.cc)";
    }
  }
}

TEST_P(Shell, HelpAndItsOptionSayTheSame) {
  EXPECT_EQ(Program({"help"}).out, Program({"--help"}).out);
  const std::vector<std::string> command = program() == "hone" ? std::vector<std::string>{"tasks", "check"} : std::vector<std::string>{"bench", "epoch"};
  EXPECT_EQ(Program({"help", command[0], command[1]}).out, Program({command[0], command[1], "--help"}).out);
  const Outcome unknown = Program({"help", command[0] + "s"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean '" + command[0] + "'"));
}

// Every example that help shows must work. The cheap ones are run in their order, in a folder with the source tree's
// tasks and examples; the others are only parsed.
TEST_P(Shell, ExamplesOfHelpWork) {
  for (const char* folder : {"tasks", "examples"}) std::filesystem::create_symlink(kSource + "/" + folder, scratch_ / folder);
  const json examples = json::parse(Program({"__examples"}).out);
  EXPECT_GT(examples.size(), 15u);
  const auto helps = HelpOfEveryCommand([this](std::vector<std::string> arguments) { return Program(std::move(arguments)); });
  int ran = 0;
  for (const json& example : examples) {
    const std::string line = example.at("line"), command = example.at("command");
    ASSERT_TRUE(helps.contains(command)) << "there is no command '" << command << "'";
    EXPECT_THAT(helps.at(command), HasSubstr(line));
    if (example.at("runs").get<bool>()) {
      const Outcome outcome = Run({"/bin/bash", "-c", "CUDA_VISIBLE_DEVICES= " + line}, scratch_.path());
      EXPECT_EQ(outcome.status, 0) << line << "\n" << outcome.err;
      ++ran;
    } else {
      // These words follow the program's name. The shell handles a redirection or substitution.
      const std::string name = program() + " ";
      std::string command_words = line.substr(line.find(name) + name.size());
      command_words = command_words.substr(0, command_words.find(line.starts_with("source") ? ")" : " > "));
      const Outcome outcome = Run({"/bin/bash", "-c", program() + " __parse " + command_words}, scratch_.path());
      EXPECT_EQ(outcome.status, 0) << line << "\n" << outcome.err;
    }
  }
  EXPECT_GT(ran, 5);
}

// Returns what bash would offer for `line` with the cursor at its end: COMPREPLY, sorted.
std::vector<std::string> BashOffers(const std::function<Outcome(std::vector<std::string>)>& run, const std::string& program, const std::string& line) {
  // The script splits the line as bash does for a completion: at blanks, with ':' and '=' as words of their own.
  const std::string script = R"sh(
source <("$0" completion bash)
line=$1
COMP_WORDS=(); word=
for ((i = 0; i < ${#line}; i++)); do
  c=${line:i:1}
  case $c in
    ' ') [[ -n $word ]] && COMP_WORDS+=("$word"); word= ;;
    [:=]) [[ -n $word ]] && COMP_WORDS+=("$word"); COMP_WORDS+=("$c"); word= ;;
    *) word+=$c ;;
  esac
done
if [[ -n $word || $c == ' ' ]]; then COMP_WORDS+=("$word"); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_${0//-/_}
printf '%s\n' "${COMPREPLY[@]}" | sort
)sh";
  const Outcome outcome = run({"/bin/bash", "-c", script, program, line});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::vector<std::string> offers;
  for (std::string offer; std::getline(lines, offer);) {
    if (!offer.empty()) offers.push_back(offer);
  }
  return offers;
}

TEST_P(Shell, CompletionScriptsAreSoundWhereTheShellIsHere) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome script = Program({"completion", shell});
    ASSERT_EQ(script.status, 0) << script.err;
    EXPECT_THAT(script.out, HasSubstr(program()));
    std::ofstream(scratch_ / shell) << script.out;
    const Result<std::string> path = FindExecutable(shell, {"/bin", "/usr/bin"});
    if (!path.ok()) continue;
    const Outcome parsed = Run({*path, "-n", scratch_ / shell});
    EXPECT_EQ(parsed.status, 0) << shell << ": " << parsed.err;
  }
  EXPECT_EQ(Program({"completion", "tcsh"}).status, 2);
}

TEST(BashCompletion, OffersCommandsOptionsValuesTasksAndFiles) {
  const std::string hone = "hone";
  const TemporaryDirectory scratch = std::move(MakeTemporaryDirectory()).value();
  std::filesystem::create_symlink(kSource + "/tasks", scratch / "tasks");
  std::ofstream(scratch / "mine.cu") << "";
  std::ofstream(scratch / "notes.txt") << "";
  const auto run = [&](std::vector<std::string> argv) {
    SubprocessOptions options;
    options.argv = std::move(argv);
    options.environment = {"PATH=" HONE_BINARY_DIR "/bin:/usr/bin:/bin", "HONE_STATE=" + scratch.path()};
    options.working_directory = scratch.path();
    const SubprocessResult result = RunSubprocess(options).value();
    return Outcome{result.exit.exit_status, result.out, result.err};
  };
  const auto offers = [&](const std::string& line, const std::string& program = "hone") { return BashOffers(run, program, line); };
  EXPECT_THAT(offers("hone ev"), testing::ElementsAre("eval"));
  EXPECT_THAT(offers("hone "), testing::IsSupersetOf({"devices", "doctor", "tasks", "optimize", "help"}));
  EXPECT_THAT(offers("hone tasks "), testing::IsSupersetOf({"check", "show"}));
  EXPECT_THAT(offers("hone eval rms"), testing::UnorderedElementsAre("rmsnorm", "rmsnorm_quant_fp8"));
  EXPECT_THAT(offers("hone eval rmsnorm "), testing::UnorderedElementsAre("mine.cu", "tasks"));
  EXPECT_THAT(offers("hone eval rmsnorm mine.cu --no-"), testing::UnorderedElementsAre("--no-cache", "--no-calls", "--no-sim", "--no-time", "--no-warm"));
  EXPECT_THAT(offers("hone optimize --strategy t"), testing::UnorderedElementsAre("team", "tree"));
  EXPECT_THAT(offers("hone optimize --strategy=ref"), testing::UnorderedElementsAre("refine", "reflexion"));
  // Bash replaces only the part behind the colon.
  EXPECT_THAT(offers("hone eval relu mine.cu --device sim:"), testing::UnorderedElementsAre("a100", "h100", "h200", "rtx4090"));
  EXPECT_THAT(offers("hone eval relu mine.cu --device sim:h1"), testing::ElementsAre("h100"));
  EXPECT_THAT(offers("hone worker --profiles g"), testing::ElementsAre("gains"));
  EXPECT_THAT(offers("hone show l"), testing::ElementsAre("last"));
  EXPECT_THAT(offers("hone-gnn train graph --model sage-", "hone-gnn"), testing::ElementsAre("sage-ri"));
  EXPECT_THAT(offers("hone-gnn train graph --device cuda:", "hone-gnn"), testing::ElementsAre("0"));
  EXPECT_THAT(offers("hone-gnn bench ", "hone-gnn"), testing::UnorderedElementsAre("epoch", "pipeline", "sampler"));
}

TEST_P(Shell, EveryCommandHasAManualPageThatNamesEveryOption) {
  const std::string folder = scratch_ / "man";
  const Outcome made = Program({"__man", folder});
  ASSERT_EQ(made.status, 0) << made.err;
  const auto helps = HelpOfEveryCommand([this](std::vector<std::string> arguments) { return Program(std::move(arguments)); });
  const std::regex option(R"(\n  (?:-[a-z],)?(--[a-z-]+))");
  for (const auto& [command, help] : helps) {
    std::string name = program() + (command.empty() ? "" : "-" + command);
    std::replace(name.begin(), name.end(), ' ', '-');
    const Result<std::string> page = ReadFile(folder + "/" + name + ".1");
    ASSERT_TRUE(page.ok()) << page.status().message();
    std::string plain;
    for (const char c : *page) {
      if (c != '\\') plain += c;
    }
    EXPECT_THAT(plain, testing::StartsWith(".TH ")) << name;
    for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it) {
      EXPECT_THAT(plain, HasSubstr((*it)[1].str())) << name;
    }
    EXPECT_THAT(plain, HasSubstr(".SH EXIT STATUS")) << name;
  }
}

TEST_P(Shell, DoctorNamesKeysAndNeverPrintsThem) {
  const Outcome told = Run({"/usr/bin/env", "OPENAI_API_KEY=sk-never-to-be-seen", HONE_BINARY_DIR "/bin/" + program(), "doctor"});
  EXPECT_EQ(told.status, 0) << told.out << told.err;
  EXPECT_THAT(told.out, testing::Not(HasSubstr("sk-never")));
  if (program() == "hone") {
    EXPECT_THAT(told.out, HasSubstr("OPENAI_API_KEY is set"));
  }
  const json facts = json::parse(Program({"doctor", "--json"}).out);
  EXPECT_TRUE(facts.at("able").get<bool>());
  EXPECT_FALSE(facts.at("checks").empty());
}

TEST(TasksShow, TellsShapesToleranceAndHowToJudgeTheSeed) {
  SubprocessOptions options;
  options.argv = {HONE_BINARY_DIR "/bin/hone", "tasks", "show", "rmsnorm"};
  options.environment = {"HOME=/tmp"};
  options.working_directory = kSource;
  const SubprocessResult text = RunSubprocess(options).value();
  EXPECT_EQ(text.exit.exit_status, 0) << text.err;
  for (const char* told : {"out = x / sqrt", "[batch, features, inner]", "float32", "0.0005", "hone eval rmsnorm", "seed.cu", "eps", "drawn afresh"}) {
    EXPECT_THAT(text.out, HasSubstr(told));
  }
  options.argv.push_back("--json");
  const json task = json::parse(RunSubprocess(options).value().out);
  EXPECT_EQ(task.at("tolerance").at("out").at("c_max"), 5e-4);
  EXPECT_GT(task.at("cases").at(0).at("least_us").get<double>(), 0);
  EXPECT_EQ(task.at("files").size(), 4u) << task.at("files");
}

}  // namespace
}  // namespace hone
