// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file completes command lines in bash, zsh and fish. The shells' scripts are short and the same for every
// version: they ask the program itself, by `PROGRAM __complete WORDS…`, for the words that fit at the cursor, so that
// they always offer what the installed program accepts.
#pragma once

#include <string>
#include <vector>

#include "common/guide.h"

namespace hone {

struct Completions {
  std::vector<std::pair<std::string, std::string>> words;  // words, each with its meaning, which may be empty
  std::vector<std::string> suffixes;                       // also offers files with these endings; "": all files
  bool folders = false;               // also offers folders
};

// Returns the completions of the last of `words_typed`, which is the part typed so far and may be empty. The words
// before it are those after the program's name. Completions that do not begin with the typed part are left out. Within
// "--option=value", a completion is the whole word.
Completions Complete(const CLI::App& app, const Guide& guide, const std::vector<std::string>& words_typed);

// Returns the lines that the shells' scripts read: for each completion the word, a tab and its meaning; then, where
// they apply, ":files" with the suffixes ("*": any) and ":folders".
std::string CompletionLines(const Completions& completions);

// Returns the script for "bash", "zsh" or "fish"; empty for another shell.
std::string CompletionScript(const std::string& program, const std::string& shell);

}  // namespace hone
