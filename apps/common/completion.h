// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Completion of a command line in bash, zsh and fish. The shells' scripts are short and the same for every version: they
// ask the program itself, by `PROGRAM __complete WORDS…`, what may stand where the cursor is, so that what is offered is
// always what the installed program takes.
#pragma once

#include <string>
#include <vector>

#include "common/guide.h"

namespace hone {

struct Completions {
  std::vector<std::pair<std::string, std::string>> words;  // with what each means, which may be empty
  std::vector<std::string> suffixes;  // files with these endings too; "" any
  bool folders = false;               // and folders
};

// What may stand for the last of `words`, which may be empty and is what was typed of it so far; before it the words behind
// the program's name. Words that do not begin so are left out. Within "--option=value" the words are whole.
Completions Complete(const CLI::App& app, const Guide& guide, const std::vector<std::string>& words);

// One line each: a word, a tab and its meaning; then ":files" with the suffixes ("*": any) and ":folders" where they are.
std::string CompletionLines(const Completions& completions);

// The script for "bash", "zsh" or "fish"; empty for another shell.
std::string CompletionScript(const std::string& program, const std::string& shell);

}  // namespace hone
