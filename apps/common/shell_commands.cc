// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "common/shell_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text/json_text.h"
#include "base/text/nearest_word.h"
#include "common/build_facts.h"
#include "common/completion.h"
#include "common/man_page.h"
#include "common/standard_output.h"

namespace hone {
namespace {

// Prints the help of the command that `command_path` name. Where there is no such command, prints an error and returns
// status 2.
int PrintHelp(const CLI::App& app, const Guide& guide, const std::vector<std::string>& command_path) {
  const CLI::App* command = &app;
  for (const std::string& word : command_path) {
    std::vector<std::string> subcommand_names;
    const CLI::App* subcommand = nullptr;
    for (const CLI::App* sub : command->get_subcommands({})) {
      subcommand_names.push_back(sub->get_name());
      if (sub->get_name() == word) subcommand = sub;
    }
    if (subcommand == nullptr) {
      const std::string path = CommandPath(*command);
      const std::string name = guide.program + (path.empty() ? "" : " " + path);
      PrintError("{}: {} has no command '{}'{}; {}\n", guide.program, name, word, DidYouMean(word, subcommand_names),
                 subcommand_names.empty() ? fmt::format("`{} --help` describes it", name)
                                          : fmt::format("known: {}", fmt::join(subcommand_names, ", ")));
      return 2;
    }
    command = subcommand;
  }
  // This calls the formatter: App::help() would describe the `help` command that was just parsed.
  Print("{}", command->get_formatter()->make_help(command, "", CLI::AppFormatMode::Normal));
  return 0;
}

}  // namespace

void RegisterShellCommands(CLI::App& app, const Guide& guide, int& exit_status) {
  auto command_words = std::make_shared<std::vector<std::string>>();
  CLI::App* help = app.add_subcommand("help", "describe a command: the same as its --help");
  help->add_option("command", *command_words,
                   "the command, with its subcommand if it has one; without a command, the program itself");
  help->callback([command_words, &app, &guide, &exit_status] { exit_status = PrintHelp(app, guide, *command_words); });

  auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "print a script that completes command lines in a shell");
  completion->add_option("shell", *shell, "the shell that will read the script")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([shell, &guide] { Print("{}", CompletionScript(guide.program, *shell)); });
}

std::optional<int> RunShellCommand(CLI::App& app, const Guide& guide, int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  const std::string name = argv[1];
  const std::vector<std::string> words_typed(argv + 2, argv + argc);
  if (name == "__complete") {
    Print("{}", CompletionLines(Complete(app, guide, words_typed)));
    return FlushOutput(guide.program.c_str(), 0);
  }
  if (name == "__man" && words_typed.size() == 1) {
    const Status write_status = WriteManPages(app, guide, ThisBuild().version, words_typed[0]);
    if (write_status.ok()) return 0;
    PrintError("{}: {}\n", guide.program, write_status.message());
    return 3;
  }
  if (name == "__examples") {
    nlohmann::json examples = nlohmann::json::array();
    for (const CommandPage& page : guide.pages) {
      for (const Example& example : page.examples) {
        examples.push_back({{"command", page.command}, {"line", example.line}, {"runs", example.runs}});
      }
    }
    Print("{}\n", DumpJson(examples, 1));
    return FlushOutput(guide.program.c_str(), 0);
  }
  if (name == "__parse") {
    // CLI11 calls this when everything is parsed and before it runs any command. (The commands' own callbacks cannot be
    // removed instead, because they own the variables that the options write to.)
    app.parse_complete_callback([] { throw CLI::Success(); });
    std::vector<std::string> reversed(words_typed.rbegin(), words_typed.rend());  // in the order that CLI11 expects
    try {
      app.parse(std::move(reversed));
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : 2;
    }
    return 0;
  }
  return std::nullopt;
}

}  // namespace hone
