// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that what the documents say about the tree, the links and the commands is true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/process/subprocess.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = HONE_SOURCE_DIR;

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<fs::path> Documents() {
  std::vector<fs::path> documents;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  return documents;
}

std::string Hone(const std::vector<std::string>& arguments) {
  SubprocessOptions options;
  options.argv = {HONE_BINARY_DIR "/bin/hone"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.environment = {"HOME=/tmp"};
  options.limit_seconds = 300;
  Result<SubprocessResult> result = RunSubprocess(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result->out : "";
}

TEST(Documents, LinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))");
  int links = 0;
  for (const fs::path& document : Documents()) {
    const std::string text = Read(document);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      EXPECT_TRUE(fs::exists(document.parent_path() / (*it)[1].str())) << document << " links to " << (*it)[1];
      ++links;
    }
  }
  EXPECT_GT(links, 5);
}

// Returns whether git tracks nothing in a folder of a clone: ctest's Testing/, or a folder that a user keeps there.
bool IsLeftover(const std::string& folder) {
  SubprocessOptions options;
  options.argv = {"/usr/bin/git", "-C", kRoot.string(), "ls-files", "--", folder};
  const Result<SubprocessResult> listed = RunSubprocess(options);
  return listed.ok() && listed->exit.success() && listed->out_bytes == 0;
}

TEST(Documents, ReadmeShowsTheTreeAsItIs) {
  const std::string readme = Read(kRoot / "README.md");
  const size_t begin = readme.find("```\napps/");
  ASSERT_NE(begin, std::string::npos);
  const std::string tree = readme.substr(begin + 4, readme.find("\n```", begin + 4) - begin - 4);
  std::istringstream lines(tree);
  std::vector<std::string> named;
  for (std::string line; std::getline(lines, line);) {
    const std::string path = line.substr(0, line.find('/', line.rfind('/', line.find(' '))) + 1);
    const std::string folder = line.substr(0, line.find(' '));
    EXPECT_TRUE(fs::is_directory(kRoot / folder)) << folder << " is in README's tree, not on disk";
    named.push_back(folder.substr(0, folder.find('/')));
  }
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name[0] == '.' || name.rfind("build", 0) == 0 || IsLeftover(name)) continue;
    EXPECT_THAT(named, testing::Contains(name)) << name << "/ is on disk, not in README's tree";
  }
}

TEST(Documents, ReadmeNamesEveryCommandAndNoOther) {
  const std::string help = Hone({"--help"});
  const size_t begin = help.find("Subcommands:");
  ASSERT_NE(begin, std::string::npos) << help;
  std::vector<std::string> commands;
  std::istringstream lines(help.substr(help.find('\n', begin) + 1));
  for (std::string line; std::getline(lines, line) && line.rfind("  ", 0) == 0;) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (line[2] != ' ') commands.push_back(command);
  }
  ASSERT_GE(commands.size(), 8u);
  const std::string readme = Read(kRoot / "README.md");
  for (const std::string& command : commands) {
    EXPECT_NE(readme.find("`hone " + command), std::string::npos) << "README does not mention hone " << command;
  }
  const std::regex mentioned(R"(`hone ([a-z]+))");
  for (std::sregex_iterator it(readme.begin(), readme.end(), mentioned), end; it != end; ++it) {
    EXPECT_THAT(commands, testing::Contains((*it)[1].str())) << "README mentions a command there is none of";
  }
}

TEST(Documents, EveryTaskIsListed) {
  size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "tasks")) folders += fs::exists(entry.path() / "task.toml");
  const std::string listed = Hone({"tasks"});
  EXPECT_EQ(static_cast<size_t>(std::count(listed.begin(), listed.end(), '\n')), folders) << listed;
  EXPECT_GE(folders, 12u);
}

// Returns the kinds of findings that the rules draw from a profile.
std::set<std::string> KindsOfFindings() {
  const std::string rules = Read(kRoot / "src/tuner/evaluate/profiling/profile_rules.cc");
  std::set<std::string> kinds;
  // The kinds are in these places: AddFinding("kind", …); a stall's rule {"stall_…", "kind", …}; push_back({"kind", …) for
  // plain information.
  for (const char* pattern : {R"re(AddFinding\(\s*(?:\w+ \? )?"([a-z_]+)")re", R"re(\{"stall_[a-z_]+", "([a-z_]+)")re",
                              R"re((?:push_back|keep)\(\{"([a-z_]+)")re"}) {
    const std::regex kind(pattern);
    for (std::sregex_iterator it(rules.begin(), rules.end(), kind), end; it != end; ++it) kinds.insert((*it)[1]);
  }
  EXPECT_GT(kinds.size(), 20u);
  return kinds;
}

TEST(Documents, EveryKindOfFindingIsExplained) {
  const std::string page = Read(kRoot / "docs/profiles.md");
  const std::set<std::string> kinds = KindsOfFindings();
  for (const std::string& kind : kinds) EXPECT_NE(page.find("`" + kind + "`"), std::string::npos) << kind;
}

// The tables name a file under src/tuner and, after it, identifiers or texts that stand in it.
TEST(Documents, MechanismsOfThePapersStandWhereThePageSays) {
  const std::string page = Read(kRoot / "docs/strategies-papers.md");
  const size_t begin = page.find("# Where each paper's mechanism stands");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream lines(page.substr(begin));
  const std::regex code("`([^`]+)`"), row(R"(^\| [^|]+ \| ([^|]+) \| [^|]+ \|$)");
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (line.find("| where |") != std::string::npos || line.find('`') == std::string::npos || line[0] != '|') continue;
    ASSERT_TRUE(std::regex_match(line, found, row)) << line;
    const std::string cell = found[1];
    std::sregex_iterator it(cell.begin(), cell.end(), code), end;
    ASSERT_TRUE(it != end) << line;
    const fs::path file = kRoot / "src/tuner" / (*it)[1].str();
    ASSERT_TRUE(fs::is_regular_file(file)) << line;
    const std::string text = Read(file);
    for (++it; it != end; ++it) EXPECT_NE(text.find((*it)[1]), std::string::npos) << file << " has no " << (*it)[1];
    ++rows;
  }
  EXPECT_GE(rows, 30);
}

// A hint is chosen by the finding that it answers, so that a misspelt kind would never be found.
TEST(Documents, MenusAnswerKindsOfFindingsThatThereAre) {
  const std::set<std::string> kinds = KindsOfFindings();
  const std::regex answers(R"(<!-- answers:([a-z_ ]*)-->)");
  int entries = 0;
  for (const auto& file : fs::directory_iterator(kRoot / "src/tuner/prompts")) {
    if (!file.path().filename().string().starts_with("class_")) continue;
    const std::string menu = Read(file.path());
    for (std::sregex_iterator it(menu.begin(), menu.end(), answers), end; it != end; ++it) {
      std::istringstream words((*it)[1].str());
      for (std::string kind; words >> kind;) EXPECT_THAT(kinds, testing::Contains(kind)) << file.path();
      ++entries;
    }
  }
  EXPECT_GT(entries, 60);
}

// Returns the rows of docs/words.md, table by table: "| **cold, warm** | … |" gives "cold, warm".
std::vector<std::vector<std::string>> ExplainedWords(const std::string& page) {
  std::vector<std::vector<std::string>> tables;
  const std::regex row(R"(^\| \*\*([^*]+)\*\* \| (.{20,}) \|$)");
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line == "|---|---|") tables.emplace_back();
    std::smatch found;
    if (!line.starts_with("| **")) continue;
    EXPECT_TRUE(std::regex_match(line, found, row) && !tables.empty()) << line;
    if (found.empty() || tables.empty()) continue;
    tables.back().push_back(found[1].str());
  }
  return tables;
}

TEST(Documents, HouseWordsAreExplainedInOnePlaceThatEveryPageLinks) {
  const auto tables = ExplainedWords(Read(kRoot / "docs/words.md"));
  ASSERT_EQ(tables.size(), 2u);
  std::set<std::string> all;
  for (const auto& rows : tables) {
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end())) << testing::PrintToString(rows);
    for (const std::string& row : rows) {
      std::istringstream words(row);
      for (std::string word; std::getline(words >> std::ws, word, ',');) {
        EXPECT_TRUE(all.insert(word).second) << word << " is explained twice";
      }
    }
  }
  EXPECT_GE(all.size(), 30u);
  std::map<std::string, int> pages_with;
  const std::regex named(R"(Words such as ([^\[]+) are explained in \[words\.md\]\((?:\.\./)?words\.md\))");
  for (const fs::path& document : Documents()) {
    const fs::path page = fs::relative(document, kRoot / "docs");
    const std::string text = Read(document);
    if (page == "words.md") continue;
    for (const std::string& word : all) pages_with[word] += text.find(word) != std::string::npos;
    const bool starts_somewhere_else =
        page == "index.md" || page == "results.md" || *page.begin() == "results" || *page.begin() == "design" || *page.begin() == "..";
    std::smatch found;
    if (!std::regex_search(text, found, named)) {
      EXPECT_TRUE(starts_somewhere_else)
          << document << " has no sentence \"Words such as *…* are explained in [words.md](words.md).\"";
      continue;
    }
    const std::regex italic(R"(\*([^*]+)\*)");
    const std::string list = found[1];
    for (std::sregex_iterator it(list.begin(), list.end(), italic), end; it != end; ++it) {
      EXPECT_EQ(all.count((*it)[1].str()), 1u) << document << " says that words.md explains " << (*it)[1];
    }
  }
  for (const std::string& word : all) EXPECT_GE(pages_with[word], 2) << "few pages have the word " << word;
}

// Each row has a line of a script of the judge of finished modules, and what a page says because of it.
TEST(Documents, FinishedModulesAreJudgedByTheNumbersThatThePagesState) {
  struct Row {
    const char *script, *line, *page, *stated;
  };
  const Row rows[] = {
      {"referee.py", "PLACES = 4096 ", "finished-modules.md", "at 4,096 secret places"},
      {"referee.py", "WINDOW_SECONDS = 30e-3 ", "finished-modules.md", "fill 30 ms"},
      {"referee.py", "EARLY_SHARE, EARLY_SECONDS = 0.005, 30e-6 ", "finished-modules.md", "Up to 0.5 % of a timing, or 30 us"},
      {"referee.py", "EARLY_SHARE, EARLY_SECONDS = 0.005, 30e-6 ", "attacks.md", "0.5 % of a timing and 30 us"},
      {"referee.py", "SLOWED = 1.1 ", "finished-modules.md", "more than 1.1 times as fast alone"},
      {"referee.py", "SLOWED = 1.1 ", "attacks.md", "more than 1.1 times as fast then counts"},
      {"referee.py", "ROOM = 4.0 ", "finished-modules.md", "four times what the original errs"},
      {"referee.py", "LOOSE_RMS, LOOSE_MAX = 0.01, 0.02 ", "finished-modules.md", "but not below 0.01 (`c_rms`) and 0.02 (`c_max`)"},
      {"referee.py", "NARROW = 16.0\n", "finished-modules.md", "narrowed to 16 times the original's error"},
      {"referee.py", "CHANCE = 0.05 ", "finished-modules.md", "by more than 0.05 of its results' rms"},
      {"referee.py", "FEW = 16 ", "finished-modules.md", "fewer than 16 numbers"},
      {"referee.py", "STRESS_BYTES = 6 << 30 ", "finished-modules.md", "more than 6 GiB"},
      {"referee.py", "MOST_QUADS = 10, 40\n", "finished-modules.md", "after 40 quads or 10 s"},
      {"lifted.py", "LEAST_LIFTED_QUADS = 6 ", "finished-modules.md", "not before 6 quads"},
      {"lifted.py", "LEAST_LIFTED_QUADS = 6 ", "attacks.md", "passes six quads"},
      {"lifted.py", "MOST_CALLS_LIFTED = 3, 50\n", "attacks.md", "up to 50 launches"},
      {"lifted.py", "MOST_SLOTS = 4 ", "finished-modules.md", "four sets if memory allows"},
      {"lifted.py", "MOST_SLOTS = 4 ", "attacks.md", "at most four sets of inputs"},
      {"lifted.py", "COMPARED_BYTES = 256 << 20 ", "finished-modules.md", "256 MiB of results"},
      {"lift.py", "MOST_KEPT = 3 << 30 ", "finished-modules.md", "more than 3 GiB of GPU memory"},
      {"lift.py", "GUARD, ALIGN, CHUNK = 512, ", "finished-modules.md", "has at least 512 bytes"},
      {"player.py", "GUARD_BYTES = 4096 ", "finished-modules.md", "in the first 4 KiB of the gap"},
  };
  for (const Row& row : rows) {
    EXPECT_NE(Read(kRoot / "src/tuner/torch" / row.script).find(row.line), std::string::npos) << row.script << " has no " << row.line;
    EXPECT_NE(Read(kRoot / "docs" / row.page).find(row.stated), std::string::npos) << row.page << " does not say: " << row.stated;
  }
}

TEST(Documents, SourcesCarryTheirLicence) {
  for (const char* folder : {"src", "apps", "include", "tests", "benchmarks"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cc" && extension != ".h" && extension != ".cu") continue;
      std::ifstream file(entry.path());
      std::string first;
      std::getline(file, first);
      EXPECT_NE(first.find("SPDX-FileCopyrightText"), std::string::npos) << entry.path();
    }
  }
}

}  // namespace
}  // namespace hone
