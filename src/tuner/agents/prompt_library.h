// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The prompts: Markdown templates, one for each role and step, embedded from src/tuner/prompts and replaced file by
// file by those of a user's folder. A run stores the texts it began with, and is continued with them.
//
// In a template, {{name}} stands for a value, {{> part}} for another template, and {{#name}} … {{/name}} for text that
// is left out when the value is empty. A name that does not exist is an error where the template is loaded.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/strategy.h"

namespace hone {

class PromptLibrary {
 public:
  // What the program carries.
  static const PromptLibrary& Embedded();
  // The same with every NAME.md of a folder in the place of its namesake. kInvalidArgument names file and fault: a
  // name that no template has, an unknown value, an unclosed bracket.
  static Result<PromptLibrary> WithFolder(const std::string& directory);
  // What a run was begun with.
  static Result<PromptLibrary> OfRun(RunStore& store, const RunView& view);

  // The template's text with its parts put in; kInvalidArgument lists the names.
  Result<std::string> Expanded(std::string_view name) const;
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::string> texts_;
};

// Names of the values a template may ask for.
const std::vector<std::string>& PromptValues();

// Fills values and sections of an expanded template; an unknown name is kInvalidArgument.
Result<std::string> FillTemplate(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace hone
