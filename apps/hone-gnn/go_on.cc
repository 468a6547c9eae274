// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/go_on.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hone::gnn {
namespace {

// Quotes a word so that a shell reads it back.
std::string ShellQuoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Returns whether a shell reads the word as it is, without quotes.
bool IsPlain(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

}  // namespace

std::string GoOnCommand(const CLI::App& command, std::span<CLI::Option* const> kept, const std::string& graph,
                        const std::string& from, bool repeat_epochs, bool repeat_checkpoint) {
  constexpr std::array<std::string_view, 6> kNever = {"--resume", "--init",  "--overwrite",
                                                      "--json",   "--quiet", "--help"};
  std::string text = "hone-gnn train " + ShellQuoted(graph) + " --resume " + ShellQuoted(from);
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || option->get_positional() || !name.starts_with("--")) continue;
    if (std::find(kNever.begin(), kNever.end(), name) != kNever.end()) continue;
    if (std::find(kept.begin(), kept.end(), option) != kept.end()) continue;
    if ((name == "--epochs" && !repeat_epochs) || (name == "--checkpoint" && !repeat_checkpoint)) continue;
    text += " " + name;
    if (option->get_expected_max() == 0) continue;  // a flag
    for (const std::string& value : option->results()) text += " " + (IsPlain(value) ? value : ShellQuoted(value));
  }
  return text;
}

}  // namespace hone::gnn
