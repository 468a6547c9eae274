// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the values of options more strictly than CLI11 does, for both programs, and writes the error messages.
//
// CLI11 accepts values that it should refuse. It wraps a negative number into a huge unsigned one, reduces a number
// that does not fit to the largest that does, and takes "nan" for a number inside any range. It describes a range by
// printing the largest double with its 309 digits. An error message is better than a run with another seed than the one
// that was typed, or with a limit that no comparison ever reaches.
#pragma once

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text/nearest_word.h"

namespace hone {

// Returns whether `text` begins with a number for which `is_wrong` holds.
template <typename Wrong>
bool IsNumberThat(const Wrong& is_wrong, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && is_wrong(value);
}

// These validators check an option's value. Text that is no number at all is left to RefuseWrongValues.
inline const CLI::Validator kAboveZero(
    [](std::string& text) {
      const bool wrong = IsNumberThat([](double value) { return !(value > 0); }, text);
      return wrong ? "'" + text + "' is too small; write more than 0" : std::string();
    },
    "POSITIVE");
inline const CLI::Validator kZeroOrMore(
    [](std::string& text) {
      const bool wrong = IsNumberThat([](double value) { return !(value >= 0); }, text);
      return wrong ? "'" + text + "' is too small; write 0 or more" : std::string();
    },
    "NONNEGATIVE");

// Returns what is wrong with `text` as the value of an option of CLI11's type `type` ("INT", "UINT", "FLOAT" or
// another, followed by the descriptions of its checks); empty: nothing.
inline std::string WrongValue(const std::string& type, const std::string& text) {
  // An empty value is mostly a shell variable that is not set: "--resume $RUN" must not quietly begin a new run.
  if (text.empty()) return "is empty; give a value, or leave it out";
  const bool is_unsigned = type.starts_with("UINT"), is_signed = type.starts_with("INT");
  char* end = nullptr;
  errno = 0;
  if (is_signed || is_unsigned) {
    if (is_unsigned && text[0] == '-') return "'" + text + "' is negative; write 0 or more";
    if (is_unsigned) (void)std::strtoull(text.c_str(), &end, 0);
    if (is_signed) (void)std::strtoll(text.c_str(), &end, 0);
    if (*end != '\0') return "'" + text + "' is no whole number";
    return errno == ERANGE ? "'" + text + "' is more than 64 bits hold" : "";
  }
  if (type.starts_with("FLOAT")) {
    const double value = std::strtod(text.c_str(), &end);
    if (*end != '\0') return "'" + text + "' is no number";
    return std::isfinite(value) ? "" : "'" + text + "' is no finite number";
  }
  return "";
}

// Makes every option of `app` and of its subcommands refuse wrong values. Call this after the last option was added.
inline void RefuseWrongValues(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    option->check(CLI::Validator([type](std::string& text) { return WrongValue(type, text); }, ""));
  }
  for (CLI::App* command : app.get_subcommands({})) RefuseWrongValues(*command);
}

// Describes arguments that no option took: the first that looks like an option, or else the first.
inline std::string UnknownArgument(const CLI::App& command, const std::vector<std::string>& left_over) {
  for (const std::string& word : left_over) {
    if (word.size() < 2 || word[0] != '-' || std::isdigit(static_cast<unsigned char>(word[1])) != 0) continue;
    std::vector<std::string> option_names;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) option_names.push_back("--" + name);
    }
    const std::string name = word.substr(0, word.find('='));
    return "there is no option " + name + DidYouMean(name, option_names);
  }
  return "'" + left_over.front() + "' is one argument too many";
}

// Describes the first required argument or option of `command` that was not given.
inline std::string MissingArgument(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const bool positional = option->get_positional();
    return (positional ? "the argument '" + option->get_name(true, false) + "'" : option->get_name()) + " is missing: " + option->get_description();
  }
  return "";
}

// Returns "known: a, b", the commands below `command`.
inline std::string KnownCommands(const CLI::App& command) {
  std::string text = "known:";
  for (const CLI::App* subcommand : command.get_subcommands({}))
    text += (text.ends_with(":") ? " " : ", ") + subcommand->get_name();
  return text;
}

// Returns the line on standard error for arguments that cannot be parsed: the program, the fault, and where help is.
inline std::string UsageMessage(const CLI::App* app, const CLI::Error& error) {
  const std::string program = app->get_name();
  std::string help = program, what = error.what();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    help += " " + app->get_name();
  }
  if (const size_t at = what.find(": At Most 1 required but received"); at != std::string::npos) {
    what = what.substr(0, at) + " is given more than once";
  }
  if (const size_t at = what.find(": 1 required "); at != std::string::npos && what.ends_with(" missing")) {
    what = what.substr(0, at) + " needs a value";
  }
  // CLI11 writes "--profiles: some not in {all,gains,none}".
  if (const size_t at = what.find(" not in {"); at != std::string::npos && what.ends_with("}")) {
    const size_t colon = what.find(": ");
    const std::string value = what.substr(colon + 2, at - colon - 2), set = what.substr(at + 9, what.size() - at - 10);
    std::vector<std::string> choices(1);
    for (const char c : set) {
      if (c == ',') choices.emplace_back();
      else choices.back() += c;
    }
    what = what.substr(0, colon) + ": there is no '" + value + "'" + DidYouMean(value, choices) + "; use";
    for (size_t i = 0; i < choices.size(); ++i) what += (i == 0 ? " " : i + 1 < choices.size() ? ", " : " or ") + choices[i];
  }
  const std::vector<std::string> unparsed_arguments = app->remaining();
  // The code identifies the error, because the name of an ExtrasError is the command's.
  const bool extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  const bool required = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (required) {
    if (const std::string missing = MissingArgument(*app); !missing.empty()) what = missing;
    else if (unparsed_arguments.empty() && !app->get_subcommands({}).empty())
      what = "name a command; " + KnownCommands(*app);
  }
  if (!unparsed_arguments.empty() && !unparsed_arguments.front().starts_with("-") && (extra || required) &&
      !app->get_subcommands({}).empty()) {
    std::vector<std::string> names;
    for (const CLI::App* subcommand : app->get_subcommands({})) names.push_back(subcommand->get_name());
    what = "there is no subcommand '" + unparsed_arguments.front() + "'" +
           DidYouMean(unparsed_arguments.front(), names) + "; " + KnownCommands(*app);
  } else if (!unparsed_arguments.empty() && (extra || required)) {
    // A misspelt option is reported even where something is missing: its value may have taken that place.
    if (const std::string unknown = UnknownArgument(*app, unparsed_arguments);
        extra || unknown.starts_with("there is no option"))
      what = unknown;
  }
  return program + ": " + what + "; `" + help + " --help` tells more\n";
}

}  // namespace hone
