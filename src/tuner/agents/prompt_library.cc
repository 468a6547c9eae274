// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/prompt_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "base/text/toml_document.h"
#include "tuner/agents/prompt_table.h"

namespace hone {
namespace {

constexpr int kMaxDepth = 8;  // of nested parts: beyond it, a part contains itself

// Replaces each {{>NAME}} in `text` by the text NAME, with its own parts replaced. `depth`: how many texts this one is
// nested in.
Result<std::string> Expand(const std::map<std::string, std::string>& texts, std::string_view text, int depth) {
  if (depth > kMaxDepth) return Status::InvalidArgument("a template contains itself");
  std::string out;
  while (true) {
    const size_t open = text.find("{{>");
    if (open == std::string_view::npos) return out + std::string(text);
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return Status::InvalidArgument("'{{>' without '}}'");
    std::string name(text.substr(open + 3, close - open - 3));
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    const auto part = texts.find(name);
    if (part == texts.end()) return Status::InvalidArgument(fmt::format("there is no part '{}'", name));
    HONE_ASSIGN_OR_RETURN(std::string inner, Expand(texts, part->second, depth + 1));
    out += text.substr(0, open);
    out += inner;
    text.remove_prefix(close + 2);
  }
}

// Checks that every template can be filled, by filling it.
Status CheckTemplates(const std::map<std::string, std::string>& texts) {
  std::map<std::string, std::string> values;
  for (const std::string& name : PromptValues()) values[name] = "x";
  for (const auto& [name, text] : texts) {
    Result<std::string> expanded = Expand(texts, text, 0);
    if (!expanded.ok()) return expanded.status().WithContext(name + ".md");
    if (Status status = FillTemplate(*expanded, values).status(); !status.ok()) {
      return status.WithContext(name + ".md");
    }
  }
  return Status::Ok();
}

}  // namespace

const std::vector<std::string>& PromptValues() {
  static const std::vector<std::string> names{
      "task_name",    "task_summary", "task_class",     "task_toml",   "reference",   "device",     "device_facts",
      "hardware",     "parent",       "parent_node",    "parent_idea", "times",       "profile",    "failure",
      "ledger",       "shown",        "regions",        "plan",        "diagnosis",   "findings",   "menu",
      "cute",         "share",        "share_why",      "standing",    "check_cases", "dimensions", "problem",
      "detail",       "real_device",  "unknown_device", "spans",       "bound",       "want_cute",  "want_cuda",
      "cute_example", "calls",        "no_calls",       "simulated",   "outcome",     "direction",  "memory",
      "cute_product", "cute_rows",    "module",         "oracle_code", "choice",    "reckoning"};
  return names;
}

const PromptLibrary& PromptLibrary::Embedded() {
  static const PromptLibrary library = [] {
    PromptLibrary embedded;
    for (const EmbeddedPrompt& prompt : EmbeddedPrompts()) embedded.texts_[std::string(prompt.name)] = prompt.text;
    const Status status = CheckTemplates(embedded.texts_);
    HONE_CHECK(status.ok(), status.message());
    return embedded;
  }();
  return library;
}

Result<PromptLibrary> PromptLibrary::WithFolder(const std::string& directory) {
  PromptLibrary library = Embedded();
  std::vector<std::string> prompt_names;
  for (const auto& [name, text] : library.texts_) prompt_names.push_back(name);
  std::error_code error;
  int replaced = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".md") continue;
    const std::string name = entry.path().stem().string();
    if (!library.texts_.contains(name)) {
      return Status::InvalidArgument(
          fmt::format("{}: there is no prompt '{}'{}", entry.path().string(), name, Suggestion(name, prompt_names)));
    }
    HONE_ASSIGN_OR_RETURN(library.texts_[name], ReadFile(entry.path().string(), 1 << 20));
    ++replaced;
  }
  if (error) return Status::NotFound(fmt::format("--prompts {}: {}", directory, error.message()));
  if (replaced == 0) {
    return Status::InvalidArgument(
        fmt::format("--prompts {}: no NAME.md in it; there are {}", directory, fmt::join(prompt_names, ", ")));
  }
  HONE_RETURN_IF_ERROR(CheckTemplates(library.texts_).WithContext("--prompts " + directory));
  return library;
}

Result<PromptLibrary> PromptLibrary::OfRun(RunStore& store, const RunView& view) {
  if (view.prompts.empty()) return Embedded();
  PromptLibrary library;
  for (const auto& [name, hash] : view.prompts) {
    HONE_ASSIGN_OR_RETURN(library.texts_[name], store.Source(hash));
  }
  return library;
}

Result<std::string> PromptLibrary::Expanded(std::string_view name) const {
  const auto found = texts_.find(std::string(name));
  if (found == texts_.end()) return Status::InvalidArgument(fmt::format("there is no prompt '{}'", name));
  return Expand(texts_, found->second, 0);
}

Result<std::string> FillTemplate(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  // Returns a value of the template; an error if templates have no such value.
  const auto value_of = [&](const std::string& name) -> Result<std::string_view> {
    const auto value = values.find(name);
    if (value == values.end()) {
      return Status::InvalidArgument(fmt::format("a prompt template asks for '{}', which does not exist", name));
    }
    return std::string_view(value->second);
  };
  while (true) {
    const size_t open = text.find("{{");
    if (open == std::string_view::npos) return out + std::string(text);
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return Status::InvalidArgument("a prompt template has '{{' without '}}'");
    std::string name(text.substr(open + 2, close - open - 2));
    out += text.substr(0, open);
    text.remove_prefix(close + 2);
    if (name.starts_with('/')) {
      return Status::InvalidArgument(fmt::format("a prompt template closes '{}', which is not open", name.substr(1)));
    }
    // {{NAME}} stands for the value. {{#NAME}}…{{/NAME}} is a section, kept only where the value is not empty.
    if (!name.starts_with('#')) {
      HONE_ASSIGN_OR_RETURN(std::string_view value, value_of(name));
      out += value;
      continue;
    }
    name.erase(0, 1);
    const std::string end = "{{/" + name + "}}";
    const size_t at = text.find(end);
    if (at == std::string_view::npos) {
      return Status::InvalidArgument(fmt::format("a prompt template opens '{}' and does not close it", name));
    }
    HONE_ASSIGN_OR_RETURN(std::string_view value, value_of(name));
    // If a section's two marks stand on lines of their own, the line ends after the marks are removed as well.
    std::string_view section = text.substr(0, at);
    text.remove_prefix(at + end.size());
    if (section.starts_with('\n')) section.remove_prefix(1);
    HONE_ASSIGN_OR_RETURN(std::string filled, FillTemplate(section, values));
    if (!value.empty()) {
      out += filled;
      if (filled.ends_with('\n') && text.starts_with('\n')) text.remove_prefix(1);
    } else if (text.starts_with('\n')) {
      text.remove_prefix(1);
    }
  }
}

}  // namespace hone
