// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Manages the prompts: Markdown templates, one per role and step, embedded from src/tuner/prompts; files in a user's
// folder replace single ones. A run stores the texts with which it began, and continues with them.
//
// In a template, {{name}} is replaced by a value, {{> part}} by another template, and {{#name}} … {{/name}} is omitted
// when the value is empty. An unknown name is an error when the template is loaded.
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
  // Returns the templates compiled into the program.
  static const PromptLibrary& Embedded();
  // Returns the built-in templates, in which every NAME.md of the folder replaces the template of that name.
  // kInvalidArgument names file and fault: a name without a template, an unknown value, an unclosed bracket.
  static Result<PromptLibrary> WithFolder(const std::string& directory);
  // Returns the templates with which a run began.
  static Result<PromptLibrary> OfRun(RunStore& store, const RunView& view);

  // Returns the template's text with its parts inserted; kInvalidArgument lists the names.
  Result<std::string> Expanded(std::string_view name) const;
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::string> texts_;
};

// Returns the names of the values that a template may use.
const std::vector<std::string>& PromptValues();

// Fills values and sections of an expanded template; an unknown name is kInvalidArgument.
Result<std::string> FillTemplate(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace hone
