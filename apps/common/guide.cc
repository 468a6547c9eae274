// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "common/guide.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

namespace hone {
namespace {

// Returns the path under which the reader finds a document: the whole path in an installation that has documents beside
// the program (cmake/Install.cmake), elsewhere the path within the source tree.
std::string PlaceOfDocument(const std::string& document) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed = program.parent_path().parent_path() / "share/doc/hone" / document;
  return !error && std::filesystem::exists(installed, error) ? installed.string() : document;
}

constexpr size_t kWidth = 100;  // columns of help
constexpr size_t kColumn = 26;  // column where descriptions begin

// Returns `text` in lines of at most `width` columns, all but the first behind `indent` spaces.
std::string WrapText(const std::string& text, size_t indent, size_t width) {
  std::istringstream word_stream(text);
  std::string out, line;
  for (std::string word; word_stream >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) {
      out += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

// Returns a line of help: a title, and from column kColumn on its text, wrapped.
std::string HelpRow(const std::string& title, const std::string& text) {
  const std::string left_column = "  " + title;
  const std::string gap = left_column.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ')
                                                           : std::string(kColumn - left_column.size(), ' ');
  return left_column + (text.empty() ? "" : gap + WrapText(text, kColumn, kWidth)) + "\n";
}

class HelpLayout : public CLI::Formatter {
 public:
  explicit HelpLayout(const Guide& guide) : guide_(guide) { label("Positionals", "Arguments"); }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return HelpRow(is_positional ? option->get_name(/*positional=*/true, /*all_options=*/false) : OptionTitle(*option),
               OptionText(*option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return HelpRow(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* command) const override {
    const std::string path = CommandPath(*command);
    return (path.empty() ? "" : guide_.program + " " + path + ": ") + command->get_description() + "\n\n";
  }
  std::string make_usage(const CLI::App* command, std::string name) const override {
    std::string text = CLI::Formatter::make_usage(command, "");
    const std::string path = CommandPath(*command);
    (void)name;
    return text.insert(text.find(':') + 1, " " + guide_.program + (path.empty() ? "" : " " + path));
  }
  std::string make_help(const CLI::App* command, std::string name, CLI::AppFormatMode) const override {
    std::string out = make_description(command) + make_usage(command, std::move(name)) + make_positionals(command);
    for (const auto& [title, options] : GroupedOptions(*command, guide_))
      out += make_group(title, /*is_positional=*/false, options);
    return out + make_subcommands(command, CLI::AppFormatMode::Normal) + "\n" + make_footer(command);
  }
  std::string make_footer(const CLI::App* command) const override {
    const CommandPage* page = guide_.PageOf(*command);
    if (page == nullptr) return "";
    std::string out;
    if (!page->examples.empty()) out += "Examples:\n";
    for (const Example& example : page->examples) {
      out += "  " + example.line + "\n      " + WrapText(example.meaning, 6, kWidth) + "\n";
    }
    if (!page->exit_statuses.empty()) out += "\nExit status:\n";
    for (const auto& [status, meaning] : page->exit_statuses)
      out += fmt::format("  {}  {}\n", status, WrapText(meaning, 5, kWidth));
    if (!page->document.empty()) out += fmt::format("\nMore: {}\n", PlaceOfDocument(page->document));
    return out;
  }

 private:
  const Guide& guide_;
};

// Returns what help calls the value of an option to which the guide gives no name.
std::string ValueName(const CLI::Option& option) {
  std::string type = option.get_type_name();
  type = type.substr(0, type.find_first_of(":{ "));
  if (option.get_type_name().starts_with("TEXT:{")) return "WORD";
  if (type == "INT" || type == "UINT" || type == "FLOAT") return "NUMBER";
  return type;
}

// Applies the guide to a command and to all commands below it.
void Apply(CLI::App& command, const Guide& guide, const std::shared_ptr<HelpLayout>& layout) {
  command.formatter(layout);
  const CommandPage* page = guide.PageOf(command);
  for (CLI::Option* option : command.get_options()) {
    if (const ValueKind* kind = guide.ValueKindOf(command, *option);
        kind != nullptr && (option->get_type_name().starts_with("TEXT") || option->get_items_expected_max() > 1)) {
      option->type_name(kind->name);
    }
    if (page == nullptr) continue;
    for (const OptionGroup& group : page->groups) {
      if (std::find(group.options.begin(), group.options.end(), option->get_name()) != group.options.end())
        option->group(group.title);
    }
  }
  for (CLI::App* sub : command.get_subcommands({})) Apply(*sub, guide, layout);
}

}  // namespace

std::string CommandPath(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "";
  const std::string above = CommandPath(*command.get_parent());
  return above.empty() ? command.get_name() : above + " " + command.get_name();
}

const CommandPage* Guide::PageOf(const CLI::App& command) const {
  const std::string path = CommandPath(command);
  for (const CommandPage& page : pages) {
    if (page.command == path) return &page;
  }
  return nullptr;
}

const ValueKind* Guide::ValueKindOf(const CLI::App& command, const CLI::Option& option) const {
  for (const std::string& name : {CommandPath(command) + " " + option.get_name(), option.get_name()}) {
    if (const auto found = values.find(name); found != values.end()) return &found->second;
  }
  return nullptr;
}

std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> GroupedOptions(const CLI::App& command,
                                                                                    const Guide& guide) {
  std::vector<std::string> titles;
  const CommandPage* page = guide.PageOf(command);
  if (page != nullptr) {
    for (const OptionGroup& group : page->groups) titles.push_back(group.title);
  }
  const size_t named = titles.size();
  for (const std::string& title : command.get_groups()) {
    if (std::find(titles.begin(), titles.end(), title) == titles.end()) titles.push_back(title);
  }
  // If options have groups, one without a group comes last: --help.
  if (const auto rest = std::find(titles.begin(), titles.end(), "Options"); named > 0 && rest != titles.end()) {
    std::rotate(rest, rest + 1, titles.end());
  }
  std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> groups;
  for (const std::string& title : titles) {
    std::vector<const CLI::Option*> options = command.get_options([&](const CLI::Option* option) {
      return option->get_group() == title && option->nonpositional() && !option->get_group().empty();
    });
    // A group of the page keeps the page's order.
    const std::vector<OptionGroup> none;
    const std::vector<OptionGroup>& of_page = page != nullptr ? page->groups : none;
    const auto group =
        std::find_if(of_page.begin(), of_page.end(), [&](const OptionGroup& g) { return g.title == title; });
    if (group != of_page.end()) {
      const auto place = [&](const CLI::Option* o) {
        return std::find(group->options.begin(), group->options.end(), o->get_name());
      };
      std::stable_sort(options.begin(), options.end(),
                       [&](const CLI::Option* a, const CLI::Option* b) { return place(a) < place(b); });
    }
    if (!options.empty()) groups.emplace_back(title, std::move(options));
  }
  return groups;
}

void ApplyGuide(CLI::App& app, const Guide& guide) { Apply(app, guide, std::make_shared<HelpLayout>(guide)); }

std::string OptionTitle(const CLI::Option& option) {
  std::string title = option.get_name(/*positional=*/false, /*all_options=*/true);
  if (option.get_type_size() != 0) title += " " + ValueName(option);
  return title;
}

std::string OptionText(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string type = option.get_type_name();
  // CLI11 describes its checks as "TEXT:{bf16,fp32}" and "INT in [0 - 100]".
  if (const size_t at = type.find('{'); at != std::string::npos && type.find('}', at) != std::string::npos) {
    std::string choices = type.substr(at + 1, type.find('}', at) - at - 1);
    for (size_t comma = 0; (comma = choices.find(',', comma)) != std::string::npos; comma += 2)
      choices.replace(comma, 1, ", ");
    text += fmt::format(" [one of {}]", choices);
  } else if (const size_t in = type.find("in ["); in != std::string::npos) {
    text += fmt::format(" [{}", type.substr(in + 4));
  }
  if (option.get_type_size() != 0 && !option.get_default_str().empty() && option.get_default_str() != "\"\"") {
    text += fmt::format(" [default: {}]", option.get_default_str());
  }
  const auto names = [](const std::set<CLI::Option*>& options) {
    std::string list;
    for (const CLI::Option* other : options) list += (list.empty() ? "" : ", ") + other->get_name();
    return list;
  };
  if (!option.get_needs().empty()) text += fmt::format(" [with {}]", names(option.get_needs()));
  if (!option.get_excludes().empty()) text += fmt::format(" [not with {}]", names(option.get_excludes()));
  if (option.get_required() && option.nonpositional()) text += " [required]";
  return text;
}

}  // namespace hone
