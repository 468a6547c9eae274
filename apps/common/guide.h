// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program says about its commands beyond their declarations: examples, exit statuses, which options belong together,
// and what the values of options are. Help, man pages and completions of a program are all made of its declarations and
// its guide, so that they agree; each program has one, in guide.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hone {

struct Example {
  std::string line;     // as it is typed: "hone devices --json"
  std::string meaning;  // a sentence
  // Tests run it, in the source tree and without a GPU, and it ends with status 0; others they only parse.
  bool runs = false;
};

struct OptionGroup {
  std::string title;                 // "When it ends"
  std::vector<std::string> options;  // "--attempts"; one that the command does not have is passed over
};

struct CommandPage {
  std::string command;  // "eval", "tasks check"; empty: the program itself
  std::vector<OptionGroup> groups;
  std::vector<Example> examples;
  std::vector<std::pair<int, std::string>> exit_statuses;
  std::string document;  // "docs/optimizing.md"; empty: none
};

// Says what the value of an option or argument is.
struct ValueKind {
  std::string name;                   // what help calls it: "DEVICE"
  std::vector<std::string> words;     // values; one that ends with ':' or '=' goes on
  std::vector<std::string> suffixes;  // of files: ".cu"; "" any file
  bool folders = false;
  // Values that are only known when somebody asks: names of tasks.
  std::function<std::vector<std::string>()> ask;
};

struct Guide {
  std::string program;  // "hone"
  std::vector<CommandPage> pages;
  // By an option's or argument's name ("--device", "task"), or by that behind its command ("report --out").
  std::map<std::string, ValueKind> values;
  std::string environment;  // of the program's man page: paragraphs "NAME\tmeaning", a line each

  const CommandPage* Page(const CLI::App& command) const;
  const ValueKind* Value(const CLI::App& command, const CLI::Option& option) const;
};

// "tasks check"; empty for the program itself.
std::string CommandPath(const CLI::App& command);

// The command's options that help shows, in the order of help: the page's groups, then others, each with its title.
std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> GroupedOptions(const CLI::App& command, const Guide& guide);

// Sets groups, names of values and the layout of help for `app` and its subcommands. After the last of them was added.
// `guide` must live as long as `app`.
void ApplyGuide(CLI::App& app, const Guide& guide);

// The names under which a value is given: "--device DEVICE", "-h,--help".
std::string OptionTitle(const CLI::Option& option);
// The description, with the values there are to choose from, the default and what else belongs to it, one sentence each.
std::string OptionText(const CLI::Option& option);

}  // namespace hone
