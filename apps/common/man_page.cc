// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "common/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/files/file.h"

namespace hone {
namespace {

// Writes text for roff, where a backslash, a hyphen that may be copied, and a dot or quote at the start of a line are
// special.
std::string EscapeRoff(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = i == 0 || text[i - 1] == '\n';
    if (starts && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Returns "hone-tasks-check".
std::string PageName(const CLI::App& command, const Guide& guide) {
  std::string name = guide.program, path = CommandPath(command);
  std::replace(path.begin(), path.end(), ' ', '-');
  return path.empty() ? name : name + "-" + path;
}

// Returns the command's synopsis for roff: its name, its arguments, and whether it has subcommands.
std::string Synopsis(const CLI::App& command, const Guide& guide) {
  const std::string path = CommandPath(command);
  std::string text =
      fmt::format("\\fB{}\\fR [\\fIOPTIONS\\fR]", EscapeRoff(guide.program + (path.empty() ? "" : " " + path)));
  for (const CLI::Option* option : command.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    std::string name = "\\fI" + EscapeRoff(option->get_name(/*positional=*/true, /*all_options=*/false)) + "\\fR";
    if (option->get_expected_max() > 1) name += "...";
    text += " " + (option->get_required() ? name : "[" + name + "]");
  }
  if (!command.get_subcommands({}).empty()) {
    text += command.get_require_subcommand_min() == 0 ? " [\\fICOMMAND\\fR ...]" : " \\fICOMMAND\\fR ...";
  }
  return text;
}

// Appends the page of a command, then the pages of the commands below it.
void AppendPage(const CLI::App& command, const Guide& guide, const std::string& version, std::vector<ManPage>& pages) {
  const std::string name = PageName(command, guide);
  std::string text = fmt::format(".TH {} 1 \"\" \"{} {}\" \"Hone\"\n", Upper(EscapeRoff(name)), guide.program, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", EscapeRoff(name), EscapeRoff(command.get_description()));
  text += ".SH SYNOPSIS\n" + Synopsis(command, guide) + "\n";
  const auto entries = [&](const std::vector<const CLI::Option*>& options, bool positional) {
    for (const CLI::Option* option : options) {
      text += fmt::format(
          ".TP\n\\fB{}\\fR\n{}\n",
          EscapeRoff(positional ? option->get_name(/*positional=*/true, /*all_options=*/false) : OptionTitle(*option)),
          EscapeRoff(OptionText(*option)));
    }
  };
  const std::vector<const CLI::Option*> arguments = command.get_options([](const CLI::Option* o) { return o->get_positional(); });
  if (!arguments.empty()) text += ".SH ARGUMENTS\n";
  entries(arguments, /*positional=*/true);
  text += ".SH OPTIONS\n";
  for (const auto& [title, options] : GroupedOptions(command, guide)) {
    if (title != "Options") text += fmt::format(".SS \"{}\"\n", EscapeRoff(title));
    entries(options, /*positional=*/false);
  }
  if (!command.get_subcommands({}).empty()) text += ".SH COMMANDS\n";
  for (const CLI::App* sub : command.get_subcommands({})) {
    text +=
        fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", EscapeRoff(PageName(*sub, guide)), EscapeRoff(sub->get_description()));
  }
  const CommandPage* page = guide.PageOf(command);
  if (page != nullptr && !page->examples.empty()) {
    text += ".SH EXAMPLES\n";
    for (const Example& example : page->examples) {
      text +=
          fmt::format(".PP\n{}\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", EscapeRoff(example.meaning), EscapeRoff(example.line));
    }
  }
  if (page != nullptr && !page->exit_statuses.empty()) {
    text += ".SH EXIT STATUS\n";
    for (const auto& [status, meaning] : page->exit_statuses)
      text += fmt::format(".TP\n{}\n{}\n", status, EscapeRoff(meaning));
  }
  if (command.get_parent() == nullptr && !guide.environment.empty()) {
    text += ".SH ENVIRONMENT\n";
    std::istringstream lines(guide.environment);
    for (std::string line; std::getline(lines, line);) {
      const size_t tab = line.find('\t');
      text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", EscapeRoff(line.substr(0, tab)), EscapeRoff(line.substr(tab + 1)));
    }
  }
  std::vector<std::string> others;
  if (command.get_parent() != nullptr) others.push_back(PageName(*command.get_parent(), guide));
  others.push_back(guide.program == "hone" ? "hone-gnn" : "hone");
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  text += ".SH SEE ALSO\n";
  for (size_t i = 0; i < others.size(); ++i)
    text += fmt::format(".BR {} (1){}\n", EscapeRoff(others[i]), i + 1 < others.size() ? "," : "");
  if (page != nullptr && !page->document.empty()) {
    text += fmt::format(".PP\nThe file {} among the documents of Hone, which a package keeps in /usr/share/doc/hone.\n",
                        EscapeRoff(page->document));
  }
  pages.push_back({name + ".1", std::move(text)});
  for (const CLI::App* sub : command.get_subcommands({})) AppendPage(*sub, guide, version, pages);
}

}  // namespace

std::vector<ManPage> ManPages(const CLI::App& app, const Guide& guide, const std::string& version) {
  std::vector<ManPage> pages;
  AppendPage(app, guide, version, pages);
  return pages;
}

Status WriteManPages(const CLI::App& app, const Guide& guide, const std::string& version, const std::string& folder) {
  for (const ManPage& page : ManPages(app, guide, version)) HONE_RETURN_IF_ERROR(WriteFileAtomically(folder + "/" + page.name, page.text));
  return Status::Ok();
}

}  // namespace hone
