// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the options that documents name against --help, in both directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
const fs::path kSourceFolder = HONE_SOURCE_DIR;

std::string ReadPage(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string HelpOf(const std::string& program, std::vector<std::string> command) {
  SubprocessOptions options;
  options.argv = {HONE_BINARY_DIR "/bin/" + program};
  options.argv.insert(options.argv.end(), command.begin(), command.end());
  options.argv.push_back("--help");
  options.environment = {"HOME=/tmp"};
  options.limit_seconds = 300;
  const Result<SubprocessResult> result = RunSubprocess(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result->out : "";
}

std::set<std::string> OptionsIn(const std::string& text) {
  // An underscore belongs to another program's option, such as nvcc's --use_fast_math.
  static const std::regex option(R"((^|[^\w-])(--[a-z][a-z0-9]*(-[a-z0-9]+)*)(?![\w]))");
  std::set<std::string> options;
  for (std::sregex_iterator it(text.begin(), text.end(), option), end; it != end; ++it) options.insert((*it)[2]);
  return options;
}

// Returns the options of each command, "bench strategies" -> {"--lot", …}, by what their help defines.
std::map<std::string, std::set<std::string>> CommandsOf(const std::string& program) {
  std::map<std::string, std::set<std::string>> commands;
  std::vector<std::vector<std::string>> due{{}};
  while (!due.empty()) {
    const std::vector<std::string> command = due.back();
    due.pop_back();
    std::string name;
    for (const std::string& word : command) name += (name.empty() ? "" : " ") + word;
    std::istringstream lines(HelpOf(program, command));
    bool subcommands = false;
    static const std::regex defined(R"(^\s+(-\w,\s*)?(--[a-z][\w-]*(,--[a-z][\w-]*)*).*)");
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (std::regex_match(line, found, defined)) {
        for (const std::string& option : OptionsIn(found[2])) commands[name].insert(option);
      }
      if (line.starts_with("Subcommands:")) {
        subcommands = true;
      } else if (subcommands && line.starts_with("  ") && line[2] != ' ') {
        std::vector<std::string> inner = command;
        inner.push_back(line.substr(2, line.find(' ', 2) - 2));
        due.push_back(inner);
      } else if (!line.starts_with("  ")) {
        subcommands = false;
      }
    }
    commands[name].insert("--help");
  }
  return commands;
}

const std::map<std::string, std::set<std::string>>& HoneCommands() {
  static const auto commands = CommandsOf("hone");
  return commands;
}

// Returns README.md and the pages of docs/, without design notes and results, which tell of earlier versions too.
std::map<std::string, std::string> Pages() {
  std::map<std::string, std::string> pages{{"README.md", ReadPage(kSourceFolder / "README.md")}};
  for (const auto& entry : fs::recursive_directory_iterator(kSourceFolder / "docs")) {
    const std::string page = fs::relative(entry.path(), kSourceFolder / "docs");
    if (entry.path().extension() != ".md" || page.starts_with("design/") || page.starts_with("results")) continue;
    pages[page] = ReadPage(entry.path());
  }
  return pages;
}

// Returns the texts of a page that stand between single backticks in running text.
std::vector<std::string> InlineCode(const std::string& page) {
  std::vector<std::string> spans;
  std::istringstream lines(page);
  bool block = false;
  static const std::regex code("`([^`]+)`");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) block = !block;
    if (block || line.starts_with("```")) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), code), end; it != end; ++it) spans.push_back((*it)[1]);
  }
  return spans;
}

// Commands in blocks are parsed by the programs themselves (the test start_page).
TEST(DocumentedOptions, ThoseThatRunningTextNamesExist) {
  std::set<std::string> all;
  for (const std::string program : {"hone", "hone-gnn"}) {
    for (const auto& [name, options] : program == "hone" ? HoneCommands() : CommandsOf(program))
      all.insert(options.begin(), options.end());
  }
  ASSERT_GT(all.size(), 150u);
  // Options of other programs that stand without the program's name: nvcc's, docker's, and build/bin/queue_faults'.
  for (const char* other : {"--cap-add", "--extra-device-vectorization", "--fmad", "--ftz", "--hone", "--maxrregcount",
                            "--prec-div", "--prec-sqrt"}) {
    EXPECT_FALSE(all.contains(other)) << other << " need not be excepted";
    all.insert(other);
  }
  int named = 0;
  for (const auto& [page, text] : Pages()) {
    for (const std::string& span : InlineCode(text)) {
      if (span.starts_with("--")) {
        for (const std::string& option : OptionsIn(span)) {
          EXPECT_TRUE(all.contains(option)) << page << " names " << option << " in `" << span << "`";
          ++named;
        }
      }
      if (!span.starts_with("hone ")) continue;
      // The longest command at the head of the span decides which options it may have.
      std::istringstream words(span.substr(5));
      std::string command;
      for (std::string word; words >> word;) {
        const std::string longer = command.empty() ? word : command + " " + word;
        if (!HoneCommands().contains(longer)) break;
        command = longer;
      }
      if (command.empty()) continue;
      for (const std::string& option : OptionsIn(span)) {
        EXPECT_TRUE(HoneCommands().at(command).contains(option))
            << page << ": hone " << command << " has no " << option << ", in `" << span << "`";
        ++named;
      }
    }
  }
  EXPECT_GT(named, 400);
}

TEST(DocumentedOptions, EveryOptionIsNamedOnSomePage) {
  std::set<std::string> named;
  for (const auto& [page, text] : Pages()) named.merge(OptionsIn(text));
  for (const auto& [command, options] : HoneCommands()) {
    for (const std::string& option : options)
      EXPECT_TRUE(named.contains(option)) << "hone " << command << " " << option << " stands on no page";
  }
}

TEST(DocumentedOptions, APageThatDocumentsACommandNamesAllItsOptions) {
  struct Row {
    const char *command, *page, *besides;  // besides: a command whose options the page refers to
  };
  std::map<std::string, std::string> pages = Pages();
  for (const Row& row : {Row{"bench strategies", "comparing-strategies.md", ""}, Row{"optimize", "optimizing.md", ""},
                         Row{"bench kernelbench", "kernelbench.md", "optimize"}, Row{"worker", "queue.md", ""},
                         Row{"workers", "queue.md", ""}, Row{"rights", "queue.md", ""}, Row{"clean", "queue.md", ""}}) {
    ASSERT_TRUE(HoneCommands().contains(row.command) && pages.contains(row.page)) << row.command;
    const std::set<std::string> named = OptionsIn(pages[row.page]);
    for (const std::string& option : HoneCommands().at(row.command)) {
      if (option == "--help" || (*row.besides != '\0' && HoneCommands().at(row.besides).contains(option))) continue;
      EXPECT_TRUE(named.contains(option))
          << row.page << " documents hone " << row.command << " and does not name " << option;
    }
  }
}

}  // namespace
}  // namespace hone
