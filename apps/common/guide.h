// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Guide is what a program says about its commands beyond their declarations: examples, exit statuses, which options
// belong together, and what the values of options are. Help, man pages and completions of a program are all made of its
// declarations and its guide, so that they agree; each program has one, in guide.cc.
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
  // Tests run the example in the source tree without a GPU, and it ends with status 0. Tests only parse other examples.
  bool runs = false;
};

struct OptionGroup {
  std::string title;                 // "When it ends"
  std::vector<std::string> options;  // "--attempts"; an option that the command does not have is ignored
};

struct CommandPage {
  std::string command;  // "eval", "tasks check"; empty: the program itself
  std::vector<OptionGroup> groups;
  std::vector<Example> examples;
  std::vector<std::pair<int, std::string>> exit_statuses;
  std::string document;  // "docs/optimizing.md"; empty: none
};

// Describes what the value of an option or argument may be.
struct ValueKind {
  std::string name;                   // what help calls it: "DEVICE"
  std::vector<std::string> words;     // possible values; one that ends with ':' or '=' is followed by more text
  std::vector<std::string> suffixes;  // endings of the files that are possible values: ".cu"; "": any file
  bool folders = false;
  // Returns values that are only known at run time, such as names of tasks.
  std::function<std::vector<std::string>()> ask;
};

struct Guide {
  std::string program;  // "hone"
  std::vector<CommandPage> pages;
  // The key is an option's or argument's name ("--device", "task"), or that name behind its command ("report --out").
  std::map<std::string, ValueKind> values;
  std::string environment;  // text of the man page about environment variables: a line "NAME\tmeaning" for each

  // Return the page of a command, and what an option's value may be; null: the guide has none.
  const CommandPage* PageOf(const CLI::App& command) const;
  const ValueKind* ValueKindOf(const CLI::App& command, const CLI::Option& option) const;
};

// Returns "tasks check"; empty for the program itself.
std::string CommandPath(const CLI::App& command);

// Returns the options that the command's help shows, in that order: the groups of its page, then the others; each group
// with its title.
std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> GroupedOptions(const CLI::App& command, const Guide& guide);

// Sets groups, names of values and the layout of help for `app` and its subcommands. Call this after the last option
// and subcommand was added. `guide` must outlive `app`.
void ApplyGuide(CLI::App& app, const Guide& guide);

// Returns the option's names with the name of its value: "--device DEVICE", "-h,--help".
std::string OptionTitle(const CLI::Option& option);
// Returns the description, then the possible values, the default and the option's other properties, one sentence each.
std::string OptionText(const CLI::Option& option);

}  // namespace hone
