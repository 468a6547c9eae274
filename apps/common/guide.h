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
  std::vector<std::string> options;  // "--attempts"; one that the command does not have is ignored
};

struct CommandPage {
  std::string command;  // "eval", "tasks check"; empty: the program itself
  std::vector<OptionGroup> groups;
  std::vector<Example> examples;
  std::vector<std::pair<int, std::string>> exit_statuses;
  std::string document;  // "docs/optimizing.md"; empty: none
};

// A ValueKind says what the value of an option or argument is.
struct ValueKind {
  std::string name;                   // what help calls it: "DEVICE"
  std::vector<std::string> words;     // values; after one that ends with ':' or '=' more text follows
  std::vector<std::string> suffixes;  // suffixes of files: ".cu"; "" any file
  bool folders = false;
  // Returns values that are only known at run time, such as names of tasks.
  std::function<std::vector<std::string>()> ask;
};

struct Guide {
  std::string program;  // "hone"
  std::vector<CommandPage> pages;
  // The key is an option's or argument's name ("--device", "task"), or that name behind its command ("report --out").
  std::map<std::string, ValueKind> values;
  std::string environment;  // of the program's man page: paragraphs "NAME\tmeaning", a line each

  const CommandPage* Page(const CLI::App& command) const;
  const ValueKind* Value(const CLI::App& command, const CLI::Option& option) const;
};

// Returns "tasks check"; empty for the program itself.
std::string CommandPath(const CLI::App& command);

// Returns the command's options that help shows, in the order of help: the page's groups, then others, each with its
// title.
std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> GroupedOptions(const CLI::App& command, const Guide& guide);

// Sets groups, names of values and the layout of help for `app` and its subcommands. Call this after the last of them
// was added. `guide` must live as long as `app`.
void ApplyGuide(CLI::App& app, const Guide& guide);

// Returns the names under which a value is given: "--device DEVICE", "-h,--help".
std::string OptionTitle(const CLI::Option& option);
// Returns the description, then the possible values, the default and the option's other properties, one sentence each.
std::string OptionText(const CLI::Option& option);

}  // namespace hone
